{{- /* Top-level values that this chart does not know. They are let through, because a parent chart may set
     `enabled`, `global` or more; but a mistyped one is worth a word. */ -}}
{{- define "static-export-site.unknownValues" -}}
{{- $known := list "staticExport" "export" "site" "rollout" "server" "persistence" "peers" "service" "ingress"
  "httpRoute" "networkPolicy" "pdb" "monitoring" "serviceAccount" "podSecurityContext" "securityContext" "tests"
  "extraObjects" "commonLabels" "nameOverride" "fullnameOverride" "global" "enabled" "tags" -}}
{{- $unknown := list -}}
{{- range $key, $value := .Values }}{{ if not (has $key $known) }}{{ $unknown = append $unknown $key }}{{ end }}{{ end -}}
{{- join ", " (sortAlpha $unknown) -}}
{{- end -}}
