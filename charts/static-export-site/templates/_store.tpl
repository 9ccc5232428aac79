{{- /* The store's size: (keep + 3) × the largest bundle. `keep` versions stay, one is being prepared, its archive lies
     next to it where it is a zip, and a reader may still hold a version that was removed; the server refuses anything
     larger, so the volume cannot overflow. */ -}}
{{- define "static-export-site.storeSize" -}}
{{- if .Values.persistence.size -}}{{ .Values.persistence.size }}
{{- else -}}
{{- $unit := regexFind "[A-Za-z]+$" .Values.server.maxBundleSize -}}
{{- $count := regexFind "^[0-9]+" .Values.server.maxBundleSize | int64 -}}
{{- printf "%d%s" (mul $count (add .Values.server.keep 3)) $unit -}}
{{- end -}}
{{- end -}}

{{- /* A `sizeLimit` reserves nothing. Without a request, a node that runs out of disk would evict these pods first. */ -}}
{{- define "static-export-site.resources" -}}
{{- $resources := deepCopy (.Values.server.resources | default dict) -}}
{{- $isNamed := or (dig "requests" "ephemeral-storage" "" $resources) (dig "limits" "ephemeral-storage" "" $resources) -}}
{{- if not (or .Values.persistence.enabled $isNamed) -}}
{{- $resources = merge $resources (dict "requests" (dict "ephemeral-storage" (include "static-export-site.storeSize" .))) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{- define "static-export-site.mebibytes" -}}
{{- $count := regexFind "^[0-9]+" . | int64 -}}
{{- get (dict "Mi" $count "Gi" (mul $count 1024) "Ti" (mul $count 1048576)) (regexFind "[A-Za-z]+$" .) -}}
{{- end -}}

{{- define "static-export-site.checkStore" -}}
{{- if .Values.persistence.size -}}
{{- $need := mul (include "static-export-site.mebibytes" .Values.server.maxBundleSize | int64) (add .Values.server.keep 3) -}}
{{- if lt (include "static-export-site.mebibytes" .Values.persistence.size | int64) $need -}}
{{- fail (printf "persistence.size=%s is too small: the store may need %dMi, which is (server.keep + 3) × server.maxBundleSize. Leave persistence.size empty, or lower one of the two" .Values.persistence.size $need) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.persistence.enabled (not .Values.persistence.existingClaim) -}}
{{- include "static-export-site.checkClaims" . -}}
{{- end -}}
{{- if and .Values.persistence.existingClaim (not .Values.persistence.enabled) -}}
{{- fail "persistence.existingClaim needs persistence.enabled=true" -}}
{{- end -}}
{{- end -}}

{{- /* Kubernetes would refuse this with a list of fields; here with what to do. Only where helm sees the cluster. */ -}}
{{- define "static-export-site.checkClaims" -}}
{{- $name := include "static-export-site.fullname" . -}}
{{- $found := lookup "apps/v1" "StatefulSet" .Release.Namespace $name -}}
{{- range dig "spec" "volumeClaimTemplates" list $found -}}
{{- $size := .spec.resources.requests.storage -}}
{{- $wanted := include "static-export-site.storeSize" $ -}}
{{- if ne (include "static-export-site.mebibytes" $size) (include "static-export-site.mebibytes" $wanted) -}}
{{- fail (printf "the volumes of StatefulSet %s were made with %s, and these values ask for %s, which Kubernetes cannot change. Keep the size, or run: kubectl --namespace %s delete statefulset %s --cascade=orphan (pods and volumes stay), and upgrade again" $name $size $wanted $.Release.Namespace $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A volume of the cluster belongs to root until a group is named; on OpenShift the namespace names it. */ -}}
{{- define "static-export-site.podSecurityContext" -}}
{{- $context := deepCopy .Values.podSecurityContext -}}
{{- $isOpenShift := .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- if and .Values.persistence.enabled .Values.persistence.fsGroup (not $isOpenShift) (not (hasKey $context "fsGroup")) -}}
{{- $context = merge $context (dict "fsGroup" (int64 .Values.persistence.fsGroup) "fsGroupChangePolicy" "OnRootMismatch") -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}
