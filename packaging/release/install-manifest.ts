// install.yaml: the operator for `kubectl apply -f`, from what Helm renders of its chart. Pure. It begins with the namespace,
// and the CRD comes before what refers to it. No object says that Helm manages it. Refuses a rendering without the CRD or the
// operator.

import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';

export const installName = 'static-export-operator';
export const installNamespace = 'static-export';

const labelledShape = z.looseObject({ labels: z.record(z.string(), z.string()).optional() });
const objectShape = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    annotations: z.record(z.string(), z.string()).optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});
type RenderedObject = z.infer<typeof objectShape>;

const first = ['Namespace', 'CustomResourceDefinition'];

/** @throws Error where the rendering lacks an object */
export function installManifest(rendered: string, version: string): string {
  const objects = parseAllDocuments(rendered)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null && object !== undefined)
    .map((object) => withoutHelm(objectShape.parse(object)));
  for (const kind of ['CustomResourceDefinition', 'Deployment', 'ServiceAccount', 'ClusterRole']) {
    if (objects.some((object) => object.kind === kind)) continue;
    throw new Error(`The chart renders no ${kind}. Correct the chart, because install.yaml needs it.`);
  }
  const namespace = objectShape.parse({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: installNamespace, labels: { 'app.kubernetes.io/part-of': 'static-export' } },
  });
  const rank = ({ kind }: RenderedObject): number =>
    first.includes(kind) ? first.indexOf(kind) : first.length;
  const all = [namespace, ...objects].sort((one, other) => rank(one) - rank(other));
  const head = `# static-export-operator ${version}: CRD, operator and permissions, in the namespace ${installNamespace}.\n#   kubectl apply -f install.yaml\n`;
  return head + all.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`).join('');
}

/** Helm's own labels and annotations would make `helm install` of the same name take the objects over. */
function withoutHelm(object: RenderedObject): RenderedObject {
  const { annotations, labels, ...metadata } = labelledShape
    .extend({ annotations: z.record(z.string(), z.string()).optional() })
    .parse(object.metadata);
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith('helm.sh/'));
  const keptLabels = Object.entries(labels ?? {}).filter(
    ([name]) => !name.startsWith('helm.sh/') && name !== 'app.kubernetes.io/managed-by',
  );
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
      ...(keptLabels.length > 0 && { labels: Object.fromEntries(keptLabels) }),
    },
  };
}
