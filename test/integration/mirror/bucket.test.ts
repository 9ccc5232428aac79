// A mirror in a bucket of a real S3 service: what is written comes back, nothing is overwritten, and each refusal of the
// service is named.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, mock, suite, test } from 'node:test';
import { createBucketCarrier } from '#mirror/bucket-carrier.ts';
import type { Carrier } from '#mirror/carrier.ts';
import type { BucketSettings } from '#mirror/s3/bucket.ts';
import { openBucket } from '#mirror/s3/open-bucket.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../support/noise.ts';
import { noS3, startVersitygw, type Versitygw } from '../../support/versitygw.ts';
import { bundleOf, describe, failsWith, inOnePiece, writeBundle } from '../../unit/mirror/bundle-parts.ts';

const { signal } = new AbortController();

suite('a mirror in a bucket', { skip: noS3 }, () => {
  let s3: Versitygw;
  const carriers: Carrier[] = [];
  before(async () => {
    s3 = await startVersitygw();
    await s3.createBucket('docs');
  });
  after(async () => {
    await Promise.all(carriers.map((carrier) => carrier.close()));
    await s3.close();
  });

  async function open(prefix: string, change: Partial<BucketSettings> = {}): Promise<Carrier> {
    const bucket = await openBucket(s3.settings('docs', change), systemClock);
    const carrier = createBucketCarrier({ bucket, prefix, clock: systemClock });
    carriers.push(carrier);
    return carrier;
  }

  async function read(carrier: Carrier, content: Buffer): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(carrier.readBlob(describe(content), signal)));
  }

  test('hands back the bundle that was written', async () => {
    const carrier = await open('written/site');
    const bundle = bundleOf('config', 'layer');
    await writeBundle(carrier, 'v1', bundle, signal);
    await writeBundle(carrier, 'v2.0_x-y', bundle, signal);
    assert.deepEqual(await carrier.readManifest('v1', signal), bundle.manifest);
    assert.deepEqual(await carrier.readManifest(bundle.digest, signal), bundle.manifest);
    assert.equal((await read(carrier, Buffer.from('layer'))).toString(), 'layer');
    assert.deepEqual([...(await carrier.listTags(signal))].sort(), ['v1', 'v2.0_x-y']);
    assert.equal(await carrier.readManifest('v3', signal), undefined);
    assert.deepEqual(await (await open('written')).listTags(signal), []);
  });

  test('takes a blob of 64 MiB in pieces, and checks it on the way back', async () => {
    const carrier = await open('large');
    const content = noise(64 * 1024 * 1024);
    const open64 = async function* (): AsyncGenerator<Buffer> {
      for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000);
    };
    await carrier.writeBlob(describe(content), open64, signal);
    assert.equal(await carrier.hasBlob(describe(content), signal), true);
    assert.ok((await read(carrier, content)).equals(content));
  });

  test('refuses a second writer with other content, and lets one with the same pass', async () => {
    const [first, second] = [await open('writers'), await open('writers')];
    const [one, two] = [bundleOf('config', 'one'), bundleOf('config', 'two')];
    const results = await Promise.allSettled([
      writeBundle(first, 'v1', one, signal),
      writeBundle(second, 'v1', two, signal),
    ]);
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 1);
    assert.ok(refused[0]?.reason instanceof PublishableError);
    assert.equal(refused[0].reason.code, 'TagOccupied');
    const kept = await first.readManifest('v1', signal);
    await writeBundle(second, 'v1', kept?.equals(one.manifest) === true ? one : two, signal);
    assert.deepEqual(await first.readManifest('v1', signal), kept);
  });

  test('refuses bytes that are not those of the digest, and stores none of them', async () => {
    const carrier = await open('refused');
    const blob = describe(Buffer.from('expected'));
    const writing = carrier.writeBlob(blob, () => inOnePiece(Buffer.from('replaced')), signal);
    await assert.rejects(writing, failsWith('BlobDamaged', /400 \(XAmzContentSHA256Mismatch\)/));
    assert.equal(await carrier.hasBlob(blob, signal), false);
  });

  test('removes a tag with the blobs that it alone names', async () => {
    const carrier = await open('removed');
    const [one, two] = [bundleOf('config', 'one'), bundleOf('config', 'two')];
    await writeBundle(carrier, 'v1', one, signal);
    await writeBundle(carrier, 'v2', two, signal);
    await carrier.removeTag('v1', signal);
    await carrier.removeTag('v1', signal);
    assert.deepEqual(await carrier.listTags(signal), ['v2']);
    assert.equal(await carrier.hasBlob(describe(Buffer.from('one')), signal), false);
    assert.equal((await read(carrier, Buffer.from('config'))).toString(), 'config');
    await carrier.removeTag('v2', signal);
    assert.equal(await carrier.hasBlob(describe(Buffer.from('config')), signal), false);
  });

  test('notices a byte that changed on the disk', async () => {
    const carrier = await open('damaged');
    const bundle = bundleOf('config', 'layer');
    await writeBundle(carrier, 'v1', bundle, signal);
    for (const { digest } of [describe(Buffer.from('layer')), { digest: bundle.digest }]) {
      const file = s3.fileOf('docs', `damaged/blobs/sha256/${digest.slice(7)}`);
      const bytes = await readFile(file);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      await writeFile(file, bytes);
    }
    await assert.rejects(read(carrier, Buffer.from('layer')), failsWith('BlobDamaged'));
    await assert.rejects(carrier.readManifest('v1', signal), failsWith('BlobDamaged'));
  });

  test('names each refusal of the service', async () => {
    const key = s3.rootKey;
    const rows = [
      [{ credentials: { ...key, secretAccessKey: 'wrong' } }, 'Denied', /403 \(SignatureDoesNotMatch\)/],
      [{ credentials: { ...key, accessKeyId: 'unknown' } }, 'Denied', /403 \(InvalidAccessKeyId\)/],
      [{ credentials: { ...key, sessionToken: 'unknown' } }, 'Denied', /400 \(InvalidToken\)/],
      [{ region: 'eu-west-1' }, 'WrongRegion', /Set the region to us-east-1/],
      [{ bucket: 'missing' }, 'RepositoryMissing', /Bucket missing at .* returned 404 \(NoSuchBucket\)/],
    ] as const;
    for (const [change, code, message] of rows) {
      const carrier = await open('refusals', change);
      await assert.rejects(carrier.listTags(signal), failsWith(code, message));
      await assert.rejects(carrier.readManifest('v1', signal), failsWith(code, message));
      await assert.rejects(writeBundle(carrier, 'v1', bundleOf('config'), signal), failsWith(code, message));
    }
  });

  test('lets a user who may only read it read, and says which permission is missing', async () => {
    const credentials = await s3.createReader('docs');
    await writeBundle(await open('shared'), 'v1', bundleOf('config', 'layer'), signal);
    const reader = await open('shared', { credentials });
    assert.deepEqual(await reader.listTags(signal), ['v1']);
    assert.equal((await read(reader, Buffer.from('layer'))).toString(), 'layer');
    const denied = failsWith('Denied', /403 \(AccessDenied\).* it may do s3:PutObject/);
    await assert.rejects(writeBundle(reader, 'v2', bundleOf('config', 'other'), signal), denied);
    await assert.rejects(reader.removeTag('v1', signal), denied);
  });

  test('works on a machine whose clock is two hours wrong', async () => {
    const carrier = await open('skewed');
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 3_600_000 });
    try {
      await writeBundle(carrier, 'v1', bundleOf('config'), signal);
      assert.deepEqual(await carrier.listTags(signal), ['v1']);
    } finally {
      mock.timers.reset();
    }
  });
});
