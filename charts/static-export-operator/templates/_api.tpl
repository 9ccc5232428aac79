{{- /* Which export API the operator speaks to, and where its links may lead. Set, or the export service's. */ -}}
{{- define "static-export-operator.serviceHost" -}}
{{ include "static-export-operator.serviceName" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "static-export-operator.serviceUrl" -}}
{{- $port := int .Values.exportService.service.port -}}
http://{{ include "static-export-operator.serviceHost" . }}{{ if ne $port 80 }}:{{ $port }}{{ end }}
{{- end -}}

{{- define "static-export-operator.apiBaseUrl" -}}
{{- if .Values.apiBaseUrl -}}{{ .Values.apiBaseUrl }}
{{- else if .Values.exportService.enabled -}}{{ include "static-export-operator.serviceUrl" . }}
{{- end -}}
{{- end -}}

{{- /* Comma-separated, in addition to the base URL. With two APIs at hand the service's is one of them. */ -}}
{{- define "static-export-operator.allowedApiHosts" -}}
{{- $hosts := .Values.allowedApiHosts | default list -}}
{{- if and .Values.apiBaseUrl .Values.exportService.enabled -}}
{{- $hosts = append $hosts (include "static-export-operator.serviceUrl" .) -}}
{{- end -}}
{{- uniq $hosts | join "," -}}
{{- end -}}

{{- define "static-export-operator.allowPrivateLinks" -}}
{{- if kindIs "bool" .Values.allowPrivateLinks -}}
{{- if .Values.allowPrivateLinks }}yes{{ end -}}
{{- else if .Values.exportService.enabled -}}yes
{{- end -}}
{{- end -}}

{{- /* Refused at render, in words that say what to do. */ -}}
{{- define "static-export-operator.check" -}}
{{- include "static-export-operator.checkLabels" . -}}
{{- include "static-export-operator.checkDurations" . -}}
{{- include "static-export-operator.checkMirrors" . -}}
{{- include "static-export-operator.checkScratch" . -}}
{{- $service := .Values.exportService -}}
{{- if $service.enabled -}}
{{- if and (not $service.keys.existingSecret) (not $service.keys.inline) -}}
{{- fail "exportService needs API keys. Set exportService.keys.existingSecret to a Secret whose key keys.txt holds one key a line (kubectl create secret generic export-service-keys --from-literal=keys.txt=…)" -}}
{{- end -}}
{{- if and $service.keys.existingSecret $service.keys.inline -}}
{{- fail "exportService.keys.existingSecret and exportService.keys.inline exclude each other: keep the Secret" -}}
{{- end -}}
{{- end -}}
{{- include "static-export-operator.checkWebhook" . -}}
{{- if and .Values.extraCa.configMap .Values.extraCa.secret -}}
{{- fail "extraCa.configMap and extraCa.secret exclude each other: put all CA certificates into one of them" -}}
{{- end -}}
{{- range .Values.targets.values -}}
{{- if or (not $.Values.watchNamespaces) (has .namespace $.Values.watchNamespaces) -}}
{{- fail (printf "targets.values names namespace %s, which the operator watches and has permissions in already; remove the entry" .namespace) -}}
{{- end -}}
{{- if not (or .configMaps .secrets) -}}
{{- fail (printf "targets.values for namespace %s names no object: list configMaps or secrets" .namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-operator.checkWebhook" -}}
{{- $webhook := .Values.webhook -}}
{{- if $webhook.enabled -}}
{{- if not $webhook.secretNames -}}
{{- fail "webhook.secretNames is empty: name the Secrets of spec.trigger.webhook.secretRef, because the receiver reads no others" -}}
{{- end -}}
{{- if and $webhook.admissionPolicy.create (semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail "webhook needs a ValidatingAdmissionPolicy, which Kubernetes has since 1.30: upgrade, or set webhook.admissionPolicy.create=false, which lets the receiver's account change every field of StaticExports" -}}
{{- end -}}
{{- if and $webhook.ingress.enabled (not $webhook.ingress.hosts) -}}
{{- fail "webhook.ingress.hosts is empty: name the host to which senders post" -}}
{{- end -}}
{{- if and $webhook.httpRoute.enabled (not $webhook.httpRoute.parentRefs) -}}
{{- fail "webhook.httpRoute.parentRefs is empty: name the Gateway" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* In KiB, of a size such as `512MiB` or `512Mi`. */ -}}
{{- define "static-export-operator.kibibytes" -}}
{{- $count := regexFind "^[0-9]+" . | int64 -}}
{{- get (dict "Ki" $count "Mi" (mul $count 1024) "Gi" (mul $count 1048576) "Ti" (mul $count 1073741824)) (regexFind "[A-Za-z]+$" . | trimSuffix "B") -}}
{{- end -}}

{{- /* In KiB, of any quantity of Kubernetes with a usual unit; empty for another one. */ -}}
{{- define "static-export-operator.quantityKibibytes" -}}
{{- $text := toString . -}}
{{- $factor := get (dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0) (regexFind "[A-Za-z]*$" $text) -}}
{{- if $factor }}{{ divf (mulf (regexFind "^[0-9.]+" $text | float64) $factor) 1024.0 | floor | int64 }}{{ end -}}
{{- end -}}

{{- /* The least size of the scratch folder: one archive, because most archives are read as a stream. With mirrors, each
     inspection may have its archive, its unpacked content, and a copy that no compression makes smaller. */ -}}
{{- define "static-export-operator.scratchNeed" -}}
{{- $archive := include "static-export-operator.kibibytes" .Values.inspection.maxArchiveSize | int64 -}}
{{- if include "static-export-operator.hasMirrors" . -}}
{{- $bundle := include "static-export-operator.kibibytes" .Values.inspection.maxBundleSize | int64 -}}
{{- $mebibytes := div (add (mul .Values.inspection.concurrency (add $archive $bundle $bundle)) 1023) 1024 -}}
{{- mod $mebibytes 1024 | eq 0 | ternary (printf "%dGi" (div $mebibytes 1024)) (printf "%dMi" $mebibytes) -}}
{{- else -}}{{ .Values.inspection.maxArchiveSize | trimSuffix "B" }}
{{- end -}}
{{- end -}}

{{- define "static-export-operator.scratchLimit" -}}
{{- if .Values.scratchSizeLimit }}{{ .Values.scratchSizeLimit }}
{{- else if include "static-export-operator.hasMirrors" . }}{{ include "static-export-operator.scratchNeed" . }}{{ end -}}
{{- end -}}

{{- /* The kubelet evicts a pod above its limit: the leader would go with the first large archive. */ -}}
{{- define "static-export-operator.checkScratch" -}}
{{- $need := include "static-export-operator.scratchNeed" . -}}
{{- $formula := include "static-export-operator.hasMirrors" . | empty | ternary
  "one archive of inspection.maxArchiveSize"
  "what inspections with mirrors may write, inspection.concurrency × (inspection.maxArchiveSize + 2 × inspection.maxBundleSize)" -}}
{{- $limits := dict "scratchSizeLimit" .Values.scratchSizeLimit "resources.limits.ephemeral-storage" (dig "limits" "ephemeral-storage" "" (.Values.resources | default dict)) -}}
{{- range $value, $limit := $limits -}}
{{- if kindIs "float64" $limit }}{{ $limit = int64 $limit }}{{ end -}}
{{- $found := include "static-export-operator.quantityKibibytes" $limit -}}
{{- if and $limit $found (lt (int64 $found) (include "static-export-operator.kibibytes" $need | int64)) -}}
{{- fail (printf "%s=%v has no room for %s, which is %s. Raise the first to %s, or lower the other values" $value $limit $formula $need $need) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of a duration such as `1.5h`, rounded as the program does. */ -}}
{{- define "static-export-operator.milliseconds" -}}
{{- $factor := get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) (regexFind "[a-z]+$" .) -}}
{{- round (mulf (regexFind "^[0-9.]+" . | float64) $factor) 0 | int64 -}}
{{- end -}}

{{- /* The operator would not start. */ -}}
{{- define "static-export-operator.checkDurations" -}}
{{- $lease := .Values.leaderElection.leaseDuration -}}
{{- if lt (include "static-export-operator.milliseconds" $lease | int64) 3000 -}}
{{- fail (printf "leaderElection.leaseDuration=%s is too short to be renewed in time: at least 3s" $lease) -}}
{{- end -}}
{{- range $value, $text := dict "requestTimeout" .Values.requestTimeout "inspection.timeout" .Values.inspection.timeout -}}
{{- if eq (include "static-export-operator.milliseconds" $text | int64) 0 -}}
{{- fail (printf "%s=%s is too short. Set a duration such as 30s" $value $text) -}}
{{- end -}}
{{- end -}}
{{- end -}}
