{{- /* Mirrors: whether StaticExports may have them, the flags, and what the values must agree on. Credentials
     are in a Secret, and no message repeats an address that may hold some. */ -}}
{{- define "static-export-operator.hasMirrors" -}}
{{- if or .Values.allowedMirrorHosts .Values.defaultMirror.address }}yes{{ end -}}
{{- end -}}

{{- define "static-export-operator.mirrorArgs" -}}
{{- with .Values.allowedMirrorHosts }}
- {{ printf "--allowed-mirror-hosts=%v" (join "," .) | quote }}
{{- end }}
{{- if .Values.allowPrivateMirrorHosts }}
- --allow-private-mirror-hosts
{{- end }}
{{- with .Values.defaultMirror }}
{{- with .address }}
- {{ printf "--default-mirror=%v" . | quote }}
{{- end }}
{{- if .credentialsSecret }}
- --default-mirror-credentials=/etc/static-export-mirror
{{- end }}
{{- with .endpoint }}
- {{ printf "--default-mirror-endpoint=%v" . | quote }}
{{- end }}
{{- with .region }}
- {{ printf "--default-mirror-region=%v" . | quote }}
{{- end }}
{{- if .pathStyle }}
- --default-mirror-path-style
{{- end }}
{{- if .allowHttp }}
- --allow-http-default-mirror
{{- end }}
{{- end }}
{{- end -}}

{{- define "static-export-operator.checkMirrors" -}}
{{- $mirror := .Values.defaultMirror -}}
{{- $address := $mirror.address -}}
{{- range $key := list "credentialsSecret" "endpoint" "region" "pathStyle" "allowHttp" -}}
{{- if and (get $mirror $key) (not $address) -}}
{{- fail (printf "defaultMirror.%s has no effect without defaultMirror.address: set the address, or remove it" $key) -}}
{{- end -}}
{{- if and (get $mirror $key) (has $key (list "endpoint" "region" "pathStyle")) (hasPrefix "oci://" $address) -}}
{{- fail (printf "defaultMirror.%s is for s3:// only, and defaultMirror.address is a repository: remove it" $key) -}}
{{- end -}}
{{- end -}}
{{- if and $address (not (regexMatch "^(oci://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/([a-z0-9._-]+|{namespace}|{name}))+|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/([A-Za-z0-9._-]+|{namespace}|{name}))+)$" $address)) -}}
{{- fail "defaultMirror.address must be oci://HOST/PATH/{namespace}/{name} or s3://BUCKET/PATH/{namespace}/{name}, without credentials, tag and digest (its value is not shown here, because it may hold credentials)" -}}
{{- end -}}
{{- range $part := list "{namespace}" "{name}" -}}
{{- if and $address (ne (splitList $part $address | len) 2) -}}
{{- fail (printf "defaultMirror.address=%s needs {namespace} and {name} once each, so that each StaticExport has its own place: end it with /{namespace}/{name}" $address) -}}
{{- end -}}
{{- end -}}
{{- if and (hasPrefix "http://" ($mirror.endpoint | default "")) (not $mirror.allowHttp) -}}
{{- fail "defaultMirror.endpoint begins with http://: use https://, or set defaultMirror.allowHttp=true" -}}
{{- end -}}
{{- /* The size of the scratch folder follows from these values. */ -}}
{{- range $flag, $value := dict "--inspect-concurrency" "inspection.concurrency" "--max-archive-size" "inspection.maxArchiveSize" "--max-bundle-size" "inspection.maxBundleSize" "--allowed-mirror-hosts" "allowedMirrorHosts" "--default-mirror" "defaultMirror.address" -}}
{{- range $.Values.extraArgs -}}
{{- if or (eq . $flag) (hasPrefix (printf "%s=" $flag) .) -}}
{{- fail (printf "extraArgs sets %s, which the size of the scratch folder follows from: set %s instead" $flag $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The ports written in these values, or those of plain http, as JSON. */ -}}
{{- define "static-export-operator.mirrorPorts" -}}
{{- $mirror := .Values.defaultMirror -}}
{{- $urls := list -}}
{{- range .Values.allowedMirrorHosts -}}
{{- $urls = append $urls (contains "://" . | ternary . (printf "https://%s" .)) -}}
{{- end -}}
{{- with $mirror.endpoint }}{{ $urls = append $urls . }}{{ end -}}
{{- if hasPrefix "oci://" ($mirror.address | default "") -}}
{{- $host := trimPrefix "oci://" $mirror.address | splitList "/" | first -}}
{{- $urls = append $urls (printf "%s://%s" ($mirror.allowHttp | ternary "http" "https") $host) -}}
{{- end -}}
{{- $ports := list -}}
{{- range $urls -}}
{{- $written := regexFind ":[0-9]+$" . | trimPrefix ":" -}}
{{- if $written }}{{ $ports = append $ports (float64 $written) }}
{{- else if hasPrefix "http://" . }}{{ $ports = append $ports 80.0 }}{{ end -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}
