{{- /* The operator's pod. Nothing in it follows the chart's version: what does would roll the pods for nothing. */ -}}
{{- define "static-export-operator.pod" -}}
metadata:
  {{- $own := printf "%s\napp.kubernetes.io/component: operator" (include "static-export-operator.selectorLabels" .) }}
  labels: {{- include "static-export-operator.podLabels" (list . $own .Values.podLabels) | nindent 4 }}
  annotations: {{- merge (dict) .Values.podAnnotations (dict "kubectl.kubernetes.io/default-container" "operator") | toYaml | nindent 4 }}
spec:
  serviceAccountName: {{ include "static-export-operator.serviceAccountName" . | quote }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ int64 .Values.terminationGracePeriodSeconds }}
  securityContext: {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- include "static-export-operator.placement" . | nindent 2 }}
  containers:
    - name: operator
      image: {{ include "static-export-operator.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
      args: {{- include "static-export-operator.args" . | nindent 8 }}
      {{- with .Values.extraEnv }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: admin, containerPort: 8081 }
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 20
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
      resources: {{- include "static-export-operator.resources" . | nindent 8 }}
      securityContext: {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        # A zip lies here while it is inspected, and a copy for a mirror while it is made.
        - { name: scratch, mountPath: /tmp }
        {{- if or .Values.extraCa.configMap .Values.extraCa.secret }}
        - { name: extra-ca, mountPath: /etc/static-export-ca, readOnly: true }
        {{- end }}
        {{- if .Values.defaultMirror.credentialsSecret }}
        - { name: default-mirror, mountPath: /etc/static-export-mirror, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}{{- toYaml . | nindent 8 }}{{- end }}
  volumes:
    - name: scratch
      {{- $limit := include "static-export-operator.scratchLimit" . }}
      emptyDir: {{ $limit | empty | ternary dict (dict "sizeLimit" $limit) | toJson }}
    {{- with .Values.extraCa.configMap }}
    - name: extra-ca
      configMap: { name: {{ . | quote }} }
    {{- end }}
    {{- with .Values.extraCa.secret }}
    - name: extra-ca
      secret: { secretName: {{ . | quote }} }
    {{- end }}
    {{- with .Values.defaultMirror.credentialsSecret }}
    - name: default-mirror
      # Without it the operator runs: links are refreshed, and each StaticExport says what its mirror lacks.
      secret: { secretName: {{ . | quote }}, optional: true }
    {{- end }}
    {{- with .Values.extraVolumes }}{{- toYaml . | nindent 4 }}{{- end }}
{{- end -}}

{{- /* What lies in the scratch folder counts as the container's: without a request, a node that runs out of disk would
     evict these pods first. */ -}}
{{- define "static-export-operator.resources" -}}
{{- $resources := deepCopy (.Values.resources | default dict) -}}
{{- $isNamed := or (dig "requests" "ephemeral-storage" "" $resources) (dig "limits" "ephemeral-storage" "" $resources) -}}
{{- if not $isNamed -}}
{{- $size := include "static-export-operator.scratchNeed" . -}}
{{- $resources = merge $resources (dict "requests" (dict "ephemeral-storage" $size)) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{- define "static-export-operator.args" -}}
- operator
- {{ printf "--admin-listen=%v:8081" .Values.listenHost | quote }}
- {{ printf "--lease-namespace=%v" .Release.Namespace | quote }}
- {{ printf "--lease-name=%v" (include "static-export-operator.fullname" .) | quote }}
- {{ printf "--lease-duration=%v" .Values.leaderElection.leaseDuration | quote }}
- {{ printf "--workers=%v" (int64 .Values.workers) | quote }}
- {{ printf "--request-timeout=%v" .Values.requestTimeout | quote }}
- {{ printf "--starts-per-hour=%v" (int64 .Values.startsPerHour) | quote }}
- {{ printf "--inspect-timeout=%v" .Values.inspection.timeout | quote }}
- {{ printf "--inspect-concurrency=%v" (int64 .Values.inspection.concurrency) | quote }}
- {{ printf "--max-archive-size=%v" .Values.inspection.maxArchiveSize | quote }}
- {{ printf "--max-bundle-size=%v" .Values.inspection.maxBundleSize | quote }}
- {{ printf "--log-level=%v" .Values.logLevel | quote }}
{{- with include "static-export-operator.apiBaseUrl" . }}
- {{ printf "--api-base-url=%v" . | quote }}
{{- end }}
{{- with include "static-export-operator.allowedApiHosts" . }}
- {{ printf "--allowed-api-hosts=%v" . | quote }}
{{- end }}
{{- with .Values.targets.git.allowedHosts }}
- {{ printf "--allowed-git-hosts=%v" (join "," .) | quote }}
{{- end }}
{{- if .Values.targets.git.allowPrivateHosts }}
- --allow-private-git-hosts
{{- end }}
{{- with .Values.notify.allowedHosts }}
- {{ printf "--allowed-notify-hosts=%v" (join "," .) | quote }}
{{- end }}
{{- include "static-export-operator.mirrorArgs" . }}
{{- with .Values.watchNamespaces }}
- {{ printf "--watch-namespaces=%v" (join "," .) | quote }}
{{- end }}
{{- with .Values.instance }}
- {{ printf "--instance=%v" . | quote }}
{{- end }}
{{- if include "static-export-operator.allowPrivateLinks" . }}
- --allow-private-links
{{- end }}
{{- if or .Values.extraCa.configMap .Values.extraCa.secret }}
- {{ printf "--extra-ca-file=/etc/static-export-ca/%v" .Values.extraCa.key | quote }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "static-export-operator.placement" -}}
{{- $selector := dict "matchLabels" (include "static-export-operator.selectorLabels" . | fromYaml) -}}
{{- $placement := dict -}}
{{- range $field := list "nodeSelector" "tolerations" "priorityClassName" "hostAliases" "imagePullSecrets" -}}
{{- with get $.Values $field }}{{ $_ := set $placement $field . }}{{ end -}}
{{- end -}}
{{- $term := dict "labelSelector" $selector "topologyKey" "kubernetes.io/hostname" -}}
{{- if .Values.affinity -}}
{{- $_ := set $placement "affinity" .Values.affinity -}}
{{- else if eq .Values.antiAffinity "hard" -}}
{{- $_ := set $placement "affinity" (dict "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term))) -}}
{{- else if eq .Values.antiAffinity "soft" -}}
{{- $preferred := dict "weight" 100 "podAffinityTerm" $term -}}
{{- $_ := set $placement "affinity" (dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list $preferred))) -}}
{{- end -}}
{{- $spread := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $spread = append $spread (merge (dict) . (dict "labelSelector" $selector)) -}}
{{- end -}}
{{- with $spread }}{{ $_ := set $placement "topologySpreadConstraints" . }}{{ end -}}
{{- with $placement }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- /* For the helpers of the release: the export service and the test. */ -}}
{{- define "static-export-operator.helperPlacement" -}}
{{- $placement := dict -}}
{{- range $field := list "nodeSelector" "tolerations" "hostAliases" "imagePullSecrets" -}}
{{- with get $.Values $field }}{{ $_ := set $placement $field . }}{{ end -}}
{{- end -}}
{{- with $placement }}{{ toYaml . }}{{ end -}}
{{- end -}}
