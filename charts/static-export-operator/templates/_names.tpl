{{- /* Names and labels. Prefixed with the chart's name, because templates of all charts of a release share one
     name space. The full name leaves room for suffixes. */ -}}
{{- define "static-export-operator.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{- define "static-export-operator.fullname" -}}
{{- $name := include "static-export-operator.name" . -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $full := contains $name $release | ternary $release (printf "%s-%s" $release $name) -}}
{{- /* The name of a Service has no dots, and begins with a letter. */ -}}
{{- if not (regexMatch "^[a-z]" $full) }}{{ $full = printf "%s-%s" .Chart.Name $release }}{{ end -}}
{{- .Values.fullnameOverride | default $full | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{- define "static-export-operator.adminName" -}}{{ include "static-export-operator.fullname" . }}-admin{{- end -}}
{{- define "static-export-operator.testName" -}}{{ include "static-export-operator.fullname" . }}-test{{- end -}}
{{- define "static-export-operator.serviceName" -}}{{ include "static-export-operator.fullname" . }}-export-service{{- end -}}

{{- define "static-export-operator.serviceAdminName" -}}{{ include "static-export-operator.fullname" . }}-export-admin{{- end -}}

{{- define "static-export-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "static-export-operator.fullname" .) -}}
{{- else -}}
{{- required "serviceAccount.name is required when serviceAccount.create is false: the operator needs an account with permissions" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* Of the operator's pods alone: other pods of the release have another name, because a Deployment's selector can
     never be changed again. */ -}}
{{- define "static-export-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "static-export-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "static-export-operator.serviceSelectorLabels" -}}
app.kubernetes.io/name: {{ printf "%v-export-service" (include "static-export-operator.name" .) | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "static-export-operator.webhookName" -}}{{ include "static-export-operator.fullname" . }}-webhook{{- end -}}

{{- define "static-export-operator.webhookSelectorLabels" -}}
app.kubernetes.io/name: {{ printf "%v-webhook" (include "static-export-operator.name" .) | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "static-export-operator.testLabels" -}}
app.kubernetes.io/name: {{ printf "%v-test" (include "static-export-operator.name" .) | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- /* Of every object but the pods: these change with the chart's version, and must not roll anything. */ -}}
{{- define "static-export-operator.commonLabels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63)
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" "static-export" -}}
{{- merge (dict) .Values.commonLabels $own | toYaml -}}
{{- end -}}

{{- /* Of an object with labels of its own in the values: these, those of every object, and the chart's, in this order. */ -}}
{{- define "static-export-operator.labelsWith" -}}
{{- merge (dict) (index . 1) (include "static-export-operator.labels" (index . 0) | fromYaml) | toYaml -}}
{{- end -}}

{{- /* Labels that selectors and monitors go by: changed, a Service leads nowhere and a workload is refused. */ -}}
{{- define "static-export-operator.checkLabels" -}}
{{- range $value, $labels := dict "commonLabels" .Values.commonLabels "podLabels" .Values.podLabels "exportService.podLabels" .Values.exportService.podLabels "webhook.podLabels" .Values.webhook.podLabels "tests.podLabels" .Values.tests.podLabels -}}
{{- range list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{- if hasKey $labels . -}}
{{- fail (printf "%s must not set %s: the chart's selectors use it. Remove it (nameOverride and fullnameOverride change names)" $value .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-operator.labels" -}}
{{ include "static-export-operator.selectorLabels" . }}
{{ include "static-export-operator.commonLabels" . }}
{{- end -}}

{{- /* `global.imageRegistry` stands before a repository that names no registry of its own. */ -}}
{{- define "static-export-operator.image" -}}
{{- $registry := dig "imageRegistry" "" (.Values.global | default dict) | trimSuffix "/" -}}
{{- with .Values.image -}}
{{- $isBare := not (regexMatch "^([^/]*[.:][^/]*|localhost)/" .repository) -}}
{{- $repository := and (ne $registry "") $isBare | ternary (printf "%s/%s" $registry .repository) .repository -}}
{{- if .digest -}}{{ printf "%s@%s" $repository .digest }}
{{- else -}}{{ printf "%s:%s" $repository (.tag | default $.Chart.AppVersion) }}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Whether a kind of the monitoring API is rendered. */ -}}
{{- define "static-export-operator.hasKind" -}}
{{- $root := index . 0 -}}
{{- if or (eq $root.Values.monitoring.kinds "always") ($root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" (index . 1))) }}yes{{ end -}}
{{- end -}}

{{- /* Of a pod: what selectors go by, its own labels of the values, and `commonLabels`. Nothing that follows the chart's version. */ -}}
{{- define "static-export-operator.podLabels" -}}
{{- merge (dict) (index . 1 | fromYaml) (index . 2) (index . 0).Values.commonLabels | toYaml -}}
{{- end -}}
