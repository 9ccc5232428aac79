// What a push says at its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pushed, pushReport } from '../../../../packaging/push/push-report.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const root = { mediaType: 'application/vnd.oci.image.index.v1+json', digest, bytes: Buffer.from('{}') };
const image: Pushed = {
  artifact: { kind: 'image', name: 'static-export-operator', root },
  plan: { version: { tag: '0.2.0', isWritten: true }, minor: { tag: '0.2', step: 'write' } },
  sent: { blobs: 12, bytes: 88_709_530 },
};

test('each artifact has its address, its digest and what was done', () => {
  const chart: Pushed = {
    ...image,
    artifact: { kind: 'chart', name: 'charts/a', root },
    plan: {
      version: { tag: '0.2.0', isWritten: false },
      minor: { tag: '0.2', step: 'leave', newer: '0.2.1' },
    },
    sent: undefined,
  };
  assert.equal(
    pushReport('r.example.com/a', [image, chart]),
    `pushed to r.example.com/a
  image r.example.com/a/static-export-operator:0.2.0
        ${digest}
        pushed, 12 blobs of 84.6 MiB sent; 0.2 names it now
  chart r.example.com/a/charts/a:0.2.0
        ${digest}
        is there already; 0.2 stays at 0.2.1
`,
  );
});

test('what is smaller than a MiB is said in KiB', () => {
  const small: Pushed = { ...image, sent: { blobs: 1, bytes: 67_000 } };
  assert.match(pushReport('r', [small]), /pushed, 1 blob of 66 KiB sent;/);
});

test('nothing to do is said only where nothing was written', () => {
  const present = { version: { tag: '0.2.0', isWritten: false } };
  const moved: Pushed = { ...image, sent: undefined };
  const done: Pushed = { ...moved, plan: { ...present, minor: { tag: '0.2', step: 'keep' } } };
  const candidate: Pushed = { ...moved, plan: { ...present, minor: undefined } };
  assert.match(pushReport('r', [done, candidate]), /^nothing to do: r has this release, byte for byte\n/);
  assert.match(pushReport('r', [done, moved]), /^pushed to r\n/);
});
