{{- /* The alerts that are not left out, with the labels that the values ask for. */ -}}
{{- define "static-export-site.rulesOfAlerts" -}}
{{- $options := .Values.monitoring.prometheusRule -}}
{{- $rules := list -}}
{{- range (include "static-export-site.alerts" . | fromYamlArray) -}}
{{- if kindIs "string" . }}{{ fail . }}{{ end -}}
{{- if not (has .alert $options.disabledAlerts) -}}
{{- $rule := deepCopy . -}}
{{- $_ := set $rule "labels" (merge (dict) $options.alertLabels $rule.labels) -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}

{{- /* Alerts of one site, each with what it means and what to do. The job is the name that Prometheus gives to what
     a ServiceMonitor finds: the Service's. A Service would answer for any of the pods: the one that is named is asked.
     A window of five minutes holds what is known of a pod over a restart of its server: one that ends over and over
     would restart every `for`. */ -}}
{{- define "static-export-site.alerts" -}}
{{- $these := printf "namespace=%q,job=%q" .Release.Namespace (include "static-export-site.adminName" .) -}}
{{- $of := "max by (namespace, job, pod)" -}}
{{- $served := printf "%s (last_over_time(bundle_server_active_bundle_info{%s}[5m]))" $of $these -}}
{{- $where := printf "site %s/%s" .Release.Namespace (include "static-export-site.fullname" .) -}}
{{- $status := printf "kubectl get --raw /api/v1/namespaces/%s/pods/{{ $labels.pod }}:9090/proxy/status" .Release.Namespace -}}
{{- $forward := printf "kubectl --namespace %s port-forward pod/{{ $labels.pod }} 9090, then http://127.0.0.1:9090/status" .Release.Namespace -}}
{{- $ask := printf "%s (where a NetworkPolicy keeps the API server out: %s)" $status $forward -}}
- alert: StaticExportSiteAbsent
  expr: absent(up{ {{- $these -}} } == 1)
  for: 5m
  labels: { severity: critical }
  annotations:
    summary: No server of {{ $where }} responds.
    description: Prometheus cannot reach any bundle server of {{ $where }}. Readers probably cannot either.
    runbook: >-
      Look at the pods (kubectl --namespace {{ .Release.Namespace }} get pods) and their events. Pods that are
      running: Prometheus may not pick up the ServiceMonitor (monitoring.serviceMonitor.labels), or a NetworkPolicy may
      keep it out (networkPolicy.adminFrom). Pods that wait: image, node or volume.
- alert: StaticExportSiteWithoutBundle
  expr: {{ $of }} (max_over_time(up{ {{- $these -}} }[5m])) == 1 unless {{ $served }}
  for: 15m
  labels: { severity: critical }
  annotations:
    summary: A server of {{ $where }} has no bundle to serve.
    description: {{ "Pod {{ $labels.pod }} runs without a verified bundle and returns 503." | quote }}
    runbook: >-
      Its status names the cause: {{ $ask }}. An expired link: with an operator, read LinkFresh of the StaticExport
      (kubectl get sx); without one, set a fresh staticExport.bundleUrl. No document: the Secret
      {{ include "static-export-site.sourceSecret" . }} is missing or has no key bundle.json.
- alert: StaticExportSiteBehind
  expr: {{ $of }} (max_over_time(bundle_server_is_current{ {{- $these -}} }[5m])) == 0 and {{ $served }}
  for: 30m
  labels: { severity: warning }
  annotations:
    summary: A server of {{ $where }} does not serve the published bundle.
    description: {{ "Pod {{ $labels.pod }} serves its last good bundle. It could not obtain the published bundle for 30 minutes." | quote }}
    runbook: >-
      Readers are served. The status has the last error and the time of the retry: {{ $ask }}. Refused archives do not heal
      by waiting: export again, or pin the version before it.
- alert: StaticExportSiteServersDisagree
  expr: count by (namespace, job) (count by (namespace, job, digest) (bundle_server_active_bundle_info{ {{- $these -}} })) > 1
  for: {{ .Values.monitoring.prometheusRule.disagreementFor }}
  labels: { severity: warning }
  annotations:
    summary: Servers of {{ $where }} serve different content.
    description: {{ "{{ $value }} different bundles are served. Readers see different versions." | quote }}
    runbook: >-
      A swap takes about a minute to reach every pod. When it lasts, one of them cannot have the new bundle: compare
      bundle_server_active_bundle_info by pod, and look at the log of the one that stayed behind.
{{- /* The state and not a counter: a server refuses within a second of its start, and the first scrape would see a one
     that never grows. */}}
- alert: StaticExportSiteBundleRefused
  expr: {{ $of }} (max_over_time(bundle_server_source_state{ {{- $these -}} ,state="refused"}[15m])) == 1
  labels: { severity: warning }
  annotations:
    summary: A server of {{ $where }} rejected an archive.
    description: {{ "Pod {{ $labels.pod }} downloaded the published archive and rejected it. It keeps serving its previous bundle, if any." | quote }}
    runbook: >-
      The reason is in the log and in the status: {{ $ask }}. Too large: server.maxBundleSize. Another digest than
      published: the storage behind the link answers other bytes than the operator checked.
- alert: StaticExportSiteLinkExpired
  expr: max by (namespace, job) (bundle_server_link_expiry_timestamp_seconds{ {{- $these -}} }) < time()
  for: 15m
  labels: { severity: warning }
  annotations:
    summary: The published link of {{ $where }} has expired.
    description: Running servers keep serving from disk. A new pod without a stored bundle cannot download one.
    runbook: >-
      The operator refreshes links before they die: look at LinkFresh of the StaticExport (kubectl get sx), at the
      operator's log, and at the export API. Do not delete pods without a volume meanwhile.
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
      If bundle_server_cut_readers_total rises, slow readers hold all the memory that they may: limit slow clients in the
      proxy, or add replicas. Otherwise 503 comes from servers without a bundle (server.readiness=always), and 500 from a
      disk that cannot be read: look at the logs by pod, and at the volume of the store.
{{- end -}}
