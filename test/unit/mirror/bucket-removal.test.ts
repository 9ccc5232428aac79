import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createBucketCarrier } from '#mirror/bucket-carrier.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type MemoryBucket, memoryBucket } from '../../support/memory-bucket.ts';
import * as fc from '../../support/properties.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { bundleOf, failsWith, writeBundle } from './bundle-parts.ts';

const { signal } = new AbortController();
const one = bundleOf('config', 'shared layer', 'layer of one');
const two = bundleOf('config', 'shared layer', 'layer of two');
const lockKey = 'site/removal-lock.json';

function setUp(): { readonly carrier: Carrier; readonly bucket: MemoryBucket; readonly clock: VirtualClock } {
  const clock = virtualClock();
  const bucket = memoryBucket(clock);
  return { carrier: createBucketCarrier({ bucket, prefix: 'site', clock }), bucket, clock };
}

const blobKey = (digest: string): string => `site/blobs/sha256/${digest.slice(7)}`;
const isWhole = (bucket: MemoryBucket, { blobs, digest }: typeof one): boolean =>
  [...blobs.map(({ descriptor }) => descriptor.digest), digest].every((name) =>
    bucket.objects.has(blobKey(name)),
  );

suite('removing a tag', () => {
  test('removes its blobs, and keeps those that another tag names', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    await writeBundle(carrier, 'v2', two, signal);
    await carrier.removeTag('v1', signal);
    assert.deepEqual(await carrier.listTags(signal), ['v2']);
    assert.ok(isWhole(bucket, two));
    assert.equal(await carrier.readManifest(one.digest, signal), undefined);
    assert.equal(bucket.keys().length, 'layout, tag, manifest, config, shared, own'.split(',').length);
  });

  test('of the last tag leaves the layout alone', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    await carrier.removeTag('v1', signal);
    assert.deepEqual(bucket.keys(), ['site/oci-layout']);
  });

  test('keeps the bundle of two tags until both are removed', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    await writeBundle(carrier, 'stable', one, signal);
    await carrier.removeTag('v1', signal);
    assert.ok(isWhole(bucket, one));
    await carrier.removeTag('stable', signal);
    assert.deepEqual(bucket.keys(), ['site/oci-layout']);
  });

  test('that does not exist is done', async () => {
    const { carrier, bucket } = setUp();
    await carrier.removeTag('v1', signal);
    assert.deepEqual(bucket.keys(), []);
  });

  test('removes the descriptor before any blob', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    await carrier.removeTag('v1', signal);
    const deleted = bucket.calls.filter((call) => call.startsWith('delete '));
    assert.equal(deleted[0], 'delete site/bundles/v1.json');
  });

  test('with a damaged descriptor or manifest removes what is known of it', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    bucket.objects.set(blobKey(one.digest), { bytes: Buffer.from('damaged'), modifiedAt: 0 });
    bucket.objects.set('site/bundles/v2.json', { bytes: Buffer.from('damaged'), modifiedAt: 0 });
    await carrier.removeTag('v2', signal);
    await carrier.removeTag('v1', signal);
    assert.deepEqual(await carrier.listTags(signal), []);
    assert.equal(bucket.objects.has(blobKey(one.digest)), false);
  });

  test('stops at another tag whose manifest is missing, and goes on when that one is removed', async () => {
    const { carrier, bucket } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    await writeBundle(carrier, 'v2', two, signal);
    bucket.objects.delete(blobKey(two.digest));
    await assert.rejects(carrier.removeTag('v1', signal), failsWith('BlobMissing', /tag v2/));
    assert.ok(isWhole(bucket, one));
    await carrier.removeTag('v2', signal);
    assert.equal(isWhole(bucket, one), false);
    assert.equal(bucket.objects.has('site/removals/v1.json'), false);
  });

  test('at every call that fails can be finished by the next removal of any tag', async () => {
    const calls = await countCalls();
    for (let failing = 1; failing <= calls; failing += 1) {
      const { carrier, bucket, clock } = setUp();
      await writeBundle(carrier, 'v1', one, signal);
      await writeBundle(carrier, 'v2', two, signal);
      let count = 0;
      bucket.before = () => {
        count += 1;
        if (count >= failing) throw new PublishableError('Unreachable', 'no answer', { kind: 'retry' });
      };
      await carrier.removeTag('v1', signal).catch(() => {});
      bucket.before = () => {};
      // A lock may be left, as by a process that ended.
      await clock.pass(10 * 60_000);
      await carrier.removeTag('v1', signal);
      assert.deepEqual(
        bucket.keys().filter((key) => !key.startsWith('site/blobs/')),
        ['site/bundles/v2.json', 'site/oci-layout'],
      );
      assert.ok(isWhole(bucket, two), `call ${failing}`);
      assert.equal(bucket.objects.has(blobKey(one.digest)), false, `call ${failing}`);
    }
  });

  test('is refused while another client removes, and takes over a lock of 10 minutes', async () => {
    const { carrier, bucket, clock } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    bucket.objects.set(lockKey, { bytes: Buffer.from('{}'), modifiedAt: clock.now() });
    await clock.pass(9 * 60_000);
    await assert.rejects(carrier.removeTag('v1', signal), failsWith('Unreachable', /Another client/, true));
    assert.ok(bucket.objects.has(lockKey));
    await clock.pass(60_000);
    await carrier.removeTag('v1', signal);
    assert.deepEqual(bucket.keys(), ['site/oci-layout']);
  });

  test('deletes nothing more after 5 minutes', async () => {
    const { carrier, bucket, clock } = setUp();
    await writeBundle(carrier, 'v1', one, signal);
    bucket.before = async (call) => {
      if (call.startsWith('list site/bundles/')) await clock.pass(5 * 60_000 + 1);
    };
    await assert.rejects(carrier.removeTag('v1', signal), failsWith('Unreachable', /too long/, true));
    assert.ok(isWhole(bucket, one));
    assert.ok(bucket.objects.has(lockKey));
  });
});

async function countCalls(): Promise<number> {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  await writeBundle(carrier, 'v2', two, signal);
  bucket.calls.length = 0;
  await carrier.removeTag('v1', signal);
  return bucket.calls.length;
}

suite('a writer', () => {
  test('does not write a tag while another client removes', async () => {
    const { carrier, bucket, clock } = setUp();
    bucket.objects.set(lockKey, { bytes: Buffer.from('{}'), modifiedAt: clock.now() });
    await assert.rejects(
      writeBundle(carrier, 'v1', one, signal),
      failsWith('Unreachable', /Another client/, true),
    );
    assert.equal(bucket.objects.has('site/bundles/v1.json'), false);
  });

  test('whose blob was removed meanwhile fails once, and then writes it again', async () => {
    const { carrier, bucket } = setUp();
    const [, shared] = one.blobs;
    assert.ok(shared !== undefined);
    bucket.before = (call) => {
      if (call === 'put site/bundles/v1.json') bucket.objects.delete(blobKey(shared.descriptor.digest));
    };
    await assert.rejects(
      writeBundle(carrier, 'v1', one, signal),
      failsWith('BlobMissing', /is missing in/, true),
    );
    await writeBundle(carrier, 'v1', one, signal);
    assert.ok(isWhole(bucket, one));
  });
});

test('writers and removers in any order leave no tag without its blobs', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const { carrier, bucket, clock } = setUp();
      await writeBundle(carrier, 'v1', one, signal);
      await writeBundle(carrier, 'v3', one, signal);
      bucket.before = () => scheduler.schedule(Promise.resolve());
      const client = (): Carrier => createBucketCarrier({ bucket, prefix: 'site', clock });
      const work = Promise.all([
        untilDone(() => writeBundle(client(), 'v2', two, signal)),
        untilDone(() => writeBundle(client(), 'v4', one, signal)),
        untilDone(() => client().removeTag('v1', signal)),
        untilDone(() => client().removeTag('v3', signal)),
      ]);
      await scheduler.waitFor(work);
      bucket.before = () => {};
      assert.deepEqual([...(await carrier.listTags(signal))].sort(), ['v2', 'v4']);
      assert.ok(isWhole(bucket, one));
      assert.ok(isWhole(bucket, two));
      assert.equal(bucket.objects.has(lockKey), false);
    }),
    { numRuns: 100 },
  );
});

/** As a caller does it: again after each temporary error. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PublishableError) || !error.isTemporary) throw error;
    }
  }
  throw new Error('not done after 1000 attempts');
}
