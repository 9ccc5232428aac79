{{- /* The alerts that the values do not disable, with the labels from the values. */ -}}
{{- define "static-export-site.rulesOfAlerts" -}}
{{- $options := .Values.monitoring.prometheusRule -}}
{{- $rules := list -}}
{{- $alerts := list -}}
{{- if .Values.staticExport.enabled }}{{ $alerts = include "static-export-site.alerts" . | fromYamlArray }}{{ end -}}
{{- if .Values.conversations.enabled }}{{ $alerts = concat $alerts (include "static-export-site.alertsOfConversations" . | fromYamlArray) }}{{ end -}}
{{- range $alerts -}}
{{- if kindIs "string" . }}{{ fail . }}{{ end -}}
{{- if not (has .alert $options.disabledAlerts) -}}
{{- $rule := deepCopy . -}}
{{- $_ := set $rule "labels" (merge (dict) $options.alertLabels $rule.labels) -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}

{{- /* Alerts of one site, each with its meaning and remedy. The job is the name of the Service that the ServiceMonitor
     finds. The commands ask the pod that the alert names, because the Service answers for any pod. A window of five
     minutes covers a restart: a server that ends again and again would restart every `for`. */ -}}
{{- define "static-export-site.alerts" -}}
{{- $these := printf "namespace=%q,job=%q" .Release.Namespace (include "static-export-site.adminName" .) -}}
{{- $of := "max by (namespace, job, pod)" -}}
{{- $served := printf "%s (last_over_time(bundle_server_active_bundle_info{%s}[5m]))" $of $these -}}
{{- $where := printf "site %s/%s" .Release.Namespace (include "static-export-site.fullname" .) -}}
{{- $status := printf "kubectl get --raw /api/v1/namespaces/%s/pods/{{ $labels.pod }}:9090/proxy/status" .Release.Namespace -}}
{{- $forward := printf "kubectl --namespace %s port-forward pod/{{ $labels.pod }} 9090, then http://127.0.0.1:9090/status" .Release.Namespace -}}
{{- $ask := printf "%s (where a NetworkPolicy blocks the Kubernetes API server: %s)" $status $forward -}}
- alert: StaticExportSiteAbsent
  expr: absent(up{ {{- $these -}} } == 1)
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: No server of {{ $where }} responds.
    description: Prometheus cannot reach any bundle server of {{ $where }}. Readers probably cannot either.
    runbook: >-
      Run kubectl --namespace {{ .Release.Namespace }} get pods. Pods do not run: read their events (image, node,
      volume). Pods are ready: Prometheus does not find them; set monitoring.serviceMonitor.labels or
      networkPolicy.adminFrom.
- alert: StaticExportSiteWithoutBundle
  expr: {{ $of }} (max_over_time(up{ {{- $these -}} }[5m])) == 1 unless {{ $served }}
  for: 15m
  labels: { severity: critical }
  annotations:
    summary: A server of {{ $where }} has no bundle to serve.
    description: {{ "Pod {{ $labels.pod }} runs without a verified bundle and returns 503." | quote }}
    runbook: >-
      Its status names the cause: {{ $ask }}. The link has expired: with an operator, check LinkFresh of the
      StaticExport (kubectl get sx); without one, set a new staticExport.bundleUrl. The mirror refuses or has no copy:
      follow source.lastError; server.mirror has its credentials. bundle.json is missing: create the
      Secret {{ include "static-export-site.sourceSecret" . }}, or its key bundle.json. StoreFull or StoreUnavailable:
      enlarge or repair the volume.
- alert: StaticExportSiteBehind
  expr: {{ $of }} (max_over_time(bundle_server_is_current{ {{- $these -}} }[5m])) == 0 and {{ $served }}
  for: 30m
  labels: { severity: warning }
  annotations:
    summary: A server of {{ $where }} does not serve the published bundle.
    description: {{ "Pod {{ $labels.pod }} serves its last good bundle, or a damaged one. It could not obtain the published bundle for 30 minutes." | quote }}
    runbook: >-
      The status has the last error and the time of the retry: {{ $ask }}. The archive is rejected: export again, or
      pin the previous version; waiting does not help. The download fails: check the network path to the
      storage, or to the mirror. StoreFull, StoreUnavailable or damaged copies: enlarge or check the volume.
- alert: StaticExportSiteServersDisagree
  expr: count by (namespace, job) (count by (namespace, job, digest) (bundle_server_active_bundle_info{ {{- $these -}} })) > 1
  for: {{ .Values.monitoring.prometheusRule.disagreementFor | quote }}
  labels: { severity: warning }
  annotations:
    summary: Servers of {{ $where }} serve different content.
    description: {{ "{{ $value }} different bundles are served. Readers see different versions." | quote }}
    runbook: >-
      A swap takes about a minute. If it lasts, compare bundle_server_active_bundle_info by pod. Then read the log of
      the pod with the old bundle.
{{- /* The state and not a counter: a server rejects within a second of its start, and the first scrape would see a
     counter that never grows. */}}
- alert: StaticExportSiteBundleRejected
  expr: {{ $of }} (max_over_time(bundle_server_source_state{ {{- $these -}} ,state="rejected"}[15m])) == 1
  labels: { severity: warning }
  annotations:
    summary: A server of {{ $where }} rejected an archive.
    description: {{ "Pod {{ $labels.pod }} downloaded the published archive and rejected it. It keeps serving its previous bundle, if any." | quote }}
    runbook: >-
      The status names the cause: {{ $ask }}. Too large: raise server.maxBundleSize. Another digest: the storage
      returns other bytes than the operator checked; ask the vendor.
- alert: StaticExportSiteLinkExpired
  expr: max by (namespace, job) (bundle_server_link_expiry_timestamp_seconds{ {{- $these -}} }) < time()
  for: 15m
  labels: { severity: warning }
  annotations:
    summary: The published link of {{ $where }} has expired.
    description: Running servers keep serving from disk. A new pod without a stored bundle, a peer or a mirror cannot get one.
    runbook: >-
      With an operator, check LinkFresh of the StaticExport (kubectl get sx), the operator's log and the export API.
      With a plain link, set a new staticExport.bundleUrl. Do not delete pods without a volume meanwhile.
- alert: StaticExportSiteErrors
  expr: >-
    sum by (namespace, job) (rate(bundle_server_requests_total{ {{- $these -}} ,code="5xx"}[5m]))
    / sum by (namespace, job) (rate(bundle_server_requests_total{ {{- $these -}} }[5m])) > 0.01
  for: 10m
  labels: { severity: critical }
  annotations:
    summary: More than 1 % of the requests to {{ $where }} fail.
    description: {{ "{{ $value | humanizePercentage }} of the requests get a 5xx status." | quote }}
    runbook: >-
      Read the logs by pod. bundle_server_cut_readers_total rises: slow readers use all the memory that they may hold;
      limit slow clients in the proxy, or add replicas. 503: slow readers use all memory (add replicas), or a server has
      no bundle (see StaticExportSiteWithoutBundle). 500: a server cannot read its disk, or its copy is
      damaged; check the volume of the store. Until the state is in-sync, keep the volume, and do not delete a pod
      without one.
{{- end -}}

{{- /* From kube-state-metrics, because a pod that has ended has no metrics. A CronJob that never succeeded has no such time, so
     that of its creation counts. */ -}}
{{- define "static-export-site.alertsOfConversations" -}}
{{- $name := include "static-export-site.conversationsName" . -}}
{{- $these := printf "namespace=%q,cronjob=%q" .Release.Namespace $name -}}
- alert: StaticExportSiteConversationsOverdue
  expr: >-
    time() - (max by (namespace, cronjob) (kube_cronjob_status_last_successful_time{ {{- $these -}} })
    or max by (namespace, cronjob) (kube_cronjob_created{ {{- $these -}} })) > {{ mul .Values.conversations.overdueHours 3600 }}
  for: 15m
  labels: { severity: warning }
  annotations:
    summary: Conversations of site {{ .Release.Namespace }}/{{ include "static-export-site.fullname" . }} are not exported.
    description: No run of CronJob {{ $name }} has succeeded for {{ .Values.conversations.overdueHours }} hours. New turns are not stored meanwhile.
    runbook: >-
      Run kubectl --namespace {{ .Release.Namespace }} get jobs --selector app.kubernetes.io/component=conversations, then kubectl
      logs of the last. Its message names the remedy. No job: the CronJob is suspended, or its schedule is wrong. A pod that does
      not start: read its events (Secret {{ .Values.conversations.keySecretRef.name }}, volume, image).
{{- end -}}
