// A chart as an artifact: which annotations it gets of its Chart.yaml, in bytes as Go writes them. That Helm writes the same
// of the project's charts is shown with Helm itself, in test/integration/packaging/push-release.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartArtifact, readPackedChart } from '../../../../packaging/push/chart-artifact.ts';
import { packGzip } from '../../../../packaging/release/fixed-tar.ts';

const seconds = 1_767_323_045;
const chartText = `apiVersion: v2
name: a
version: 1.2.3
description: Exports & checks <docs>
kubeVersion: ">=1.29.0-0"
home: https://docs.example.com/
sources: [https://git.example.com/a, https://git.example.com/b]
maintainers: [{ name: One, email: one@example.com }, { name: Two }]
deprecated: false
keywords: []
annotations:
  z: last
  b: "1"
  org.opencontainers.image.title: another
`;
const pack = (files: Readonly<Record<string, string>>): Promise<Buffer> =>
  packGzip(
    Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    seconds,
  );

test('annotations are those that helm writes, with the time of the entries', async () => {
  const bytes = await pack({
    'a/Chart.yaml': chartText,
    'a/values.yaml': '',
    'a/charts/b/Chart.yaml': 'name: b',
  });
  const { name, version, root, blobs } = chartArtifact(bytes, await readPackedChart('a.tgz', bytes));
  assert.deepEqual([name, version], ['charts/a', '1.2.3']);
  const manifest = JSON.parse(root.bytes.toString());
  assert.deepEqual(Object.entries(manifest.annotations), [
    ['b', '1'],
    ['org.opencontainers.image.authors', 'One (one@example.com), Two'],
    ['org.opencontainers.image.created', '2026-01-02T03:04:05Z'],
    ['org.opencontainers.image.description', 'Exports & checks <docs>'],
    ['org.opencontainers.image.source', 'https://git.example.com/a'],
    ['org.opencontainers.image.title', 'a'],
    ['org.opencontainers.image.url', 'https://docs.example.com/'],
    ['org.opencontainers.image.version', '1.2.3'],
    ['z', 'last'],
  ]);
  assert.ok(root.bytes.includes('Exports \\u0026 checks \\u003cdocs\\u003e'));
  assert.deepEqual(
    blobs.map(({ digest, size }) => [digest, size]),
    [manifest.layers[0], manifest.config].map(({ digest, size }) => [digest, size]),
  );
  const [, config] = blobs;
  const written: Uint8Array[] = [];
  for await (const piece of config?.open() ?? []) written.push(piece);
  const fields = JSON.parse(Buffer.concat(written).toString());
  assert.deepEqual(
    Object.keys(fields),
    'name home sources version description maintainers apiVersion annotations kubeVersion'.split(' '),
  );
});

test('an archive without a chart or its values is refused by its name', async () => {
  for (const files of [{ 'a/Chart.yaml': chartText }, { 'a/values.yaml': '' }, { 'Chart.yaml': chartText }]) {
    const bytes = await pack(files);
    await assert.rejects(
      readPackedChart('a.tgz', bytes),
      /^PushRefusal: a\.tgz has no Chart\.yaml or no values/,
    );
  }
});
