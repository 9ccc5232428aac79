{{- /* The alerts that are not left out, with the labels and the runbook's address that the values ask for. */ -}}
{{- define "static-export-operator.rulesOfAlerts" -}}
{{- $options := .Values.monitoring.prometheusRule -}}
{{- $rules := list -}}
{{- range (include "static-export-operator.alerts" . | fromYamlArray) -}}
{{- if kindIs "string" . }}{{ fail . }}{{ end -}}
{{- if not (has .alert $options.disabledAlerts) -}}
{{- $rule := deepCopy . -}}
{{- $_ := set $rule "labels" (merge (dict) $options.alertLabels $rule.labels) -}}
{{- if $options.runbookBaseUrl -}}
{{- $_ := set $rule.annotations "runbook_url" (printf "%s#%s" $options.runbookBaseUrl (lower .alert)) -}}
{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}

{{- /* Each with its meaning and remedy, for the engineer on call; docs/runbooks.md has the long form. Only the
     leader has metrics of resources: `namespace` and `name` are the StaticExport's (honorLabels), and `pod` is another
     one after each failover, which would restart every `for`. So they are aggregated to the resource; and where a
     `for` is long, or a series comes and goes with a try, a window holds it over a restart.
     A Prometheus that honours no labels calls the resource's namespace `exported_namespace`, and StaticExports of one
     name in two namespaces would be one without it. Another release of this name in another namespace has the same job:
     the ServiceMonitor says in `operator_namespace` whose a line is; scraped in another way, a line may lack it. */ -}}
{{- define "static-export-operator.alerts" -}}
{{- $job := printf "job=%q,operator_namespace=~\"|%s\"" (include "static-export-operator.adminName" .) .Release.Namespace -}}
{{- $own := printf "namespace=%q,%s" .Release.Namespace $job -}}
{{- $options := .Values.monitoring.prometheusRule -}}
{{- $where := "{{ or $labels.exported_namespace $labels.namespace }}" -}}
{{- $which := printf "%s/{{ $labels.name }}" $where -}}
{{- $look := printf "kubectl --namespace %s describe staticexport {{ $labels.name }}" $where -}}
{{- /* Of every replica: by the Deployment's name kubectl would print one of them. */ -}}
{{- $pods := include "static-export-operator.selectorLabels" . | replace ": " "=" | replace "\n" "," -}}
{{- $logs := printf "kubectl --namespace %s logs --selector %s --prefix --tail=200" .Release.Namespace $pods -}}
{{- $of := "max by (namespace, exported_namespace, name, job)" -}}
{{- $on := "on (namespace, exported_namespace, name, job)" -}}
{{- $expiry := printf "%s (staticexport_link_expiry_timestamp_seconds{%s})" $of $job -}}
{{- $issued := printf "%s (staticexport_link_issued_timestamp_seconds{%s})" $of $job -}}
{{- $again := printf "kubectl --namespace %s annotate staticexport {{ $labels.name }} --overwrite staticexport.dev/requestedAt=now-$RANDOM" $where -}}
- alert: StaticExportOperatorAbsent
  expr: absent(up{ {{- $own -}} } == 1)
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: No operator of {{ .Release.Namespace }}/{{ include "static-export-operator.fullname" . }} responds.
    description: Links are not refreshed and expire one after another. Running sites keep serving.
    runbook: {{ printf "kubectl --namespace %s get pods, and their events: image, node, quota, or a crash (%s --previous --ignore-errors). Pods that run and are ready: Prometheus does not find the ServiceMonitor (monitoring.serviceMonitor.labels), or a NetworkPolicy keeps it out (networkPolicy.adminFrom)." .Release.Namespace $logs | quote }}
- alert: StaticExportOperatorWithoutLeader
  expr: sum by (namespace, job) (leader_election_master_status{ {{- $own -}} }) < 1
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: No replica of {{ .Release.Namespace }}/{{ include "static-export-operator.fullname" . }} leads.
    description: Replicas respond, but none holds the lease. No export starts and no link is refreshed.
    runbook: {{ printf "Look at the log for lease (%s) and at the lease itself: kubectl --namespace %s get lease %s -o yaml. Forbidden: the Role of the lease is missing. Timeouts: the API server is slow or out of reach." $logs .Release.Namespace (include "static-export-operator.fullname" .) | quote }}
- alert: StaticExportPassesFailing
  expr: {{ $of }} (max_over_time(staticexport_failed_passes{ {{- $job -}} }[5m])) > 2
  for: 15m
  labels: { severity: warning }
  annotations:
    summary: "Reconciles of {{ $which }} fail."
    description: "{{ "{{ $value }}" }} reconciles in a row failed or timed out. Exports, link refreshes and status updates are stopped."
    runbook: {{ printf "The log has each with its cause (%s). Forbidden: rights differ from this chart's (rbac.create); the message names verb and resource. Timeouts: look at the API server and at rest_client_requests_total by code. What kubectl shows of the resource may be old." $logs | quote }}
- alert: StaticExportLinkExpired
  expr: >-
    {{ $expiry }} < time()
    or {{ $of }} (staticexport_condition{ {{- $job -}} ,type="LinkFresh",status="False",reason="Expired"}) == 1
  for: 2m
  labels: { severity: critical }
  annotations:
    summary: "The published link of {{ $which }} has expired."
    description: Running servers keep serving from disk. A new pod without a stored bundle cannot download one.
    runbook: {{ printf "%s: LinkFresh says why. JobGone: the export API forgot the job, and a new export runs. KeyRefused: renew the key's Secret. A deleted output Secret is written again with the next link. Otherwise the export API is down: ask its owner. Do not delete or drain site pods without a volume meanwhile." $look | quote }}
{{- /* No `for`: of a link that lives five minutes this share is 45 seconds. Who wants it replaced later than the
     threshold (linkRefresh.atPercent) is not alarmed while its time has not come. */}}
- alert: StaticExportLinkExpiring
  expr: >-
    ({{ $expiry }} - time()) / ({{ $expiry }} - {{ $issued }}) < {{ divf $options.linkLifeLeftPercent 100 }} > 0
    unless {{ $on }} ({{ $of }} (staticexport_next_refresh_timestamp_seconds{ {{- $job -}} }) > time()
    and {{ $on }} {{ $of }} (staticexport_condition{ {{- $job -}} ,type="LinkFresh",status="True"}) == 1)
  labels: { severity: warning }
  annotations:
    summary: "The published link of {{ $which }} expires soon."
    description: "{{ "{{ $value | humanizePercentage }}" }} of its lifetime is left, and its refresh is overdue."
    runbook: {{ printf "%s: LinkFresh and status.failures.link name the failure and the time of the retry. Usual causes: the export API is down, limits the rate (Retry-After), or refuses the key." $look | quote }}
{{- /* Without the reason: in an outage it changes with every try. A success, a pin and a suspension end the count. */}}
- alert: StaticExportFailing
  expr: >-
    {{ $of }} (max_over_time(staticexport_failures{ {{- $job -}} ,operation=~"export|poll"}[15m])) > 0
    unless {{ $on }} {{ $of }} (changes(staticexport_last_success_timestamp_seconds{ {{- $job -}} }[15m])) > 0
    unless {{ $on }} {{ $of }} (staticexport_suspended{ {{- $job -}} }) == 1
    unless {{ $on }} {{ $of }} (staticexport_condition{ {{- $job -}} ,type="Ready",reason="Pinned"}) == 1
  for: {{ $options.exportFailingFor }}
  labels: { severity: warning }
  annotations:
    summary: "{{ $which }} has had no successful export for a long time."
    description: "Exports failed {{ "{{ $value }}" }} times in a row, or a complete export cannot be downloaded. The published version stays."
    runbook: {{ printf "%s: the message of condition Exported names the cause. JobFailed: read the vendor's job log. BundleRejected: the message names the fault of the archive. StartUnconfirmed, StartRefused: check the export API and its proxies. After the fix: %s" $look $again | quote }}
- alert: StaticExportStalled
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_condition{ {{- $job -}} ,type="Stalled",status="True",reason!~"Key.*|HostNotAllowed|BaseUrlMissing|PageCountDropped|TooFewPages|AwaitingPromotion"}) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: "{{ $which }} is stalled ({{ "{{ $labels.reason }}" }}) and needs manual action."
    description: "The condition Stalled of the StaticExport names the cause and the remedy."
    runbook: {{ printf "%s: the message of Stalled names the remedy. OutputNotOwned: another object has the output's name; delete it, or create the StaticExport again with another spec.output.name. OutputUnreadable: restore the permission that the message names, or fix the error that it names." $look | quote }}
- alert: StaticExportKeyRefused
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_calls_blocked{ {{- $job -}} ,reason=~"KeyRefused|KeyForbidden"}) == 1
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: "The export API refuses the key of {{ $which }}."
    description: "{{ "{{ $labels.reason }}" }}: no export starts and no link is refreshed. The published link expires at its time. Write a valid key into its Secret."
    runbook: "KeyRefused (401): the key was revoked or mistyped; write a new key into the Secret that spec.api.keySecretRef names; it is used within a minute. KeyForbidden (403): the key lacks a permission at the vendor; grant it. Retried every 15 minutes."
- alert: StaticExportCallsBlocked
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_calls_blocked{ {{- $job -}} ,reason!~"KeyRefused|KeyForbidden"}) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: "The operator cannot call the export API for {{ $which }}."
    description: "{{ "{{ $labels.reason }}" }}: no export starts and no link is refreshed. The published version stays, and its link expires at its time."
    runbook: {{ printf "KeyMissing, KeyEmpty, KeyInvalid: put the key into the Secret that api.keySecretRef names; it is read within a minute. KeyUnreadable: allow the operator to get that Secret, or fix what else the message names. HostNotAllowed: add the entry that the message names to allowedApiHosts of this chart. BaseUrlMissing: apiBaseUrl of this chart, or api.baseUrl. While a version is published and nothing is due, Ready stays True: see %s." $look | quote }}
- alert: StaticExportPageCountDropped
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_condition{ {{- $job -}} ,type="Exported",reason=~"PageCountDropped|TooFewPages"}) == 1
  labels: { severity: warning }
  annotations:
    summary: "A new export of {{ $which }} is held because it has too few pages."
    description: "{{ "{{ $labels.reason }}" }}: the published version stays. If the drop is intended, promote the candidate. If not, fix the docs project; the next export is checked again."
    runbook: {{ printf "%s: status.candidate has the version and its pages. If intended: kubectl --namespace %s annotate staticexport {{ $labels.name }} --overwrite staticexport.dev/promote=VERSION. If not intended: fix the docs project; the next export is checked again." $look $where | quote }}
- alert: StaticExportTargetsContested
  expr: {{ $of }} (staticexport_condition{ {{- $job -}} ,type="TargetsSynced",reason="Contested"}) == 1
  labels: { severity: warning }
  annotations:
    summary: "Another client reverts what {{ $which }} writes into a target."
    description: The target keeps an old version. The operator writes it again with a new version or spec.
    runbook: {{ printf "%s: status.targets names the object, and its managedFields the other writer (kubectl get --show-managed-fields). Usually a GitOps tool that owns the same field: let it ignore the staticExport leaves, or drop the target." $look | quote }}
- alert: StaticExportTargetsNotSynced
  expr: >-
    {{ $of }} (staticexport_condition{ {{- $job -}} ,type="TargetsSynced",status="False",reason!="Contested"}) == 1
    unless {{ $on }} {{ $of }} (staticexport_suspended{ {{- $job -}} }) == 1
  for: 30m
  labels: { severity: warning }
  annotations:
    summary: "A target of {{ $which }} does not have the published version."
    description: "The target has an old version, or none. Condition TargetsSynced names the cause."
    runbook: {{ printf "%s: status.targets names the object. NotGranted: it is missing, or not annotated staticexport.dev/allow-from=%s/{{ $labels.name }}, or the operator may not read it: rights outside the watched namespaces come from targets.values of this chart. WriteFailed: the message of TargetsSynced says why." $look $where | quote }}
- alert: StaticExportOperatorsOverlap
  expr: count by (job, operator_lease) ({{ $of | replace "job)" "job, operator_lease)" }} (staticexport_operators_overlap{ {{- $job -}} })) > 0
  for: 1m
  labels: { severity: warning }
  annotations:
    summary: "Another operator, {{ "{{ $labels.operator_lease }}" }}, manages the same StaticExports."
    description: "{{ "{{ $value }}" }} StaticExports have two operators. Each reverts writes of the other, and jobs may start twice. Stop one operator, use disjoint watchNamespaces, or set instance on one."
    runbook: {{ printf "Its name is that of its lease, namespace/name; kubectl --namespace NAMESPACE get lease NAME -o yaml names the pod or the machine that holds it. End it, or part the scopes: watchNamespaces that have no namespace in common, or another instance. The log of this one has it once (%s)." $logs | quote }}
{{- /* Where all are watched the metric names no namespace, and Prometheus puts the operator's own there. */}}
{{- $crd := "the CRD is missing (kubectl get crd staticexports.staticexport.dev), and helm upgrade brings it back with crds.install." }}
- alert: StaticExportNamespaceRefused
  expr: max by (namespace, exported_namespace, job) (staticexport_watch_refused{ {{- $job -}} }) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    {{- if .Values.watchNamespaces }}
    summary: "The operator has no permission to watch StaticExports in namespace {{ $where }}."
    description: New StaticExports and edits there are not noticed. Without read permission, links there expire. Restore the RoleBinding.
    runbook: {{ printf "The log says why (%s). Not allowed: the namespace was deleted, so take it out of watchNamespaces; or its Role or RoleBinding there is gone (rbac.create), and helm upgrade brings it back. Not known, in every namespace: %s" $logs $crd | quote }}
    {{- else }}
    summary: The operator of {{ .Release.Namespace }}/{{ include "static-export-operator.fullname" . }} has no permission to watch StaticExports in any namespace.
    description: New StaticExports and edits are not noticed. Without read permission, links expire. Restore the ClusterRoleBinding.
    runbook: {{ printf "The log says why (%s). Not allowed: the ClusterRole or ClusterRoleBinding is gone (rbac.create), and helm upgrade brings it back. Not known: %s" $logs $crd | quote }}
    {{- end }}
- alert: StaticExportClockSkew
  expr: max by (namespace, job, host) (abs(staticexport_api_clock_skew_seconds{ {{- $own -}} })) > 60
  for: 5m
  labels: { severity: warning }
  annotations:
    summary: {{ "The clock of {{ $labels.host }} differs from the operator’s." }}
    description: "Clock differs by {{ "{{ $value }}" }} seconds. Link refresh follows the export API's clock, so skew reduces the safety margin."
    runbook: Compare the node's clock (chrony, ntp) with a known good one; if ours is right, tell the owner of the export API.
- alert: StaticExportServersDisagree
  expr: count by (namespace, job) (count by (namespace, job, digest) (bundle_server_active_bundle_info)) > 1
  for: {{ $options.disagreementFor }}
  labels: { severity: warning }
  annotations:
    summary: {{ "Servers of {{ $labels.namespace }}/{{ $labels.job }} serve different versions." }}
    description: "{{ "{{ $value }}" }} different bundles are served. Readers see different versions."
    runbook: "A swap takes about a minute to reach every pod. If it lasts, compare bundle_server_active_bundle_info by pod. Then read the log and /status of the pod with the old bundle: an expired link, a full volume, or a rejected archive."
{{- end -}}
