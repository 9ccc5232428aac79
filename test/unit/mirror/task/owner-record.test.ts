// The record of the owner of a place: written once, never replaced, and every other resource is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimPlace, findOwner, ownerTag } from '#mirror/task/owner-record.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { createMemoryCarrier } from '../../../support/memory-carrier.ts';
import { failsWith } from '../bundle-parts.ts';

const never = new AbortController().signal;
const owner = { namespace: 'docs', name: 'site', uid: 'uid-1' };
const other = { namespace: 'team', name: 'blog', uid: 'uid-2' };

test('a place is claimed once, as an OCI image that registries accept', async () => {
  const carrier = createMemoryCarrier();
  assert.equal(await findOwner(carrier, owner, never), undefined);
  assert.equal(await claimPlace(carrier, owner, never), false);
  const empty = {
    mediaType: 'application/vnd.oci.empty.v1+json',
    digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    size: 2,
  };
  assert.deepEqual(JSON.parse(String(carrier.tags.get(ownerTag))), {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: 'application/vnd.staticexport.owner.v1',
    config: empty,
    layers: [empty],
    annotations: {
      'dev.staticexport.owner.namespace': 'docs',
      'dev.staticexport.owner.name': 'site',
      'dev.staticexport.owner.uid': 'uid-1',
    },
  });
  assert.deepEqual(await findOwner(carrier, owner, never), owner);
  carrier.calls.length = 0;
  assert.equal(await claimPlace(carrier, owner, never), true);
  assert.deepEqual(carrier.calls, ['readManifest']);
});

test('another resource is refused, and the message names the owner and the remedy', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, owner, never);
  const written = carrier.tags.get(ownerTag);
  const message =
    /^oci:\/\/registry\.example\.com\/docs belongs to StaticExport docs\/site alone\. Use another repository or prefix\. If that resource no longer exists, delete the tag static-export-owner\.$/;
  await assert.rejects(findOwner(carrier, other, never), failsWith('OwnedElsewhere', message));
  await assert.rejects(claimPlace(carrier, other, never), failsWith('OwnedElsewhere', message));
  assert.deepEqual(carrier.tags.get(ownerTag), written);
});

test('a resource that was created again under its name is told of the other uid', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, owner, never);
  const again = findOwner(carrier, { ...owner, uid: 'uid-9' }, never);
  await assert.rejects(again, failsWith('OwnedElsewhere', /StaticExport docs\/site of another uid alone/));
});

test('of two that claim at the same time, the slower one is refused', async () => {
  const carrier = createMemoryCarrier();
  carrier.beforeCall = (call) => {
    if (call !== 'writeManifest' || carrier.tags.has(ownerTag)) return;
    carrier.beforeCall = () => {};
    carrier.tags.set(ownerTag, recordOf(other));
  };
  await assert.rejects(claimPlace(carrier, owner, never), failsWith('OwnedElsewhere', /team\/blog/));
});

function recordOf({ namespace, name, uid }: typeof owner): Buffer {
  const annotations = {
    'dev.staticexport.owner.namespace': namespace,
    'dev.staticexport.owner.name': name,
    'dev.staticexport.owner.uid': uid,
  };
  return Buffer.from(JSON.stringify({ artifactType: 'application/vnd.staticexport.owner.v1', annotations }));
}

const foreign: readonly (readonly [name: string, manifest: Buffer])[] = [
  ['no JSON', Buffer.from('<html>')],
  ['another artifact', Buffer.from('{"artifactType":"application/vnd.example"}')],
  ['a record without a uid', recordOf({ ...owner, uid: '' })],
  ['a name longer than any', recordOf({ ...owner, name: 'x'.repeat(254) })],
  ['more than 16 KiB', Buffer.concat([recordOf(owner), Buffer.alloc(16 * 1024, ' ')])],
];
for (const [name, manifest] of foreign) {
  test(`what is not a record is refused, and not replaced: ${name}`, async () => {
    const carrier = createMemoryCarrier();
    carrier.tags.set(ownerTag, manifest);
    await assert.rejects(claimPlace(carrier, owner, never), failsWith('NotABundle', /Remove the tag/));
    assert.deepEqual(carrier.tags.get(ownerTag), manifest);
  });
}

test('a failure of the mirror passes through', async () => {
  const carrier = createMemoryCarrier();
  carrier.beforeCall = (call) => {
    if (call === 'writeBlob') throw new PublishableError('Denied', 'A write was refused. Set credentials.');
  };
  await assert.rejects(claimPlace(carrier, owner, never), failsWith('Denied'));
  assert.deepEqual([...carrier.tags], []);
});
