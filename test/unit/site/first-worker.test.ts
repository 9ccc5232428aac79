// Which thread is started before the server is loaded: that of the first source that can have the bundle.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type FirstWorkerFlags, firstWorker } from '../../../src/site/first-worker.ts';

const workers = { check: 'check', bundle: 'bundle', mirror: 'mirror' };
const peer = { host: 'docs-peers', port: undefined };
const ref = 'oci://registry.example.com/docs@sha256:0a';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-worker-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Row = readonly [
  name: string,
  files: Readonly<Record<string, string>>,
  flags: Partial<Omit<FirstWorkerFlags, 'store'>>,
  wanted: string,
];

const rows: readonly Row[] = [
  ['a link', {}, {}, 'bundle'],
  ['a mirror by flag', {}, { bundleRef: ref }, 'mirror'],
  ['a mirror, and a bundle on disk', { current: '[]' }, { bundleRef: ref }, 'check'],
  ['a mirror, and only the copy of the list on disk', { 'current.copy': '' }, { bundleRef: ref }, 'check'],
  ['a mirror, and other servers', {}, { bundleRef: ref, peers: [peer] }, 'bundle'],
  ['bundle.json with a reference', { json: `{"ref":"${ref}"}` }, { bundleFile: 'json' }, 'mirror'],
  [
    'bundle.json with a link',
    { json: '{"bundleUrl":"https://a.example"}' },
    { bundleFile: 'json' },
    'bundle',
  ],
  ['bundle.json that is damaged', { json: '{"ref":' }, { bundleFile: 'json' }, 'bundle'],
  ['bundle.json that is not there', {}, { bundleFile: 'json' }, 'bundle'],
];

for (const [name, files, flags, wanted] of rows) {
  test(`${name}: the first thread is ${wanted}`, async () => {
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    const { bundleFile } = flags;
    const found = await firstWorker(
      {
        ...{ store: folder, peers: [], bundleRef: undefined, ...flags },
        bundleFile: bundleFile === undefined ? undefined : join(folder, bundleFile),
      },
      workers,
    );
    assert.equal(found, wanted);
  });
}
