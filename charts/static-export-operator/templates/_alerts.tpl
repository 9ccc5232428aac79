{{- /* The alerts that the values do not disable, with the labels and the address of the runbooks from the values. */ -}}
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

{{- /* Each alert has its meaning and remedy; docs/runbooks.md has the long form. Only the leader has metrics of
     resources: `namespace` and `name` are the StaticExport's (honorLabels), and `pod` changes with each failover, which
     would restart every `for`. So the alerts aggregate by resource. Where a `for` is long, or a series comes and goes
     with each attempt, a window covers a restart.
     A Prometheus that overrides labels puts the resource's namespace into `exported_namespace`. Another release of this
     name in another namespace has the same job; `operator_namespace` of the ServiceMonitor separates them. Lines that
     are scraped in another way may lack it. */ -}}
{{- define "static-export-operator.alerts" -}}
{{- $job := printf "job=%q,operator_namespace=~\"|%s\"" (include "static-export-operator.adminName" .) .Release.Namespace -}}
{{- $own := printf "namespace=%q,%s" .Release.Namespace $job -}}
{{- $options := .Values.monitoring.prometheusRule -}}
{{- $where := "{{ or $labels.exported_namespace $labels.namespace }}" -}}
{{- $which := printf "%s/{{ $labels.name }}" $where -}}
{{- $look := printf "kubectl --namespace %s describe staticexport {{ $labels.name }}" $where -}}
{{- /* Selects every replica, because kubectl prints the log of only one pod of a Deployment. */ -}}
{{- $pods := include "static-export-operator.selectorLabels" . | replace ": " "=" | replace "\"" "" | replace "\n" "," -}}
{{- $logs := printf "kubectl --namespace %s logs --selector %s --prefix --tail=200" .Release.Namespace $pods -}}
{{- $of := "max by (namespace, exported_namespace, name, job)" -}}
{{- $ofTarget := "max by (namespace, exported_namespace, name, job, target, type)" -}}
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
    runbook: {{ printf "Run kubectl --namespace %s get pods. Pods do not run: read their events (image, node, quota). Pods crash: %s --previous --ignore-errors. Pods are ready: Prometheus does not find them; set monitoring.serviceMonitor.labels or networkPolicy.adminFrom." .Release.Namespace $logs | quote }}
- alert: StaticExportOperatorWithoutLeader
  expr: sum by (namespace, job) (leader_election_master_status{ {{- $own -}} }) < 1
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: No replica of {{ .Release.Namespace }}/{{ include "static-export-operator.fullname" . }} leads.
    description: Replicas respond, but none holds the lease. No export starts and no link is refreshed.
    runbook: {{ printf "Search the log for \"lease\" (%s), and run kubectl --namespace %s get lease %s -o yaml. Forbidden: the Role of the lease is missing; set rbac.create. Timeout: the Kubernetes API server is slow or unreachable; restore it." $logs .Release.Namespace (include "static-export-operator.fullname" .) | quote }}
- alert: StaticExportReconcilesFailing
  expr: {{ $of }} (max_over_time(staticexport_failed_reconciles{ {{- $job -}} }[5m])) > 2
  for: 15m
  labels: { severity: warning }
  annotations:
    summary: "Reconciles of {{ $which }} fail."
    description: "{{ "{{ $value }}" }} reconciles in a row failed or timed out. Exports, link refreshes and status updates are stopped."
    runbook: {{ printf "The log names the cause (%s). Forbidden: a permission of this chart is missing (rbac.create); grant the verb and resource that the message names. Timeout: check the Kubernetes API server and rest_client_requests_total by code. The status of the resource may be old." $logs | quote }}
- alert: StaticExportLinkExpired
  expr: >-
    {{ $expiry }} < time()
    or {{ $of }} (staticexport_condition{ {{- $job -}} ,type="LinkFresh",status="False",reason="Expired"}) == 1
  for: 2m
  labels: { severity: critical }
  annotations:
    summary: "The published link of {{ $which }} has expired."
    description: Running servers keep serving from disk. A new pod without a stored bundle cannot download one.
    runbook: {{ printf "%s: LinkFresh names the cause. JobGone: wait; a new export starts unless spec.pin or spec.suspend is set, or a candidate is held. KeyRefused: write a new key into its Secret. The output Secret was deleted: wait; the next link writes it again. No answer: contact the owner of the export API. Do not delete or drain site pods without a volume meanwhile." $look | quote }}
{{- /* No `for`: 15 % of a link's lifetime of five minutes are 45 seconds. A linkRefresh.atPercent later than the
     threshold fires no alert before its time. */}}
- alert: StaticExportLinkExpiring
  expr: >-
    ({{ $expiry }} - time()) / ({{ $expiry }} - {{ $issued }}) < {{ divf $options.linkRemainingPercent 100 }} > 0
    unless {{ $on }} ({{ $of }} (staticexport_next_refresh_timestamp_seconds{ {{- $job -}} }) > time()
    and {{ $on }} {{ $of }} (staticexport_condition{ {{- $job -}} ,type="LinkFresh",status="True"}) == 1)
  labels: { severity: warning }
  annotations:
    summary: "The published link of {{ $which }} expires soon."
    description: "{{ "{{ $value | humanizePercentage }}" }} of its lifetime is left, and its refresh is overdue."
    runbook: {{ printf "%s: LinkFresh and status.failures.link name the failure and the time of the retry. RateLimited: wait, or raise the limit at the vendor. KeyRefused: write a new key into its Secret. No answer: contact the owner of the export API." $look | quote }}
{{- /* Without the reason, which changes with every attempt in an outage. A success, a pin and a suspension end the count. */}}
- alert: StaticExportFailing
  expr: >-
    {{ $of }} (max_over_time(staticexport_failures{ {{- $job -}} ,operation=~"export|start|poll"}[15m])) > 0
    unless {{ $on }} {{ $of }} (changes(staticexport_last_success_timestamp_seconds{ {{- $job -}} }[15m])) > 0
    unless {{ $on }} {{ $of }} (staticexport_suspended{ {{- $job -}} }) == 1
    unless {{ $on }} {{ $of }} (staticexport_condition{ {{- $job -}} ,type="Ready",reason="Pinned"}) == 1
  for: {{ $options.exportFailingFor | quote }}
  labels: { severity: warning }
  annotations:
    summary: "{{ $which }} has had no successful export for a long time."
    description: "Exports failed or were put off {{ "{{ $value }}" }} times in a row, or a complete export cannot be downloaded. The published version stays."
    runbook: {{ printf "%s: condition Exported names the cause. JobFailed: read the vendor's job log. TimedOut: raise spec.jobTimeout, or ask the vendor. JobLost: ask the owner of the export API. BundleRejected: fix the file that the message names, or raise spec.promotion.maxBundleSize, and inspection.maxArchiveSize and inspection.maxBundleSize of the chart. InspectionFailed: check the storage and the network path to it. MirrorFailed: the mirror did not take the copy; fix what the message names, or set spec.mirror.policy=BestEffort. OutputWriteFailed: follow the message of the Kubernetes API server. ExportApiUnreachable, StartUnconfirmed: check the export API and its proxies. StartRefused: correct spec.domain or spec.api.projectId, or spec.api.baseUrl; for 429 wait, and schedule fewer exports. AnotherExportRuns: another job of the project runs; wait, or find who started it. StartBudgetUsed: the key has no start left; schedule fewer exports, or raise startsPerHour. After the fix: %s" $look $again | quote }}
{{- /* Where no link is published, the copy is all that a new server can read. */}}
- alert: StaticExportNotMirrored
  expr: {{ $of }} (staticexport_condition{ {{- $job -}} ,type="Ready",reason="NotMirrored"}) == 1
  for: 10m
  labels: { severity: critical }
  annotations:
    summary: "{{ $which }} publishes no link, and its copy in the mirror cannot be used."
    description: Running servers keep serving from disk. A new pod without a stored bundle may have nothing to serve.
    runbook: {{ printf "%s: condition Mirrored names the cause; see StaticExportMirrorFailing for each reason. Until it is fixed: spec.output.link=Always publishes a link again. Do not delete or drain site pods without a volume meanwhile." $look | quote }}
{{- /* Without the reason, which changes with every attempt in an outage. */}}
- alert: StaticExportMirrorFailing
  expr: >-
    {{ $of }} (staticexport_condition{ {{- $job -}} ,type="Mirrored",status!="True",reason!~"Copying|NotPublished"}) == 1
    unless {{ $on }} {{ $of }} (staticexport_condition{ {{- $job -}} ,type="Ready",reason="NotMirrored"}) == 1
  for: 1h
  labels: { severity: warning }
  annotations:
    summary: "The bundle of {{ $which }} is not in its mirror, or the mirror cannot be read."
    description: "The published version stays. When its link has expired, a new pod without a stored bundle depends on the copy."
    runbook: {{ printf "%s: condition Mirrored names the cause. Lost: a registry or bucket rule deleted the copy; exclude its place from the rule. It is copied again while a link can be obtained, otherwise request an export. Denied, SecretMissing: write credentials with push and pull into the Secret of spec.mirror. QuotaExceeded: free space or raise the quota of the mirror. RepositoryMissing: create the repository or bucket. HostNotAllowed: add the host to allowedMirrorHosts. OwnedElsewhere: give each StaticExport its own repository or prefix. Unreachable: check the mirror and networkPolicy.mirrors. CopyFailed, OutputWriteFailed: follow the message. RulesChanged: promote the held candidate, or remove spec.suspend or spec.pin. ContentChanged, or to copy what can no longer be obtained: %s" $look $again | quote }}
{{- /* Each check is a day after the last one, so the second failure is not a passing one. */}}
- alert: StaticExportRetentionFailing
  expr: >-
    {{ $of }} (max_over_time(staticexport_failures{ {{- $job -}} ,operation="retention"}[15m])) > 1
  for: 1h
  labels: { severity: warning }
  annotations:
    summary: "Old copies of {{ $which }} stay in its mirror."
    description: "Two daily checks in a row did not remove what spec.mirror.retention names. The storage of the mirror grows with every version."
    runbook: {{ printf "%s: condition Mirrored has the reason RetentionFailed, and its message names the cause. Denied: enable deletes in the registry, or give the credentials in the Secret of spec.mirror the permission to delete. Protected: exclude this place from immutable tags and locks. Unreachable: check the mirror. Otherwise remove spec.mirror.retention, and let a rule of the registry remove old tags." $look | quote }}
- alert: StaticExportStalled
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_condition{ {{- $job -}} ,type="Stalled",status="True",reason!~"Key.*|HostNotAllowed|BaseUrlMissing|PageCountDropped|TooFewPages|HomePageMissing|AwaitingPromotion|Rejected"}) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: "{{ $which }} is stalled ({{ "{{ $labels.reason }}" }}) and needs manual action."
    description: "The condition Stalled of the StaticExport names the cause and the remedy."
    runbook: {{ printf "%s: condition Stalled names the remedy. OutputNotOwned: another object has the output's name; delete it, or create the StaticExport again with another spec.output.name. OutputUnreadable: restore the permission that the message names." $look | quote }}
- alert: StaticExportKeyRefused
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_calls_blocked{ {{- $job -}} ,reason=~"KeyRefused|KeyForbidden"}) == 1
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: "The export API refuses the key of {{ $which }}."
    description: "{{ "{{ $labels.reason }}" }}: no export starts and no link is refreshed. The published link expires at its time. Write a valid key into its Secret. KeyForbidden is retried every 15 minutes."
    runbook: "KeyRefused (401): the key was revoked or mistyped; write a new key into the Secret of spec.api.keySecretRef. The operator reads it within a minute. With spec.api.projectId, also ask the vendor whether your plan includes the export API. KeyForbidden (403): check the key's permissions, your plan, spec.domain or spec.api.projectId, and the vendor's IP allow-list. The operator retries every 15 minutes."
- alert: StaticExportCallsBlocked
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_calls_blocked{ {{- $job -}} ,reason!~"KeyRefused|KeyForbidden"}) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: "The operator cannot call the export API for {{ $which }}."
    description: "{{ "{{ $labels.reason }}" }}: no export starts and no link is refreshed. The published version stays, and its link expires at its time."
    runbook: {{ printf "KeyMissing, KeyEmpty, KeyInvalid: put the key into the Secret of spec.api.keySecretRef; the operator reads it within a minute. KeyUnreadable: grant the operator get on that Secret. HostNotAllowed: add the entry that the message names to allowedApiHosts. BaseUrlMissing: set apiBaseUrl, or spec.api.baseUrl. The message is in %s. Ready stays True until something is due." $look | quote }}
- alert: StaticExportPageCountDropped
  expr: {{ $of | replace "job)" "job, reason)" }} (staticexport_condition{ {{- $job -}} ,type="Exported",reason=~"PageCountDropped|TooFewPages|HomePageMissing"}) == 1
  labels: { severity: warning }
  annotations:
    summary: "A new export of {{ $which }} is held because pages are missing."
    description: "{{ "{{ $labels.reason }}" }}: the published version stays. If this is intended, promote the candidate. If not, fix the docs project; the next export is checked again."
    runbook: {{ printf "%s: status.candidate has the version and its pages. HomePageMissing: the export has no index.html at its root. Intended: kubectl --namespace %s annotate staticexport {{ $labels.name }} --overwrite staticexport.dev/promote=VERSION. Not intended: fix the docs project; the next export is checked again." $look $where | quote }}
- alert: StaticExportTargetsContested
  expr: {{ $of }} (staticexport_condition{ {{- $job -}} ,type="TargetsSynced",reason="Contested"}) == 1
  labels: { severity: warning }
  annotations:
    summary: "Another client reverts what {{ $which }} writes into a target."
    description: The target keeps an old version. The operator writes it again with a new version or spec.
    runbook: {{ printf "%s: status.targets names the object. kubectl get OBJECT -o yaml --show-managed-fields names the other writer. A GitOps tool owns the fields: let it ignore the values keys below staticExport, or remove the target from spec.targets. The target is a git repository: git log -p FILE names the commit that replaced the version; agree with its author. Writing resumes with the next version or a change of the spec." $look | quote }}
- alert: StaticExportTargetOwnedElsewhere
  expr: {{ $ofTarget }} (staticexport_target_synced{ {{- $job -}} ,reason="OwnedElsewhere"}) == 0
  for: 30m
  labels: { severity: warning }
  annotations:
    summary: "Another owner declares the keys of target {{ "{{ $labels.target }}" }} of {{ $which }}."
    description: "The target has the version of its owner's manifest. The operator never takes a key from its owner."
    runbook: {{ printf "%s: condition TargetsSynced holds what to paste. {{ if eq $labels.type \"HelmRelease\" }}Remove the keys from git, or let the Kustomization ignore them (spec.ignore).{{ else if eq $labels.type \"Application\" }}Add ignoreDifferences and RespectIgnoreDifferences=true to the parent Application, or ignoreApplicationDifferences to the ApplicationSet.{{ else if eq $labels.type \"Workload\" }}Remove the annotation from the pod template of that manifest.{{ else }}Remove the keys from the manifest of that owner.{{ end }}" $look | quote }}
- alert: StaticExportTargetRolloutFailed
  expr: {{ $ofTarget }} (staticexport_target_synced{ {{- $job -}} ,reason="RolloutFailed"}) == 0
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: "Target {{ "{{ $labels.target }}" }} of {{ $which }} has the version, and its rollout failed."
    description: "The {{ "{{ $labels.type }}" }} holds the published version. What it deploys may still be the version before."
    runbook: {{ printf "%s: status.targets names the object. {{ if eq $labels.type \"HelmRelease\" }}Read its condition Ready and its events; after the fix, flux reconcile helmrelease NAME --force.{{ else if eq $labels.type \"Application\" }}Read status.operationState and the health of its resources in Argo CD; after the fix, sync it.{{ else }}kubectl rollout status and kubectl describe name the pods that do not start; after the fix, kubectl rollout restart.{{ end }}" $look | quote }}
- alert: StaticExportTargetsNotSynced
  expr: >-
    {{ $of }} (staticexport_condition{ {{- $job -}} ,type="TargetsSynced",status="False",reason!~"Contested|OwnedElsewhere|RolloutFailed"}) == 1
    unless {{ $on }} {{ $of }} (staticexport_suspended{ {{- $job -}} }) == 1
  for: 30m
  labels: { severity: warning }
  annotations:
    summary: "A target of {{ $which }} does not have the published version."
    description: "The target has an old version, or none. Condition TargetsSynced names the cause."
    runbook: {{ printf "%s: status.targets names the object. NotGranted: the object is missing, or lacks the annotation staticexport.dev/allow-from=%s/{{ $labels.name }}, or the operator cannot read it: outside the watched namespaces, add it to targets.values. Refused: correct the YAML of the target. WriteFailed: follow the message of TargetsSynced. PushFailed: the message begins with a code. Unauthorized: write a token that may push into the Secret of the target. ProtectedBranch: let its user push, or set pullRequestBranch. HostNotAllowed: add the host to targets.git.allowedHosts. Other codes: follow the message." $look $where | quote }}
- alert: StaticExportOperatorsOverlap
  expr: count by (job, operator_lease) ({{ $of | replace "job)" "job, operator_lease)" }} (staticexport_operators_overlap{ {{- $job -}} })) > 0
  for: 1m
  labels: { severity: warning }
  annotations:
    summary: "Another operator, {{ "{{ $labels.operator_lease }}" }}, manages the same StaticExports."
    description: "{{ "{{ $value }}" }} StaticExports have two operators. Each reverts writes of the other, and jobs may start twice. Stop one operator, use disjoint watchNamespaces, or set instance on one."
    runbook: {{ printf "The label operator_lease is the namespace and name of the other operator's lease. kubectl --namespace NAMESPACE get lease NAME -o yaml names its pod or machine. Not needed: stop it. Needed: separate the scopes with disjoint watchNamespaces, or with instance. This operator logs the overlap once (%s)." $logs | quote }}
{{- /* With a watch of all namespaces the metric names none, and Prometheus adds the operator's own. */}}
{{- $crd := "the CRD is missing (kubectl get crd staticexports.staticexport.dev); helm upgrade creates it again (crds.install)." }}
- alert: StaticExportNamespaceRefused
  expr: max by (namespace, exported_namespace, job) (staticexport_watch_refused{ {{- $job -}} }) == 1
  for: 10m
  labels: { severity: warning }
  annotations:
    {{- if .Values.watchNamespaces }}
    summary: "The operator has no permission to watch StaticExports in namespace {{ $where }}."
    description: New StaticExports and edits there are not noticed. Without read permission, links there expire. Restore the RoleBinding.
    runbook: {{ printf "The log names the cause (%s). 403: the namespace was deleted; remove it from watchNamespaces. Or its Role or RoleBinding is gone; helm upgrade creates it again (rbac.create). 404 in every namespace: %s" $logs $crd | quote }}
    {{- else }}
    summary: The operator of {{ .Release.Namespace }}/{{ include "static-export-operator.fullname" . }} has no permission to watch StaticExports in any namespace.
    description: New StaticExports and edits are not noticed. Without read permission, links expire. Restore the ClusterRoleBinding.
    runbook: {{ printf "The log names the cause (%s). 403: the ClusterRole or ClusterRoleBinding is gone; helm upgrade creates it again (rbac.create). 404: %s" $logs $crd | quote }}
    {{- end }}
- alert: StaticExportClockSkew
  expr: max by (namespace, job, host) (abs(staticexport_api_clock_skew_seconds{ {{- $own -}} })) > 60
  for: 5m
  labels: { severity: warning }
  annotations:
    summary: {{ "The clock of {{ $labels.host }} differs from the operator’s." }}
    description: "Clock differs by {{ "{{ $value }}" }} seconds. Link refresh follows the export API's clock, so skew reduces the safety margin."
    runbook: "Compare the node's clock with its time source (chrony, ntp). Node clock wrong: fix its time source. Node clock right: tell the owner of the export API."
- alert: StaticExportNotificationsFailing
  expr: sum by (namespace, job) (increase(staticexport_notifications_total{ {{- $own -}} ,outcome!="delivered"}[1h])) > 0
  labels: { severity: warning }
  annotations:
    summary: "Notifications of StaticExports were not delivered."
    description: "In the last hour {{ "{{ $value | humanize }}" }} notifications to webhooks of spec.notify failed or were dropped."
    runbook: {{ printf "kubectl get events --all-namespaces --field-selector reason=NotificationFailed names the StaticExport, the webhook and the cause. The log does too (%s). Correct the Secret that spec.notify names, notify.allowedHosts, or the receiver." $logs | quote }}
- alert: StaticExportServersDisagree
  expr: count by (namespace, job) (count by (namespace, job, digest) (bundle_server_active_bundle_info)) > 1
  for: {{ $options.disagreementFor | quote }}
  labels: { severity: warning }
  annotations:
    summary: {{ "Servers of {{ $labels.namespace }}/{{ $labels.job }} serve different versions." }}
    description: "{{ "{{ $value }}" }} different bundles are served. Readers see different versions."
    runbook: "A swap takes about a minute. If it lasts, compare bundle_server_active_bundle_info by pod. Then read the log and /status of the pod with the old bundle: an expired link, a full volume, or a rejected archive."
{{- end -}}
