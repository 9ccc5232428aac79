{{- /* The export of conversations: names, what it needs, and its pod. The words of visitors are on its volume only: no
     port, log, metric or status has them. */ -}}
{{- define "static-export-site.conversationsName" -}}{{ include "static-export-site.fullname" . | trunc 38 | trimSuffix "-" }}-conversations{{- end -}}

{{- define "static-export-site.conversationsLabels" -}}
{{ include "static-export-site.instanceLabels" . }}
app.kubernetes.io/component: conversations
{{- end -}}

{{- define "static-export-site.conversationsApi" -}}
{{- .Values.conversations.apiBaseUrl | default .Values.export.api.baseUrl -}}
{{- end -}}

{{- define "static-export-site.checkConversations" -}}
{{- $own := .Values.conversations -}}
{{- if not $own.project -}}
{{- fail "conversations.enabled needs conversations.project: the project whose conversations are exported" -}}
{{- end -}}
{{- if not (include "static-export-site.conversationsApi" .) -}}
{{- fail "conversations.enabled needs conversations.apiBaseUrl or export.api.baseUrl: the export API" -}}
{{- end -}}
{{- if not $own.keySecretRef.name -}}
{{- fail "conversations.enabled needs conversations.keySecretRef.name: a Secret with an admin API key" -}}
{{- end -}}
{{- if and $own.report.enabled (not (has $own.format (list "ndjson" "sqlite"))) -}}
{{- fail (printf "conversations.format=%s has no report, because conversations.report reads ndjson and sqlite: set conversations.report.enabled=false" $own.format) -}}
{{- end -}}
{{- if and .Values.export.create (eq $own.keySecretRef.name (.Values.export.api.keySecretRef.name | default "")) -}}
{{- fail "conversations.keySecretRef.name must not be the Secret of export.api.keySecretRef: use a key of its own, so that one can be withdrawn without the other, and each has its own budget" -}}
{{- end -}}
{{- end -}}

{{- /* A volume of the cluster belongs to root until a group is named; on OpenShift the namespace names it. */ -}}
{{- define "static-export-site.conversationsSecurityContext" -}}
{{- $context := deepCopy .Values.podSecurityContext -}}
{{- $isOpenShift := .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- $group := .Values.conversations.persistence.fsGroup -}}
{{- if and $group (not $isOpenShift) (not (hasKey $context "fsGroup")) -}}
{{- $context = merge $context (dict "fsGroup" (int64 $group) "fsGroupChangePolicy" "OnRootMismatch") -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{- define "static-export-site.conversationsArgs" -}}
{{- $own := .Values.conversations -}}
- static-export
- conversations
- export
- {{ printf "--api-base-url=%v" (include "static-export-site.conversationsApi" .) | quote }}
- {{ printf "--project=%v" $own.project | quote }}
- {{ printf "--key-file=/etc/static-export-conversations/%v" $own.keySecretRef.key | quote }}
- --to=/var/lib/conversations/turns
- --state=/var/lib/conversations/state
- {{ printf "--format=%v" $own.format | quote }}
- {{ printf "--since=%v" $own.since | quote }}
- {{ printf "--look-back=%v" $own.lookBack | quote }}
- {{ printf "--budget=%v" $own.budget | quote }}
- {{ printf "--max-wait=%v" $own.maxWait | quote }}
{{- if or .Values.server.extraCa.configMap .Values.server.extraCa.secret }}
- {{ printf "--extra-ca-file=/etc/static-export-ca/%v" .Values.server.extraCa.key | quote }}
{{- end }}
{{- if $own.dropResponse }}
- --drop-response
{{- end }}
{{- with $own.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "static-export-site.conversationsPod" -}}
{{- $own := .Values.conversations -}}
metadata:
  labels: {{- include "static-export-site.podLabels" (list . (include "static-export-site.conversationsLabels" .) $own.podLabels) | nindent 4 }}
  {{- with $own.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # The next run continues where a failed one ended.
  restartPolicy: Never
  serviceAccountName: {{ include "static-export-site.serviceAccountName" . | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext: {{- include "static-export-site.conversationsSecurityContext" . | nindent 4 }}
  {{- $placement := dict }}
  {{- range $field := list "nodeSelector" "tolerations" "priorityClassName" "hostAliases" "imagePullSecrets" }}
  {{- with get $.Values.server $field }}{{ $_ := set $placement $field . }}{{ end }}
  {{- end }}
  {{- with $placement }}{{ toYaml . | nindent 2 }}{{ end }}
  {{ if $own.report.enabled }}initContainers{{ else }}containers{{ end }}:
    - name: export
      image: {{ include "static-export-site.image" . | quote }}
      imagePullPolicy: {{ .Values.server.image.pullPolicy | quote }}
      args: {{- include "static-export-site.conversationsArgs" . | nindent 8 }}
      env:
        # The record of requests that the budget counts. It must outlive a run.
        - { name: XDG_STATE_HOME, value: /var/lib/conversations/home }
        {{- with $own.extraEnv }}{{- toYaml . | nindent 8 }}{{- end }}
      resources: {{- toYaml $own.resources | nindent 8 }}
      securityContext: {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        - { name: key, mountPath: /etc/static-export-conversations, readOnly: true }
        - { name: data, mountPath: /var/lib/conversations }
        - { name: temporary, mountPath: /tmp }
        {{- if or .Values.server.extraCa.configMap .Values.server.extraCa.secret }}
        - { name: extra-ca, mountPath: /etc/static-export-ca, readOnly: true }
        {{- end }}
  {{- if $own.report.enabled }}
  containers:
    # After the export. What it prints has counts and no words of visitors.
    - name: gaps
      image: {{ include "static-export-site.image" . | quote }}
      imagePullPolicy: {{ .Values.server.image.pullPolicy | quote }}
      args:
        - static-export
        - conversations
        - gaps
        - --from=/var/lib/conversations/turns
        - {{ printf "--project=%v" $own.project | quote }}
        - --to=/var/lib/conversations/reports
        {{- with $own.report.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources: {{- toYaml $own.resources | nindent 8 }}
      securityContext: {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /var/lib/conversations }
        - { name: temporary, mountPath: /tmp }
  {{- end }}
  volumes:
    - name: key
      secret:
        secretName: {{ $own.keySecretRef.name | quote }}
        items:
          - { key: {{ $own.keySecretRef.key | quote }}, path: {{ $own.keySecretRef.key | quote }} }
    - name: data
      persistentVolumeClaim:
        claimName: {{ $own.persistence.existingClaim | default (include "static-export-site.conversationsName" .) | quote }}
    - name: temporary
      emptyDir: { sizeLimit: 64Mi }
    {{- with .Values.server.extraCa.configMap }}
    - name: extra-ca
      configMap: { name: {{ . | quote }} }
    {{- end }}
    {{- with .Values.server.extraCa.secret }}
    - name: extra-ca
      secret: { secretName: {{ . | quote }} }
    {{- end }}
{{- end -}}
