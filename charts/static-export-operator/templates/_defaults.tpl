{{- /* Completes the values in place, so that templates read each one without asking whether it is there. Every template
     file begins with this. A value can be missing: `null` removes it, and with --reuse-values an older chart lacks it.
     files/defaults.yaml is generated: a map is a section, and a list holds what a value is in a section that is
     missing, and what it is where only the value is missing. */ -}}
{{- define "static-export-operator.complete" -}}
{{- include "static-export-operator.prune" .Values -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- include "static-export-operator.rename" (dict "given" .Values "defaults" $defaults) -}}
{{- include "static-export-operator.fill" (dict "given" .Values "defaults" $defaults "at" 1) -}}
{{- end -}}

{{- define "static-export-operator.prune" -}}
{{- $given := . -}}
{{- range $key, $value := $given -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $given $key -}}
{{- else if kindIs "map" $value }}{{ include "static-export-operator.prune" $value }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-operator.fill" -}}
{{- range $key, $default := .defaults -}}
{{- $isMissing := not (hasKey $.given $key) -}}
{{- if kindIs "map" $default -}}
{{- if $isMissing }}{{ $_ := set $.given $key dict }}{{ end -}}
{{- include "static-export-operator.fill" (dict "given" (get $.given $key) "defaults" $default "at" ($isMissing | ternary 0 $.at)) -}}
{{- else if $isMissing -}}
{{- $_ := set $.given $key (index $default $.at) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A value that older charts have by another name. --reuse-values brings it back. Its present name wins where it is set. */ -}}
{{- define "static-export-operator.rename" -}}
{{- with $.given.monitoring -}}
{{- with .prometheusRule -}}
{{- if hasKey . "linkLifeLeftPercent" -}}
{{- $default := first $.defaults.monitoring.prometheusRule.linkRemainingPercent -}}
{{- if eq (toString (.linkRemainingPercent | default $default)) (toString $default) }}{{ $_ := set . "linkRemainingPercent" .linkLifeLeftPercent }}{{ end -}}
{{- $_ := unset . "linkLifeLeftPercent" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
