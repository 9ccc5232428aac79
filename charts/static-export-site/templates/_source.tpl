{{- /* What is served: the sources, the one that was chosen, and the words for a choice that cannot stand.
     Nothing here repeats a link, because failures end up in logs. */ -}}
{{- define "static-export-site.exportName" -}}
{{- .Values.export.name | default (include "static-export-site.fullname" .) -}}
{{- end -}}

{{- define "static-export-site.outputName" -}}
{{- dig "output" "name" "" .Values.export | default (printf "%s-bundle" (include "static-export-site.exportName" .)) -}}
{{- end -}}

{{- /* The Secret that is mounted. */ -}}
{{- define "static-export-site.sourceSecret" -}}
{{- if .Values.staticExport.existingSecret -}}{{ .Values.staticExport.existingSecret }}
{{- else if .Values.export.create -}}{{ include "static-export-site.outputName" . }}
{{- else -}}{{ include "static-export-site.fullname" . }}-link
{{- end -}}
{{- end -}}

{{- /* Helm reads a number of a values file as a float: 20260101 must not become 2.0260101e+07. */ -}}
{{- define "static-export-site.version" -}}
{{- $version := .Values.staticExport.version -}}
{{- if kindIs "float64" $version -}}{{ int64 $version }}{{- else if not (kindIs "invalid" $version) -}}{{ $version }}{{- end -}}
{{- end -}}

{{- /* A link read from a file (`--set-file`) ends with the file's newline. */ -}}
{{- define "static-export-site.link" -}}
{{- .Values.staticExport.bundleUrl | default "" | trim -}}
{{- end -}}

{{- /* The path of the site, without a trailing slash: of the values, or of the StaticExport of this release. Empty for the
     root, and where only the export names one. */ -}}
{{- define "static-export-site.basePath" -}}
{{- $own := .Values.site.basePath -}}
{{- $exported := ternary (dig "api" "basePath" nil .Values.export) nil .Values.export.create -}}
{{- if and $own (not (kindIs "invalid" $exported)) (ne (trimSuffix "/" $own) (toString $exported)) -}}
{{- fail (printf "site.basePath=%s differs from export.api.basePath=%q, for which the site is exported: every link of its pages would lead to nothing. Set site.basePath to the empty text (--set site.basePath=)" $own (toString $exported)) -}}
{{- end -}}
{{- trimSuffix "/" ($own | default (toString ($exported | default ""))) -}}
{{- end -}}

{{- define "static-export-site.checkSource" -}}
{{- $link := include "static-export-site.link" . -}}
{{- $chosen := list -}}
{{- if $link }}{{ $chosen = append $chosen "staticExport.bundleUrl" }}{{ end -}}
{{- if .Values.staticExport.ref }}{{ $chosen = append $chosen "staticExport.ref" }}{{ end -}}
{{- if .Values.staticExport.existingSecret }}{{ $chosen = append $chosen "staticExport.existingSecret" }}{{ end -}}
{{- if .Values.export.create }}{{ $chosen = append $chosen "export.create" }}{{ end -}}
{{- if not $chosen -}}
{{- fail "nothing to serve. Set one of: staticExport.bundleUrl (a plain link to an archive), staticExport.ref with staticExport.digest (a copy in a mirror), staticExport.existingSecret (the output Secret of a StaticExport, <name>-bundle), or export.create=true with export.domain and export.api.keySecretRef.name (a StaticExport of this release)" -}}
{{- end -}}
{{- if gt (len $chosen) 1 -}}
{{- fail (printf "%s exclude each other: each says what to serve. Keep one of them" (join " and " $chosen)) -}}
{{- end -}}
{{- if and .Values.staticExport.ref (not .Values.staticExport.digest) -}}
{{- fail "staticExport.ref needs staticExport.digest: the digest of the content, as `static-export bundle inspect` and status.active.digest show it" -}}
{{- end -}}
{{- if $link -}}
{{- if has (lower $link) (list "null" "undefined" "none" "nil") -}}
{{- fail (printf "staticExport.bundleUrl is the text %q: the command that should have written the link failed. Look at its output, and keep the old value until it succeeds" $link) -}}
{{- end -}}
{{- if not (regexMatch "^(https?://[^/\\s]+|file:///)\\S*$" $link) -}}
{{- fail "staticExport.bundleUrl must be one absolute link that begins with https://, http:// or file:///, without blanks (its value is not shown here, because it may be a secret)" -}}
{{- end -}}
{{- if and (hasPrefix "file:" $link) (not .Values.server.allowPrivateLinks) -}}
{{- fail "staticExport.bundleUrl leads to a file of the pod: set server.allowPrivateLinks=true, and bring the file in by server.extraVolumes and server.extraVolumeMounts" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-site.checkExport" -}}
{{- if .Values.export.create -}}
{{- if not (or .Values.export.domain (dig "api" "projectId" "" .Values.export)) -}}
{{- fail "export.create needs export.domain (a bare host name such as docs.example.com) or export.api.projectId" -}}
{{- end -}}
{{- if and (not (kindIs "invalid" (dig "api" "basePath" nil .Values.export))) (not (dig "api" "projectId" "" .Values.export)) -}}
{{- fail "export.api.basePath needs export.api.projectId: only the project-scoped form of the export API has it" -}}
{{- end -}}
{{- if not (dig "api" "keySecretRef" "name" "" .Values.export) -}}
{{- fail "export.create needs export.api.keySecretRef.name: a Secret in the release's namespace with the admin API key" -}}
{{- end -}}
{{- $largest := dig "promotion" "maxBundleSize" "" .Values.export -}}
{{- if and $largest .Values.staticExport.enabled (gt (include "static-export-site.mebibytes" $largest | int64) (include "static-export-site.mebibytes" .Values.server.maxBundleSize | int64)) -}}
{{- fail (printf "export.promotion.maxBundleSize=%s lets through what the servers reject by server.maxBundleSize=%s. Raise server.maxBundleSize, or remove export.promotion.maxBundleSize." $largest .Values.server.maxBundleSize) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The feature table of the export API, one row a feature: Cloud, ClientHosted, AirGapped. */ -}}
{{- define "static-export-site.checkFeatures" -}}
{{- $types := list "Cloud" "ClientHosted" "AirGapped" -}}
{{- $table := dict
  "documentationSearch" (list "Documentation search" "available" "Configurable" "unavailable")
  "aiAssistant" (list "AI assistant" "available" "Configurable" "unavailable")
  "webAnalytics" (list "Web analytics" "available" "Configurable" "unavailable")
  "apiPlayground" (list "API playground (try it)" "available" "available" "Configurable") -}}
{{- range $feature, $isWanted := .Values.site.features -}}
{{- $row := get $table $feature -}}
{{- $isMade := and (eq $feature "documentationSearch") $.Values.server.search.enabled -}}
{{- range $at, $type := $types -}}
{{- if and $isWanted (not $isMade) (eq $type $.Values.site.deploymentType) (eq (index $row (add1 $at | int)) "unavailable") -}}
{{- fail (printf "site.features.%s=true is not available with site.deploymentType=%s. The feature table says:\n| Feature | Cloud | Client-hosted | Air-gapped |\n| %s |%s" $feature $type (join " | " $row) (eq $feature "documentationSearch" | ternary "\nThe servers can make a search of their own: set server.search.enabled=true." "")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Every check of the values, for the one template that is always rendered. */ -}}
{{- define "static-export-site.check" -}}
{{- include "static-export-site.checkLabels" . -}}
{{- include "static-export-site.checkExport" . -}}
{{- if .Values.staticExport.enabled -}}
{{- include "static-export-site.checkSource" . -}}
{{- include "static-export-site.checkFeatures" . -}}
{{- include "static-export-site.checkStore" . -}}
{{- include "static-export-site.checkReach" . -}}
{{- include "static-export-site.checkMemory" . -}}
{{- include "static-export-site.checkPoll" . -}}
{{- end -}}
{{- end -}}

{{- /* The port of the mirror that these values name; empty where only `bundle.json` names one. */ -}}
{{- define "static-export-site.mirrorPort" -}}
{{- $mirror := .Values.server.mirror -}}
{{- $repository := dig "mirror" "oci" "repository" "" .Values.export -}}
{{- $ref := .Values.staticExport.ref | default ($repository | empty | ternary "" (printf "oci://%s" $repository)) -}}
{{- $url := $mirror.endpoint | default "" -}}
{{- if hasPrefix "oci://" $ref -}}
{{- $url = printf "%s://%s" ($mirror.allowHttp | ternary "http" "https") (trimPrefix "oci://" $ref | splitList "/" | first) -}}
{{- end -}}
{{- if or $url $ref -}}
{{- regexFind ":[0-9]+$" $url | trimPrefix ":" | default (hasPrefix "http://" $url | ternary "80" "443") -}}
{{- end -}}
{{- end -}}

{{- /* Whether `networkPolicy.egress` leaves this port open for some address. */ -}}
{{- define "static-export-site.egressHasPort" -}}
{{- $port := index . 1 | int -}}
{{- range (index . 0).Values.networkPolicy.egress -}}
{{- if not .ports }}yes{{ end -}}
{{- range .ports -}}
{{- if kindIs "string" .port }}yes{{ end -}}
{{- $first := .port | default 1 | int -}}
{{- $last := .endPort | default (hasKey . "port" | ternary $first 65535) | int -}}
{{- if and (ne (.protocol | default "TCP") "UDP") (le $first $port) (le $port $last) }}yes{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "static-export-site.checkReach" -}}
{{- range .Values.server.extraArgs -}}
{{- if hasPrefix "--bundle-" . -}}
{{- fail "server.extraArgs must not set the source. Use staticExport or export. Arguments are in the pod template, which must never hold a link." -}}
{{- end -}}
{{- end -}}
{{- /* The store's size and what the operator may promote are reckoned from these values. */ -}}
{{- range $flag, $value := dict "--keep" "server.keep" "--max-bundle-size" "server.maxBundleSize" "--max-archive-size" "server.maxBundleSize" -}}
{{- range $.Values.server.extraArgs -}}
{{- if or (eq . $flag) (hasPrefix (printf "%s=" $flag) .) -}}
{{- fail (printf "server.extraArgs sets %s, which the size of the store follows from: set %s instead" $flag $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $decided := list "accept-ranges" "allow" "cache-control" "connection" "content-encoding" "content-length" "content-range" "content-type" "date" "etag" "expires" "keep-alive" "last-modified" "location" "retry-after" "set-cookie" "trailer" "transfer-encoding" "upgrade" "vary" "x-content-type-options" -}}
{{- range $name, $value := .Values.site.headers -}}
{{- if has (lower $name) $decided -}}
{{- fail (printf "site.headers may not set %s: the server decides it for each answer" $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.enabled needs ingress.hosts: the host names under which the site is reached" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs: the Gateways to attach to" -}}
{{- end -}}
{{- if not .Values.server.mcp.enabled -}}
{{- range list "tokenSecret" "hosts" -}}
{{- if get $.Values.server.mcp . -}}
{{- fail (printf "server.mcp.%s needs server.mcp.enabled=true: without it, servers answer no agent. Set it, or remove server.mcp.%s" . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.service.nodePort (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.nodePort needs service.type=NodePort or LoadBalancer: a ClusterIP has no port on the nodes" -}}
{{- end -}}
{{- range list "type" "ports" "selector" -}}
{{- if hasKey $.Values.service.spec . -}}
{{- fail (printf "service.spec.%s is the chart's own field: remove it (service.type, service.port and service.nodePort are values of their own)" .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.server.extraCa.configMap .Values.server.extraCa.secret -}}
{{- fail "server.extraCa.configMap and server.extraCa.secret exclude each other: keep one of them" -}}
{{- end -}}
{{- end -}}

{{- /* What is not for cached bodies is for the process itself, which has about 120 MB: see "Memory" in the README. */ -}}
{{- define "static-export-site.checkMemory" -}}
{{- $limit := dig "limits" "memory" "" (.Values.server.resources | default dict) -}}
{{- $budget := .Values.server.memoryBudget | default "32Mi" -}}
{{- if and $limit (gt (mulf 2.0 (include "static-export-site.bytes" $budget | float64)) (include "static-export-site.bytes" $limit | float64)) -}}
{{- fail (printf "server.memoryBudget=%s must be at most half of server.resources.limits.memory=%v, or pods are killed: the rest is for the process itself. Raise the limit by what you raise the budget" $budget $limit) -}}
{{- end -}}
{{- end -}}

{{- /* The server would not start: it rounds to milliseconds. */ -}}
{{- define "static-export-site.checkPoll" -}}
{{- $text := .Values.server.pollInterval -}}
{{- $least := hasSuffix "ms" $text | ternary 0.5 0.0005 -}}
{{- if lt (regexFind "^[0-9.]+" $text | float64) $least -}}
{{- fail (printf "server.pollInterval=%s is too short. Set at least 1ms, for example 5s." $text) -}}
{{- end -}}
{{- end -}}

{{- /* A quantity of Kubernetes, in bytes. */ -}}
{{- define "static-export-site.bytes" -}}
{{- if kindIs "string" . -}}
{{- $factors := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- if not (hasKey $factors $unit) -}}
{{- fail (printf "server.resources.limits.memory=%s is not a valid memory quantity. Use 512Mi or 1Gi." .) -}}
{{- end -}}
{{- printf "%f" (mulf (regexFind "^[0-9.]+" . | float64) (get $factors $unit)) -}}
{{- else -}}
{{- printf "%f" (float64 .) -}}
{{- end -}}
{{- end -}}
