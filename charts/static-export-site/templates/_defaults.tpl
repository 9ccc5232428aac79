{{- /* Completes the values in place, so that templates read each one without asking whether it is there. Every template
     file begins with this. A value can be missing: `null` removes it, and with --reuse-values an older chart lacks it.
     files/defaults.yaml is generated: a map is a section, and a list holds what a value is in a section that is
     missing, and what it is where only the value is missing. */ -}}
{{- define "static-export-site.complete" -}}
{{- include "static-export-site.prune" .Values -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- include "static-export-site.rename" (dict "given" .Values "defaults" $defaults) -}}
{{- include "static-export-site.fill" (dict "given" .Values "defaults" $defaults "at" 1) -}}
{{- end -}}

{{- define "static-export-site.prune" -}}
{{- $given := . -}}
{{- range $key, $value := $given -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $given $key -}}
{{- else if kindIs "map" $value }}{{ include "static-export-site.prune" $value }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-site.fill" -}}
{{- range $key, $default := .defaults -}}
{{- $isMissing := not (hasKey $.given $key) -}}
{{- if kindIs "map" $default -}}
{{- if $isMissing }}{{ $_ := set $.given $key dict }}{{ end -}}
{{- include "static-export-site.fill" (dict "given" (get $.given $key) "defaults" $default "at" ($isMissing | ternary 0 $.at)) -}}
{{- else if $isMissing -}}
{{- $_ := set $.given $key (index $default $.at) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A value that older charts have by another name. --reuse-values brings it back. Its present name wins where it is set. */ -}}
{{- define "static-export-site.rename" -}}
{{- with $.given.server -}}
{{- if hasKey . "patience" -}}
{{- $default := first $.defaults.server.startupTimeout -}}
{{- if eq (toString (.startupTimeout | default $default)) (toString $default) }}{{ $_ := set . "startupTimeout" .patience }}{{ end -}}
{{- $_ := unset . "patience" -}}
{{- end -}}
{{- end -}}
{{- end -}}
