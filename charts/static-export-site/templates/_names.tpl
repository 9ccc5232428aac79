{{- /* Names and labels. Prefixed with the chart's name, because templates of all charts of a release share one
     name space. The full name leaves room for suffixes and for the revision hash of a StatefulSet's pods. */ -}}
{{- define "static-export-site.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "static-export-site.fullname" -}}
{{- $name := include "static-export-site.name" . -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $full := contains $name $release | ternary $release (printf "%s-%s" $release $name) -}}
{{- /* The name of a Service has no dots, and begins with a letter. */ -}}
{{- if not (regexMatch "^[a-z]" $full) }}{{ $full = printf "%s-%s" .Chart.Name $release }}{{ end -}}
{{- .Values.fullnameOverride | default $full | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "static-export-site.adminName" -}}{{ include "static-export-site.fullname" . }}-admin{{- end -}}
{{- define "static-export-site.peersName" -}}{{ include "static-export-site.fullname" . }}-peers{{- end -}}

{{- define "static-export-site.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "static-export-site.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "static-export-site.instanceLabels" -}}
app.kubernetes.io/name: {{ include "static-export-site.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- /* Of the pods that serve, and of no others: the test pod has another component. */ -}}
{{- define "static-export-site.selectorLabels" -}}
{{ include "static-export-site.instanceLabels" . }}
app.kubernetes.io/component: server
{{- end -}}

{{- /* Of every object but the pods: these change with the chart's version, and must not roll anything. */ -}}
{{- define "static-export-site.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63)
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" "static-export" -}}
{{ include "static-export-site.instanceLabels" . }}
{{ merge (dict) .Values.commonLabels $own | toYaml }}
{{- end -}}

{{- /* Of an object with labels of its own in the values: these, those of every object, and the chart's, in this order. */ -}}
{{- define "static-export-site.labelsWith" -}}
{{- merge (dict) (index . 1) (include "static-export-site.labels" (index . 0) | fromYaml) | toYaml -}}
{{- end -}}

{{- /* Labels that selectors and monitors go by: changed, a Service leads nowhere and a workload is refused. */ -}}
{{- define "static-export-site.checkLabels" -}}
{{- range $value, $labels := dict "commonLabels" .Values.commonLabels "server.podLabels" .Values.server.podLabels "conversations.podLabels" .Values.conversations.podLabels "tests.podLabels" .Values.tests.podLabels -}}
{{- range list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{- if hasKey $labels . -}}
{{- fail (printf "%s must not set %s: the chart's selectors use it. Remove it (nameOverride and fullnameOverride change names)" $value .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Whether a kind of the monitoring API is rendered. */ -}}
{{- define "static-export-site.hasKind" -}}
{{- $root := index . 0 -}}
{{- if or (eq $root.Values.monitoring.kinds "always") ($root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" (index . 1))) }}yes{{ end -}}
{{- end -}}

{{- /* `global.imageRegistry` stands before a repository that names no registry of its own. */ -}}
{{- define "static-export-site.image" -}}
{{- $registry := dig "imageRegistry" "" (.Values.global | default dict) | trimSuffix "/" -}}
{{- with .Values.server.image -}}
{{- $isBare := not (regexMatch "^([^/]*[.:][^/]*|localhost)/" .repository) -}}
{{- $repository := and (ne $registry "") $isBare | ternary (printf "%s/%s" $registry .repository) .repository -}}
{{- if .digest -}}{{ printf "%s@%s" $repository .digest }}
{{- else -}}{{ printf "%s:%s" $repository (.tag | default $.Chart.AppVersion) }}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of a pod: what selectors go by, its own labels of the values, and `commonLabels`. Nothing that follows the chart's version. */ -}}
{{- define "static-export-site.podLabels" -}}
{{- merge (dict) (index . 1 | fromYaml) (index . 2) (index . 0).Values.commonLabels | toYaml -}}
{{- end -}}
