// Later checks of a mirror: what counts as gone, what is removed, and what is never removed.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultLimits } from '#bundle/limits.ts';
import { runPresenceCheck, runVerify } from '#mirror/task/check-run.ts';
import { runMirrorCopy } from '#mirror/task/copy-run.ts';
import type { LookTask } from '#mirror/task/mirror-task.ts';
import { claimPlace, ownerTag } from '#mirror/task/owner-record.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { createMemoryCarrier, type MemoryCarrier } from '../../../support/memory-carrier.ts';
import { failsWith } from '../bundle-parts.ts';
import { copyContext, place, site, taskBuilder } from './task-builder.ts';

const { folder, copyTask } = taskBuilder();
const never = new AbortController().signal;
const exclusive = { ...place, isExclusive: true };

async function copied(carrier: MemoryCarrier, page = 'home'): Promise<{ ref: string; digest: string }> {
  const task = copyTask({ ...site, 'index.html': page });
  const { inspected, copy } = await runMirrorCopy(task, carrier, copyContext(), never);
  assert.ok(copy.kind === 'copied');
  return { ref: copy.ref, digest: inspected.digest };
}

const look = (
  carrier: MemoryCarrier,
  copy: { readonly ref: string; readonly digest: string },
  change: Partial<LookTask> = {},
) =>
  runPresenceCheck(
    { task: 'look-at-mirror', place, ...copy, listed: [], expired: [], known: [], ...change },
    carrier,
    copyContext(),
    never,
  );

const verify = (
  carrier: MemoryCarrier,
  { ref, digest }: { readonly ref: string; readonly digest: string },
) => {
  const own = { limits: defaultLimits, workDir: join(folder, 'verify') };
  return runVerify({ task: 'verify-copy', place, ref, digest, ...own }, carrier, copyContext(), never);
};

test('a copy is read whole', async () => {
  const carrier = createMemoryCarrier();
  const copy = await copied(carrier);
  assert.deepEqual(await verify(carrier, copy), {
    digest: copy.digest,
    pages: 2,
    sizeBytes: 5005,
    notes: [],
  });
});

test('a copy that is damaged, missing, another or elsewhere is not verified', async () => {
  const carrier = createMemoryCarrier();
  const copy = await copied(carrier);
  const other = await copied(carrier, 'other');
  await assert.rejects(verify(carrier, { ...copy, digest: other.digest }), failsWith('NotABundle'));
  const elsewhere = copy.ref.replace('/docs@', '/other@');
  await assert.rejects(verify(carrier, { ...copy, ref: elsewhere }), failsWith('BlobMissing'));
  await assert.rejects(verify(carrier, { ...copy, ref: 'oci://x' }), failsWith('InvalidReference'));
  for (const [digest, bytes] of carrier.blobs) carrier.blobs.set(digest, Buffer.alloc(bytes.length));
  await assert.rejects(verify(carrier, copy));
  carrier.tags.clear();
  await assert.rejects(verify(carrier, copy), failsWith('BlobMissing', /Copy it again/));
});

test('a copy is there with its manifest and both blobs, and not without any of them', async () => {
  const carrier = createMemoryCarrier();
  const copy = await copied(carrier);
  assert.deepEqual(await look(carrier, copy), { isThere: true, unlisted: [], retentionFailure: undefined });
  for (const [digest, bytes] of [...carrier.blobs]) {
    carrier.blobs.delete(digest);
    assert.equal((await look(carrier, copy)).isThere, false);
    carrier.blobs.set(digest, bytes);
  }
  assert.equal((await look(carrier, { ...copy, ref: copy.ref.replace('/docs@', '/other@') })).isThere, false);
  carrier.tags.clear();
  assert.equal((await look(carrier, copy)).isThere, false);
});

test('a mirror that does not answer decides nothing', async () => {
  const carrier = createMemoryCarrier();
  const copy = await copied(carrier);
  carrier.beforeCall = (call) => {
    if (call === 'hasBlob') throw new PublishableError('Unreachable', 'No answer.', { kind: 'retry' });
  };
  await assert.rejects(look(carrier, copy), failsWith('Unreachable', /./, true));
});

test('a place that is shared is never listed, and nothing of it is removed', async () => {
  const carrier = createMemoryCarrier();
  const [copy, old] = [await copied(carrier), await copied(carrier, 'old')];
  const found = await look(carrier, copy, { expired: [old.digest] });
  assert.deepEqual(found.unlisted, []);
  assert.ok(carrier.tags.has(old.digest));
});

test('expired copies are removed, and others reported', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const [copy, old, listed, rest] = [
    await copied(carrier),
    await copied(carrier, 'old'),
    await copied(carrier, 'listed'),
    await copied(carrier, 'rest'),
  ];
  const change = {
    place: exclusive,
    listed: [listed.digest],
    expired: [old.digest, listed.digest, copy.digest],
  };
  const found = await look(carrier, copy, change);
  assert.deepEqual(found, { isThere: true, unlisted: [rest.digest], retentionFailure: undefined });
  const left = [copy.digest, listed.digest, rest.digest, ownerTag].sort();
  assert.deepEqual(await carrier.listTags(never), left);
});

test('a copy that cannot be removed stays reported, keeps none of the others, and its fault is returned', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const copy = await copied(carrier);
  const old = [await copied(carrier, 'old'), await copied(carrier, 'older')].map(({ digest }) => digest);
  const change = { place: exclusive, expired: old };
  for (const [code, left] of [
    ['Denied', 2],
    ['Protected', 1],
  ] as const) {
    let isFirst = true;
    carrier.beforeCall = (call) => {
      if (call !== 'removeTag' || !isFirst) return;
      isFirst = false;
      throw new PublishableError(code, 'It stays.');
    };
    const found = await look(carrier, copy, change);
    assert.deepEqual([found.unlisted?.length, found.retentionFailure?.code], [left, code]);
  }
  carrier.beforeCall = (call) => {
    if (call === 'listTags') throw new PublishableError('Unreachable', 'No answer.');
  };
  const { unlisted, retentionFailure } = await look(carrier, copy, change);
  assert.deepEqual([unlisted, retentionFailure?.code], [undefined, 'Unreachable']);
});

test('of too many unlisted copies those are reported that are remembered', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const copy = await copied(carrier);
  for (let at = 0; at < 70; at += 1) carrier.tags.set(at.toString(16).padStart(64, '0'), Buffer.from('{}'));
  const last = (69).toString(16).padStart(64, '0');
  const { unlisted } = await look(carrier, copy, { place: exclusive, known: [last] });
  assert.deepEqual([unlisted?.length, unlisted?.[0]], [64, last]);
});

test('tags that are not bundles of this project are never removed', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const copy = await copied(carrier);
  const foreign = 'f'.repeat(64);
  const mislabelled = 'e'.repeat(64);
  carrier.tags.set(foreign, Buffer.from('{}'));
  carrier.tags.set(mislabelled, carrier.tags.get(copy.digest) ?? Buffer.alloc(0));
  carrier.tags.set('v1', carrier.tags.get(copy.digest) ?? Buffer.alloc(0));
  const expired = [foreign, mislabelled, 'v1', ownerTag, '../x'];
  const { unlisted } = await look(carrier, copy, { place: exclusive, expired });
  assert.deepEqual(unlisted, [mislabelled, foreign]);
  const left = [copy.digest, foreign, mislabelled, 'v1', ownerTag].sort();
  assert.deepEqual(await carrier.listTags(never), left);
});

test('the first look at a place claims it, and removes nothing yet', async () => {
  const carrier = createMemoryCarrier();
  const [copy, old] = [await copied(carrier), await copied(carrier, 'old')];
  const change = { place: exclusive, expired: [old.digest] };
  assert.deepEqual((await look(carrier, copy, change)).unlisted, [old.digest]);
  assert.ok(carrier.tags.has(ownerTag));
  assert.deepEqual((await look(carrier, copy, change)).unlisted, []);
  assert.ok(!carrier.tags.has(old.digest));
});

test('the place of another resource is neither looked at nor tidied', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, { ...place.owner, uid: 'uid-2' }, never);
  const copy = { ref: `${carrier.name}@sha256:${'0'.repeat(64)}`, digest: 'a'.repeat(64) };
  carrier.tags.set('b'.repeat(64), Buffer.from('{}'));
  for (const where of [place, exclusive]) {
    const refused = look(carrier, copy, { place: where, expired: ['b'.repeat(64)] });
    await assert.rejects(refused, failsWith('OwnedElsewhere'));
  }
  assert.equal(carrier.tags.size, 2);
});

test('a mirror that refuses to delete still says whether the copy is there', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const [copy, old] = [await copied(carrier), await copied(carrier, 'old')];
  carrier.removeTag = () => Promise.reject(new PublishableError('Denied', 'Deletes are off. Enable them.'));
  const found = await look(carrier, copy, { place: exclusive, expired: [old.digest] });
  assert.equal(found.isThere, true);
  assert.equal(found.retentionFailure?.code, 'Denied');
});

test('at most 64 unlisted copies are reported, and 16 removed at once', async () => {
  const carrier = createMemoryCarrier();
  await claimPlace(carrier, place.owner, never);
  const copy = await copied(carrier);
  const many = Array.from({ length: 100 }, (_, at) => `${at}`.padStart(64, '0'));
  for (const tag of many) carrier.tags.set(tag, Buffer.from('{}'));
  const { unlisted } = await look(carrier, copy, { place: exclusive });
  assert.deepEqual(unlisted, many.slice(0, 64));
  const removed: string[] = [];
  for (const tag of many) {
    const manifest = String(carrier.tags.get(copy.digest)).replaceAll(copy.digest, tag);
    carrier.tags.set(tag, Buffer.from(manifest));
  }
  carrier.removeTag = async (tag) => void removed.push(tag);
  await look(carrier, copy, { place: exclusive, expired: many });
  assert.deepEqual(removed, many.slice(0, 16));
});
