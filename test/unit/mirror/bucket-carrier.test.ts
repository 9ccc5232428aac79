import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBucketCarrier } from '#mirror/bucket-carrier.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { type MemoryBucket, memoryBucket } from '../../support/memory-bucket.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import {
  bundleOf,
  describe,
  digestOf,
  failsWith,
  inOnePiece,
  manifestType,
  writeBundle,
} from './bundle-parts.ts';

const { signal } = new AbortController();
const one = bundleOf('config', 'first layer');

function setUp(prefix = 'site'): {
  readonly carrier: Carrier;
  readonly bucket: MemoryBucket;
  readonly clock: VirtualClock;
} {
  const clock = virtualClock();
  const bucket = memoryBucket(clock);
  return { carrier: createBucketCarrier({ bucket, prefix, clock }), bucket, clock };
}

const blobKey = (digest: string): string => `site/blobs/sha256/${digest.slice(7)}`;

async function read(carrier: Carrier, content: Buffer): Promise<string> {
  const chunks = await Array.fromAsync(carrier.readBlob(describe(content), signal));
  return Buffer.concat(chunks).toString('utf8');
}

test('a bundle that was written is read back by tag and by digest', async () => {
  const { carrier } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  assert.deepEqual(await carrier.readManifest('v1', signal), one.manifest);
  assert.deepEqual(await carrier.readManifest(one.digest, signal), one.manifest);
  assert.equal(await read(carrier, Buffer.from('first layer')), 'first layer');
  assert.deepEqual(await carrier.listTags(signal), ['v1']);
});

test('the tree is that of an OCI layout, with a descriptor for each tag', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  const digests = [...one.blobs.map(({ descriptor }) => descriptor.digest), one.digest];
  assert.deepEqual(
    bucket.keys(),
    ['site/oci-layout', 'site/bundles/v1.json', ...digests.map(blobKey)].sort(),
  );
  assert.equal(bucket.text('site/oci-layout'), '{"imageLayoutVersion":"1.0.0"}\n');
  assert.deepEqual(
    JSON.parse(bucket.text('site/bundles/v1.json') ?? ''),
    describe(one.manifest, manifestType),
  );
});

test('the descriptor of a tag is written after everything else', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  const puts = bucket.calls.filter((call) => call.startsWith('put '));
  assert.equal(puts.at(-1), 'put site/bundles/v1.json');
});

test('a mirror without a prefix fills the bucket from its root', async () => {
  const { carrier, bucket } = setUp('');
  await writeBundle(carrier, 'v1', one, signal);
  assert.equal(carrier.name, 's3://docs');
  assert.ok(bucket.objects.has('bundles/v1.json'));
});

test('a mirror names its bucket and its prefix', () => {
  assert.equal(setUp('team/site').carrier.name, 's3://docs/team/site');
});

test('a blob that is there is not sent again', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  bucket.calls.length = 0;
  await writeBundle(carrier, 'v2', one, signal);
  assert.deepEqual(
    bucket.calls.filter((call) => call.startsWith('put ')),
    ['put site/oci-layout', 'put site/bundles/v2.json'],
  );
});

test('a blob of another length is replaced', async () => {
  const { carrier, bucket, clock } = setUp();
  const [config] = one.blobs;
  assert.ok(config !== undefined);
  bucket.objects.set(blobKey(config.descriptor.digest), {
    bytes: Buffer.from('con'),
    modifiedAt: clock.now(),
  });
  assert.equal(await carrier.hasBlob(config.descriptor, signal), false);
  await writeBundle(carrier, 'v1', one, signal);
  assert.equal(await carrier.hasBlob(config.descriptor, signal), true);
});

test('a tag that names the same content is written again', async () => {
  const { carrier } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  await writeBundle(carrier, 'v1', one, signal);
});

test('a tag is never moved to other content', async () => {
  const { carrier } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  const other = bundleOf('config', 'other layer');
  await assert.rejects(
    writeBundle(carrier, 'v1', other, signal),
    failsWith('TagOccupied', /v1 in s3:\/\/docs\/site/),
  );
  assert.deepEqual(await carrier.readManifest('v1', signal), one.manifest);
});

test('of two clients that write one tag at the same time, one writes it', async () => {
  const { carrier, bucket, clock } = setUp();
  const second = createBucketCarrier({ bucket, prefix: 'site', clock });
  let isFirst = true;
  bucket.before = async (call) => {
    if (call !== 'put site/bundles/v1.json' || !isFirst) return;
    isFirst = false;
    await writeBundle(second, 'v1', bundleOf('config', 'other layer'), signal);
  };
  await assert.rejects(writeBundle(carrier, 'v1', one, signal), failsWith('TagOccupied'));
});

test('bytes that are not those of the descriptor are refused', async () => {
  const { carrier } = setUp();
  const blob = describe(Buffer.from('expected'));
  await assert.rejects(
    carrier.writeBlob(blob, () => inOnePiece(Buffer.from('replaced')), signal),
    failsWith('BlobDamaged'),
  );
});

test('an error of the source of a blob reaches the caller unchanged', async () => {
  const { carrier } = setUp();
  const failure = new Error('the disk failed');
  const open = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('ex');
    throw failure;
  };
  await assert.rejects(carrier.writeBlob(describe(Buffer.from('expected')), open, signal), failure);
});

const content = Buffer.from('a layer '.repeat(1000));
for (const [what, stored] of [
  ['a changed byte', Buffer.concat([Buffer.from('A'), content.subarray(1)])],
  ['a byte too few', content.subarray(1)],
  ['a byte too many', Buffer.concat([content, Buffer.from('!')])],
  ['no bytes', Buffer.alloc(0)],
] as const) {
  test(`a blob with ${what} ends with an error`, async () => {
    const { carrier, bucket } = setUp();
    bucket.objects.set(blobKey(digestOf(content)), { bytes: stored, modifiedAt: 0 });
    await assert.rejects(read(carrier, content), failsWith('BlobDamaged'));
  });
}

test('a blob with more bytes than its descriptor says is not read to its end', async () => {
  const { carrier, bucket } = setUp();
  const blob = describe(Buffer.from('short'));
  bucket.objects.set(blobKey(blob.digest), { bytes: Buffer.alloc(1_000_000), modifiedAt: 0 });
  let length = 0;
  const reading = async (): Promise<void> => {
    for await (const chunk of carrier.readBlob(blob, signal)) length += chunk.length;
  };
  await assert.rejects(reading(), failsWith('BlobDamaged'));
  assert.equal(length, 0);
});

test('a blob that is not there is reported as missing', async () => {
  const { carrier } = setUp();
  await assert.rejects(read(carrier, content), failsWith('BlobMissing', /s3:\/\/docs\/site/));
  assert.equal(await carrier.hasBlob(describe(content), signal), false);
});

test('there is no manifest of an unknown tag or digest', async () => {
  const { carrier } = setUp();
  assert.equal(await carrier.readManifest('v1', signal), undefined);
  assert.equal(await carrier.readManifest(one.digest, signal), undefined);
});

test('a tag without its manifest is an error', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  bucket.objects.delete(blobKey(one.digest));
  await assert.rejects(carrier.readManifest('v1', signal), failsWith('BlobMissing', /tag v1/));
});

test('a tag that is removed while it is read is absent', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  bucket.before = (call) => {
    if (call === `get ${blobKey(one.digest)}`) bucket.objects.clear();
  };
  assert.equal(await carrier.readManifest('v1', signal), undefined);
});

test('a manifest with another digest is refused', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  bucket.objects.set(blobKey(one.digest), { bytes: Buffer.from('{}'), modifiedAt: 0 });
  for (const reference of ['v1', one.digest]) {
    await assert.rejects(carrier.readManifest(reference, signal), failsWith('BlobDamaged'));
  }
});

for (const [what, text] of [
  ['text that is not JSON', 'v1'],
  ['another object', '{"digest":"v1"}'],
  ['a digest with a path', JSON.stringify({ ...describe(content), digest: 'sha256:../../secret' })],
  ['a manifest of 5 MiB', JSON.stringify({ ...describe(content), size: 5 * 1024 * 1024 })],
  ['more than a descriptor', JSON.stringify({ ...describe(content), more: 'x'.repeat(5000) })],
] as const) {
  test(`a descriptor of a tag that is ${what} is not a bundle`, async () => {
    const { carrier, bucket } = setUp();
    bucket.objects.set('site/bundles/v1.json', { bytes: Buffer.from(text), modifiedAt: 0 });
    await assert.rejects(
      carrier.readManifest('v1', signal),
      failsWith('NotABundle', /site\/bundles\/v1\.json/),
    );
    await assert.rejects(writeBundle(carrier, 'v1', one, signal), failsWith('NotABundle'));
  });
}

test('a manifest of more than 64 KiB is neither written nor read', async () => {
  const { carrier, bucket } = setUp();
  const large = Buffer.alloc(64 * 1024 + 1, ' ');
  await assert.rejects(carrier.writeManifest('v1', manifestType, large, signal), failsWith('NotABundle'));
  bucket.objects.set(blobKey(digestOf(large)), { bytes: large, modifiedAt: 0 });
  await assert.rejects(carrier.readManifest(digestOf(large), signal), failsWith('NotABundle'));
});

for (const reference of [
  '',
  '../v1',
  'a/b',
  '.hidden',
  `${'x'.repeat(129)}`,
  'sha256:abc',
  'sha512:abc',
  'v1\n',
]) {
  test(`the reference ${JSON.stringify(reference).slice(0, 20)} is refused before anything is sent`, async () => {
    const { carrier, bucket } = setUp();
    await assert.rejects(carrier.readManifest(reference, signal), failsWith('InvalidReference'));
    await assert.rejects(
      carrier.writeManifest(reference, manifestType, one.manifest, signal),
      failsWith('InvalidReference'),
    );
    await assert.rejects(carrier.removeTag(reference, signal), failsWith('InvalidReference'));
    assert.deepEqual(bucket.calls, []);
  });
}

test('only objects that a tag could have are listed as tags', async () => {
  const { carrier, bucket } = setUp();
  await writeBundle(carrier, 'v1', one, signal);
  for (const key of [
    'site/bundles/a/b.json',
    'site/bundles/.json',
    'site/bundles/note.txt',
    'site2/bundles/v2.json',
  ]) {
    bucket.objects.set(key, { bytes: Buffer.from('{}'), modifiedAt: 0 });
  }
  assert.deepEqual(await carrier.listTags(signal), ['v1']);
});

test('a bucket with more tags than a mirror has is refused', async () => {
  const { carrier, bucket } = setUp();
  for (let tag = 0; tag <= 10_000; tag += 1) {
    bucket.objects.set(`site/bundles/${tag}.json`, { bytes: Buffer.from('{}'), modifiedAt: 0 });
  }
  await assert.rejects(carrier.listTags(signal), failsWith('NotABundle'));
});

test('a call ends with the reason of its signal', async () => {
  const { carrier } = setUp();
  const aborted = AbortSignal.abort(new Error('the operator stops'));
  await assert.rejects(carrier.readManifest('v1', aborted), /the operator stops/);
  await assert.rejects(carrier.listTags(aborted), /the operator stops/);
});

test('a carrier closes its bucket', async () => {
  const { carrier, bucket } = setUp();
  await carrier.close();
  assert.deepEqual(bucket.calls, ['close']);
});
