{{- /* The pod of a server, one for the Deployment and the StatefulSet. No link, and under `Swap` no version: what
     changes with content must not change this template. */ -}}
{{- define "static-export-site.pod" -}}
metadata:
  labels: {{- include "static-export-site.podLabels" (list . (include "static-export-site.selectorLabels" .) .Values.server.podLabels) | nindent 4 }}
  {{- $annotations := deepCopy .Values.server.podAnnotations }}
  {{- $version := include "static-export-site.version" . }}
  {{- if and (eq .Values.rollout "Restart") $version }}
  {{- $_ := set $annotations "staticexport.dev/version" $version }}
  {{- end }}
  {{- with $annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "static-export-site.serviceAccountName" . | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .Values.server.drain.lingerSeconds .Values.server.drain.graceSeconds 10 }}
  securityContext: {{- include "static-export-site.podSecurityContext" . | nindent 4 }}
  {{- include "static-export-site.placement" . | nindent 2 }}
  containers:
    - name: bundle-server
      image: {{ include "static-export-site.image" . | quote }}
      imagePullPolicy: {{ .Values.server.image.pullPolicy | quote }}
      args: {{- include "static-export-site.args" . | nindent 8 }}
      {{- $env := list }}
      {{- if .Values.persistence.existingClaim }}
      {{- $env = append $env (dict "name" "POD_NAME" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name"))) }}
      {{- end }}
      {{- with concat $env .Values.server.extraEnv }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: admin, containerPort: 9090 }
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      resources: {{- include "static-export-site.resources" . | nindent 8 }}
      securityContext: {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        # Whole: a key mounted alone (subPath) would never see a fresh link.
        - { name: source, mountPath: /etc/static-export, readOnly: true }
        - { name: store, mountPath: /var/lib/static-export }
        {{- if or .Values.server.extraCa.configMap .Values.server.extraCa.secret }}
        - { name: extra-ca, mountPath: /etc/static-export-ca, readOnly: true }
        {{- end }}
        {{- if .Values.server.mirror.credentialsSecret }}
        - { name: mirror-credentials, mountPath: /etc/static-export-mirror, readOnly: true }
        {{- end }}
        {{- if and .Values.server.mcp.enabled .Values.server.mcp.tokenSecret }}
        - { name: mcp-token, mountPath: /etc/static-export-mcp, readOnly: true }
        {{- end }}
        {{- with .Values.server.extraVolumeMounts }}{{- toYaml . | nindent 8 }}{{- end }}
  volumes:
    - name: source
      secret:
        secretName: {{ include "static-export-site.sourceSecret" . | quote }}
        # The pod may start before the operator has published anything, and outlives the Secret.
        optional: true
    {{- if .Values.persistence.existingClaim }}
    - name: store
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim | quote }}
    {{- else if not .Values.persistence.enabled }}
    - name: store
      emptyDir:
        sizeLimit: {{ include "static-export-site.storeSize" . | quote }}
    {{- end }}
    {{- with .Values.server.extraCa.configMap }}
    - name: extra-ca
      configMap: { name: {{ . | quote }} }
    {{- end }}
    {{- with .Values.server.extraCa.secret }}
    - name: extra-ca
      secret: { secretName: {{ . | quote }} }
    {{- end }}
    {{- with .Values.server.mirror.credentialsSecret }}
    - name: mirror-credentials
      # Whole and again at every copy: rotated credentials need no restart.
      secret: { secretName: {{ . | quote }}, optional: true }
    {{- end }}
    {{- if and .Values.server.mcp.enabled .Values.server.mcp.tokenSecret }}
    - name: mcp-token
      # Whole: a token that is replaced needs no restart.
      secret: { secretName: {{ .Values.server.mcp.tokenSecret | quote }} }
    {{- end }}
    {{- with .Values.server.extraVolumes }}{{- toYaml . | nindent 4 }}{{- end }}
{{- end -}}

{{- define "static-export-site.args" -}}
{{- $server := .Values.server -}}
- bundle-server
- --bundle-file=/etc/static-export/bundle.json
- --store=/var/lib/static-export{{ if .Values.persistence.existingClaim }}/$(POD_NAME){{ end }}
- {{ printf "--listen=%v:8080" $server.listenHost | quote }}
- {{ printf "--admin-listen=%v:9090" $server.listenHost | quote }}
- {{ printf "--deployment-type=%v" .Values.site.deploymentType | quote }}
{{- with .Values.site.basePath }}
- {{ printf "--base-path=%v" . | quote }}
{{- end }}
{{- with .Values.site.serveDotfiles }}
- {{ printf "--serve-dotfiles=%s" (join "," .) | replace "$(" "$$(" | quote }}
{{- end }}
{{- range $name, $value := .Values.site.headers }}
- {{ printf "--header=%s: %s" $name $value | replace "$(" "$$(" | quote }}
{{- end }}
- {{ printf "--readiness=%v" $server.readiness | quote }}
- {{ printf "--keep=%v" (int64 $server.keep) | quote }}
- {{ printf "--max-bundle-size=%vB" $server.maxBundleSize | quote }}
- {{ printf "--max-archive-size=%vB" $server.maxBundleSize | quote }}
{{- with $server.memoryBudget }}
- {{ printf "--memory-budget=%vB" . | quote }}
{{- end }}
{{- if $server.search.enabled }}
- --search
{{- end }}
{{- if $server.markdown.enabled }}
- --markdown
{{- end }}
{{- with $server.keepAliveTimeout }}
- {{ printf "--keep-alive-timeout=%v" . | quote }}
{{- end }}
- {{ printf "--poll-interval=%v" $server.pollInterval | quote }}
- {{ printf "--startup-timeout=%v" $server.startupTimeout | quote }}
- {{ printf "--drain-linger=%vs" (int64 $server.drain.lingerSeconds) | quote }}
- {{ printf "--drain-grace=%vs" (int64 $server.drain.graceSeconds) | quote }}
- {{ printf "--log-level=%v" $server.logLevel | quote }}
{{- if not $server.insights }}
- --insights=false
{{- end }}
{{- with $server.mcp }}
{{- if .enabled }}
- --mcp
- {{ printf "--mcp-hosts=%v" (include "static-export-site.agentHosts" $) | quote }}
- {{ printf "--mcp-rate=%v" (int64 .callsPerMinute) | quote }}
{{- if .tokenSecret }}
- {{ printf "--mcp-token-file=/etc/static-export-mcp/%v" .tokenKey | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if $server.allowPrivateLinks }}
- --allow-private-links
- --allow-file-links
{{- end }}
{{- with $server.mirror }}
{{- if .credentialsSecret }}
- --mirror-credentials=/etc/static-export-mirror
{{- end }}
{{- with .endpoint }}
- {{ printf "--mirror-endpoint=%v" . | quote }}
{{- end }}
{{- with .region }}
- {{ printf "--mirror-region=%v" . | quote }}
{{- end }}
{{- if .pathStyle }}
- --mirror-path-style
{{- end }}
{{- if .allowPrivate }}
- --allow-private-mirror
{{- end }}
{{- if .allowHttp }}
- --allow-http-mirror
{{- end }}
{{- end }}
{{- if or $server.extraCa.configMap $server.extraCa.secret }}
- {{ printf "--extra-ca-file=/etc/static-export-ca/%v" $server.extraCa.key | quote }}
{{- end }}
{{- if .Values.peers.enabled }}
- {{ printf "--peers=%v" (include "static-export-site.peersName" .) | quote }}
{{- end }}
{{- with $server.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Names under which agents reach the site. Those of the Service are without TLS. */ -}}
{{- define "static-export-site.agentHosts" -}}
{{- $name := include "static-export-site.fullname" . -}}
{{- $inside := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := concat .Values.server.mcp.hosts (.Values.ingress.enabled | ternary .Values.ingress.hosts list) (.Values.httpRoute.enabled | ternary .Values.httpRoute.hostnames list) -}}
{{- range list $name $inside (printf "%s.svc" $inside) (printf "%s.svc.cluster.local" $inside) -}}
{{- $hosts = append $hosts (printf "http://%s" .) -}}
{{- end -}}
{{- $hosts | uniq | join "," -}}
{{- end -}}

{{- define "static-export-site.placement" -}}
{{- $selector := dict "matchLabels" (include "static-export-site.selectorLabels" . | fromYaml) -}}
{{- $placement := dict -}}
{{- range $field := list "nodeSelector" "tolerations" "priorityClassName" "hostAliases" "imagePullSecrets" -}}
{{- with get $.Values.server $field }}{{ $_ := set $placement $field . }}{{ end -}}
{{- end -}}
{{- $term := dict "labelSelector" $selector "topologyKey" "kubernetes.io/hostname" -}}
{{- if .Values.server.affinity -}}
{{- $_ := set $placement "affinity" .Values.server.affinity -}}
{{- else if eq .Values.server.antiAffinity "hard" -}}
{{- $_ := set $placement "affinity" (dict "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term))) -}}
{{- else if eq .Values.server.antiAffinity "soft" -}}
{{- $preferred := dict "weight" 100 "podAffinityTerm" $term -}}
{{- $_ := set $placement "affinity" (dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list $preferred))) -}}
{{- end -}}
{{- $spread := list -}}
{{- range .Values.server.topologySpreadConstraints -}}
{{- $spread = append $spread (merge (dict) . (dict "labelSelector" $selector)) -}}
{{- end -}}
{{- with $spread }}{{ $_ := set $placement "topologySpreadConstraints" . }}{{ end -}}
{{- with $placement }}{{ toYaml . }}{{ end -}}
{{- end -}}
