// The archive of an image: what is read of it, and what is refused.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { pack } from 'tar-stream';
import type { Artifact } from '../../../../packaging/push/artifact.ts';
import { readImageArtifact } from '../../../../packaging/push/image-artifact.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';

type Entries = ReadonlyMap<string, Buffer>;

function imageEntries(platforms: readonly string[]): { readonly entries: Entries; readonly digest: string } {
  const entries = new Map<string, Buffer>();
  const put = (content: unknown, mediaType: string) => {
    const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const hex = hash('sha256', bytes, 'hex');
    entries.set(`blobs/sha256/${hex}`, bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const shared = put('shared', layerType);
  const manifests = platforms.map((platform) => {
    const [os, architecture] = platform.split('/');
    const config = put({ os, architecture }, 'application/vnd.oci.image.config.v1+json');
    const layers = [put(`of ${platform}`, layerType), shared];
    return { ...put({ schemaVersion: 2, config, layers }, manifestType), platform: { os, architecture } };
  });
  const index = put({ schemaVersion: 2, manifests }, indexType);
  entries.set('index.json', Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [index] })));
  return { entries, digest: index.digest };
}

async function read(t: TestContext, entries: Entries): Promise<Artifact> {
  const file = join(temporaryFolder(t), 'image.oci.tar');
  const archive = pack();
  for (const [name, bytes] of entries) archive.entry({ name }, bytes);
  archive.finalize();
  await writeFile(file, await buffer(archive));
  return readImageArtifact(file, temporaryFolder(t), { name: 'a', version: '1.2.3' });
}

test('manifests of both platforms come before the index, and a shared layer is one blob', async (t) => {
  const { entries, digest } = imageEntries(['linux/amd64', 'linux/arm64']);
  const { root, children, blobs } = await read(t, entries);
  assert.equal(root.digest, digest);
  assert.equal(root.mediaType, indexType);
  assert.deepEqual(
    children.map(({ digest }) => digest),
    JSON.parse(root.bytes.toString()).manifests.map((one: { digest: string }) => one.digest),
  );
  assert.equal(blobs.length, 5);
  for (const blob of blobs) {
    const pieces: Uint8Array[] = [];
    for await (const piece of blob.open()) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    assert.equal(`sha256:${hash('sha256', bytes, 'hex')}`, blob.digest);
    assert.equal(bytes.length, blob.size);
  }
});

const changes: readonly (readonly [
  what: string,
  refusal: RegExp,
  change: (entries: Map<string, Buffer>) => void,
])[] = [
  [
    'a blob with other bytes',
    /^PushRefusal: The archive of the image has other bytes under the name sha256:[0-9a-f]{64}\. Make/,
    (entries) => entries.set([...entries.keys()][0] ?? '', Buffer.from('other')),
  ],
  [
    'an entry outside the layout',
    /has an entry that is not of an OCI layout/,
    (entries) => entries.set('blobs/sha256/../../x', Buffer.from('')),
  ],
  [
    'a manifest that is missing',
    /lacks the blob sha256:/,
    (entries) => {
      const [name = ''] = [...entries].find(([, bytes]) => bytes.includes('"layers"')) ?? [];
      entries.delete(name);
    },
  ],
  [
    'a layer that is missing',
    /lacks the blob sha256:/,
    (entries) => {
      const [name = ''] = [...entries].find(([, bytes]) => bytes.equals(Buffer.from('shared'))) ?? [];
      entries.delete(name);
    },
  ],
  [
    'an index of another form',
    /has an index or a manifest of another form/,
    (entries) => entries.set('index.json', Buffer.from('{"manifests": 1}')),
  ],
  [
    'two images',
    /does not name one image/,
    (entries) => {
      const { manifests } = JSON.parse(String(entries.get('index.json')));
      entries.set('index.json', Buffer.from(JSON.stringify({ manifests: [...manifests, ...manifests] })));
    },
  ],
];

for (const [what, refusal, change] of changes) {
  test(`an archive with ${what} is refused`, async (t) => {
    const entries = new Map(imageEntries(['linux/amd64', 'linux/arm64']).entries);
    change(entries);
    await assert.rejects(read(t, entries), refusal);
  });
}

test('an image without one of its platforms is refused', async (t) => {
  await assert.rejects(read(t, imageEntries(['linux/amd64']).entries), /has no image for linux\/arm64/);
});
