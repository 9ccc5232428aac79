// The copy of a bundle: what is written, in which order, what a second one repeats, and what is refused.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { digestOf } from '#bundle/store/digest.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { type CopyOptions, copyBundle } from '#mirror/copy.ts';
import { type BundleImage, formatImage, parseImage } from '#mirror/image.ts';
import { createMemoryCarrier, type MemoryCarrier } from '../../support/memory-carrier.ts';
import * as fc from '../../support/properties.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const workDir = temporaryFolder();

const options: CopyOptions = { compression: 'Zstd', workDir, limits: defaultLimits };
const never = new AbortController().signal;
const version = '20260131-120000-0a1b2c3d';

type Site = Readonly<Record<string, string>>;
const site: Site = { 'index.html': '<h1>Home</h1>', 'guide/a.html': 'a'.repeat(5000), '.hidden': 'x' };

function bundleOf(files: Site, named: string | undefined = version) {
  const paths = Object.keys(files).sort();
  const digest = digestOf(
    paths.map((path) => ({ path, sha256: hash('sha256', files[path] ?? '', 'hex'), offset: 0, size: 0 })),
  );
  const archived: readonly ArchivedFile[] = paths.map((path) => {
    const bytes = Buffer.from(files[path] ?? '');
    return { path, size: bytes.length, read: () => [bytes] };
  });
  return { digest, version: named, files: archived };
}

const copy = (
  carrier: Carrier,
  files: Site = site,
  changed: Partial<CopyOptions> = {},
): Promise<BundleImage> => copyBundle(bundleOf(files), carrier, { ...options, ...changed }, never);

test('a copy is a tag of the content digest, a config and one layer', async () => {
  const carrier = createMemoryCarrier();
  const image = await copy(carrier);
  assert.equal(image.digest, bundleOf(site).digest);
  assert.deepEqual([...carrier.tags.keys()], [image.digest]);
  assert.deepEqual([...carrier.blobs.keys()].sort(), [image.config.digest, image.layer.digest].sort());
  const manifest: unknown = JSON.parse(String(carrier.tags.get(image.digest)));
  assert.deepEqual(manifest, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: 'application/vnd.staticexport.bundle.v1',
    config: image.config,
    layers: [image.layer],
    annotations: {
      'dev.staticexport.bundle.digest': image.digest,
      'org.opencontainers.image.version': version,
    },
  });
});

test('the manifest is written last, and everything is read back after it', async () => {
  const carrier = createMemoryCarrier();
  await copy(carrier);
  assert.deepEqual(carrier.calls, ['readManifest', 'writeBlob', 'writeBlob', 'writeManifest', 'readBlob']);
});

test('a second copy writes nothing and reads the first one', async () => {
  const carrier = createMemoryCarrier();
  const first = await copy(carrier);
  carrier.calls.length = 0;
  assert.deepEqual(await copy(carrier), first);
  assert.deepEqual(carrier.calls, ['readManifest', 'readBlob']);
});

test('a copy with another compression is the one that is there', async () => {
  const carrier = createMemoryCarrier();
  const first = await copy(carrier, site, { compression: 'Gzip' });
  assert.match(first.layer.mediaType, /tar\+gzip$/);
  assert.deepEqual(await copy(carrier), first);
});

test('a layer that was removed is written again', async () => {
  const carrier = createMemoryCarrier();
  const { layer } = await copy(carrier);
  carrier.blobs.delete(layer.digest);
  await copy(carrier);
  assert.ok(carrier.blobs.has(layer.digest));
});

test('the same files give the same bytes, whatever their order', async () => {
  const one = await copy(createMemoryCarrier());
  const { digest, files } = bundleOf(site);
  const bundle = { digest, version, files: files.toReversed() };
  const other = await copyBundle(bundle, createMemoryCarrier(), options, never);
  assert.deepEqual(other, one);
});

test('a site in one folder keeps its folder', async () => {
  // A reader of archives from elsewhere removes such a folder, and the digest would be another one.
  const image = await copy(createMemoryCarrier(), { 'docs/index.html': 'home', 'docs/a.html': 'a' });
  assert.equal(image.digest, bundleOf({ 'docs/index.html': 'home', 'docs/a.html': 'a' }).digest);
});

test('any content is read back with its digest', async () => {
  const segment = fc
    .string({ minLength: 1, maxLength: 12 })
    .filter((text) => /^[\p{L}\p{N} ._-]+$/u.test(text));
  const path = fc
    .array(segment, { minLength: 1, maxLength: 3 })
    .map((segments) => segments.join('/'))
    .filter((text) => !text.split('/').some((one) => one === '.' || one === '..'));
  const sites = fc.dictionary(path, fc.string(), { minKeys: 1, maxKeys: 6, noNullPrototype: true });
  await fc.assertAsync(
    fc.asyncProperty(sites, async (files) => {
      const names = Object.keys(files);
      const isTree = names.every((name) => !names.some((other) => other.startsWith(`${name}/`)));
      fc.pre(isTree);
      assert.equal((await copy(createMemoryCarrier(), files)).digest, bundleOf(files).digest);
    }),
    { numRuns: 60 },
  );
});

test('a tag of another kind of image is not replaced', async () => {
  const carrier = createMemoryCarrier();
  const { digest } = bundleOf(site);
  carrier.tags.set(digest, Buffer.from('{"schemaVersion":2}'));
  await assert.rejects(copy(carrier), { code: 'NotABundle', message: /Remove its tag/ });
  assert.equal(String(carrier.tags.get(digest)), '{"schemaVersion":2}');
});

test('a manifest of more than 64 KiB is not parsed, though it is one of this bundle', async () => {
  const carrier = createMemoryCarrier();
  const { manifestDigest } = await copy(carrier);
  const { digest } = bundleOf(site);
  const manifest = carrier.tags.get(digest) ?? Buffer.alloc(0);
  const padded = (bytes: number): Buffer =>
    Buffer.concat([manifest, Buffer.alloc(bytes - manifest.length, ' ')]);
  assert.equal(parseImage(manifest, 'registry', digest).manifestDigest, manifestDigest);
  parseImage(padded(64 * 1024), 'registry', digest);
  assert.throws(() => parseImage(padded(64 * 1024 + 1), 'registry', digest), { code: 'NotABundle' });
});

test('a tag of a bundle with other content is refused', async () => {
  const carrier = createMemoryCarrier();
  const layer = { descriptor: { ...(await copy(carrier)).layer }, diffId: `sha256:${'0'.repeat(64)}` };
  const { digest } = bundleOf({ 'index.html': 'other' });
  carrier.tags.set(digest, formatImage('f'.repeat(64), version, layer).manifestBytes);
  await assert.rejects(copy(carrier, { 'index.html': 'other' }), { code: 'NotABundle' });
});

test('a layer with other content under the digest is refused by its content', async () => {
  const carrier = createMemoryCarrier();
  const { layer } = await copy(carrier);
  const { digest } = bundleOf({ 'index.html': 'other' });
  const { manifestBytes } = formatImage(digest, version, { descriptor: layer, diffId: layer.digest });
  carrier.tags.set(digest, manifestBytes);
  await assert.rejects(copy(carrier, { 'index.html': 'other' }), { code: 'DigestMismatch' });
});

test('a damaged layer is not published', async () => {
  const carrier = createMemoryCarrier();
  const { layer } = await copy(carrier);
  const bytes = carrier.blobs.get(layer.digest) ?? Buffer.alloc(0);
  carrier.blobs.set(layer.digest, Buffer.concat([bytes.subarray(0, -1), Buffer.from([0x99])]));
  await assert.rejects(copy(carrier));
});

test('another writer with the same content may be faster', async () => {
  const carrier = createMemoryCarrier();
  const other = await copyBundle(
    bundleOf(site, '20200101-000000-00000000'),
    createMemoryCarrier(),
    options,
    never,
  );
  carrier.beforeCall = (call) => {
    if (call !== 'writeManifest') return;
    carrier.tags.set(
      other.digest,
      formatImage(other.digest, other.version, { descriptor: other.layer, diffId: diffIdOf(carrier, other) })
        .manifestBytes,
    );
  };
  const image = await copy(carrier);
  assert.equal(image.version, '20200101-000000-00000000');
});

const configShape = z.object({ rootfs: z.object({ diff_ids: z.tuple([z.string()]) }) });

function diffIdOf(carrier: MemoryCarrier, image: BundleImage): string {
  const config: unknown = JSON.parse(String(carrier.blobs.get(image.config.digest)));
  return configShape.parse(config).rootfs.diff_ids[0];
}

test('a kill before any call leaves no tag, and the next copy is whole', async () => {
  const carrier = createMemoryCarrier();
  await copy(carrier);
  const calls = carrier.calls.length;
  for (let at = 0; at < calls; at += 1) {
    const interrupted = createMemoryCarrier();
    interrupted.beforeCall = () => {
      if (interrupted.calls.length > at) throw new Error('killed');
    };
    await assert.rejects(copy(interrupted), /killed/);
    const tagged = [...interrupted.tags.keys()];
    if (tagged.length > 0) assert.ok(interrupted.blobs.size === 2, 'the tag comes after its blobs');
    interrupted.beforeCall = () => {};
    const image = await copy(interrupted);
    assert.deepEqual([...interrupted.tags.keys()], [image.digest]);
  }
  assert.deepEqual(readdirSync(workDir), [], 'no spool file has a name');
});

test('a file that changed while it was read is an error, and nothing is written', async () => {
  const carrier = createMemoryCarrier();
  const { digest } = bundleOf(site);
  const files = [{ path: 'index.html', size: 5, read: () => [Buffer.from('longer than five')] }];
  await assert.rejects(copyBundle({ digest, version, files }, carrier, options, never), {
    code: 'FileChanged',
  });
  assert.deepEqual(carrier.calls, ['readManifest']);
});
