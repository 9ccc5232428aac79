// install.yaml as data: its order, and nothing of Helm. The API server accepts it in test/integration/charts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { installManifest } from '../../../packaging/release/install-manifest.ts';

const object = (kind: string, more = ''): string =>
  `---\nkind: ${kind}\napiVersion: v1\nmetadata:\n  name: a\n  labels:\n    app.kubernetes.io/managed-by: Helm\n    helm.sh/chart: a-1\n    app.kubernetes.io/name: a\n  annotations:\n    helm.sh/resource-policy: keep\n${more}`;
const rendered = ['Deployment', 'ServiceAccount', 'ClusterRole', 'CustomResourceDefinition'].map((kind) =>
  object(kind),
);
const metadataShape = z.object({ kind: z.string(), metadata: z.record(z.string(), z.unknown()) });
const read = (text: string) => parseAllDocuments(text).map((one) => metadataShape.parse(one.toJS()));

test('the namespace comes first, then the CRD, then the rest in the order of Helm', () => {
  const kinds = read(installManifest(rendered.join(''), '1.2.3')).map(({ kind }) => kind);
  const wanted = ['Namespace', 'CustomResourceDefinition', 'Deployment', 'ServiceAccount', 'ClusterRole'];
  assert.deepEqual(kinds, wanted);
});

test('no object says that Helm manages it, and other labels and annotations stay', () => {
  const [, , deployment] = read(installManifest(rendered.join(''), '1.2.3'));
  assert.deepEqual(deployment?.metadata, { name: 'a', labels: { 'app.kubernetes.io/name': 'a' } });
  const [, , other] = read(
    installManifest([object('Deployment', '    b: c\n'), ...rendered.slice(1)].join(''), '1.2.3'),
  );
  assert.deepEqual(other?.metadata['annotations'], { b: 'c' });
});

test('a rendering without the operator, its permissions or the CRD is refused', () => {
  for (const [at] of rendered.entries()) {
    const rest = rendered.filter((_, index) => index !== at).join('');
    assert.throws(() => installManifest(rest, '1.2.3'), /The chart renders no /);
  }
});
