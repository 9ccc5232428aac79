// A chart as small as a site's can be: its release is one ConfigMap with the values that the release got. It shows what is
// live, in a cluster that runs no pods.

/** The chart's files below `folder`, for a git repository or a disk. */
export function siteChart(folder: string): Readonly<Record<string, string>> {
  return {
    [`${folder}/Chart.yaml`]: 'apiVersion: v2\nname: site\nversion: 0.1.0\n',
    [`${folder}/values.yaml`]: 'replicas: 1\nstaticExport:\n  enabled: true\n  version: ""\n',
    [`${folder}/templates/site.yaml`]: [
      'apiVersion: v1',
      'kind: ConfigMap',
      'metadata:',
      '  name: {{ .Release.Name }}',
      'data:',
      '  version: {{ .Values.staticExport.version | quote }}',
      '  values: {{ .Values | toJson | quote }}',
      '',
    ].join('\n'),
  };
}
