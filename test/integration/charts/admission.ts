// What the charts' tests send to a real API server besides charts: kinds that only have to exist, and the pods that
// workloads would make, for admission to judge.

import { z } from 'zod';

/** A kind that the chart asks for, as far as discovery is concerned; its content is not checked. */
export function kindOf(group: string, version: string, kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

const podShape = z.object({ metadata: z.object({}).loose(), spec: z.object({}).loose() });
export const templateShape = z.object({
  spec: z.object({
    template: podShape,
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
});

/** The pod that a workload would make, with the volumes that a StatefulSet gives it. */
export function podOf(workload: unknown): object {
  const { template, volumeClaimTemplates } = templateShape.parse(workload).spec;
  const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: `${name}-0` },
  }));
  const own = z.array(z.unknown()).default([]).parse(template.spec['volumes']);
  const spec = { ...template.spec, volumes: [...own, ...claims] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: 'admitted' }, spec };
}
