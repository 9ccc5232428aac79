{{- /* Completes the values in place, so that templates read each one without asking whether it is there. Every template
     file begins with this. A value can be missing: `null` removes it, and with --reuse-values an older chart lacks it.
     files/defaults.yaml is generated: a map is a section, and a list holds what a value is in a section that is
     missing, and what it is where only the value is missing. */ -}}
{{- define "static-export-operator.complete" -}}
{{- include "static-export-operator.prune" .Values -}}
{{- include "static-export-operator.fill" (dict "given" .Values "defaults" (.Files.Get "files/defaults.yaml" | fromYaml) "at" 1) -}}
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
