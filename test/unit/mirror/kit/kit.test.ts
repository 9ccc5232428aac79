// The form of a kit: the same inputs give the same bytes, each byte counts, and no byte too many or too few passes.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { tarHeadersOf } from '#bundle/archive/archive-writer.ts';
import { parseDocument } from '#mirror/kit/kit-document.ts';
import { checkContents, readKitHead } from '#mirror/kit/kit-reader.ts';
import { signBytes } from '#mirror/kit/minisign.ts';
import { buildKit, checkKit, kitSource, readTarFiles } from '../../../support/kit-builder.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { minisignKeys } from '../../../support/minisign-keys.ts';
import { body, entry, header, tar } from '../../../support/tar-builder.ts';

const keys = await minisignKeys();
const site = { 'index.html': '<h1>home</h1>', 'a.html': 'a' };
const kit = await buildKit([{ site, version: 'v1' }], keys.key);
const never = new AbortController().signal;
const code = (value: string) => ({ code: value });

test('a kit is a tar of the list, its signature and an OCI layout, in this order', async () => {
  const { document } = await checkKit(kit, keys.key);
  const names = [...readTarFiles(kit).keys()];
  assert.deepEqual(names, ['kit.json', 'kit.json.minisig', ...document.files.map(({ path }) => path)]);
  assert.deepEqual(names.slice(2, 4), ['oci-layout', 'index.json']);
  const { digest } = memoryBundle(site).index;
  const [bundle] = document.bundles;
  assert.deepEqual(bundle, {
    kind: 'whole',
    digest,
    version: 'v1',
    pages: 2,
    files: 2,
    sizeBytes: 14,
    manifest: bundle?.manifest,
  });
});

test('the layout names each bundle by its digest, and every blob by its own', async () => {
  const files = readTarFiles(kit);
  const index = JSON.parse(String(files.get('index.json')));
  const [manifest] = index.manifests;
  assert.equal(manifest.annotations['org.opencontainers.image.ref.name'], memoryBundle(site).index.digest);
  for (const [name, bytes] of files) {
    if (name.startsWith('blobs/')) assert.equal(name, `blobs/sha256/${hash('sha256', bytes, 'hex')}`);
  }
});

test('the same inputs give the same bytes', async () => {
  assert.deepEqual(await buildKit([{ site, version: 'v1' }], keys.key), kit);
});

/** Where list and signature end. What lies behind them is checked without reading them again. */
const contentsAt = kit.indexOf('oci-layout\0', 0, 'latin1');

test('every byte of a kit counts', async () => {
  const head = await checkKit(kit, keys.key);
  const changed = Buffer.from(kit);
  const check = async (at: number): Promise<void> => {
    if (at < contentsAt) await checkKit(changed, keys.key);
    else await checkContents(kitSource(changed), head, () => {}, never);
  };
  for (let at = 0; at < kit.length; at += 1) {
    changed[at] = (kit[at] ?? 0) ^ (1 << (at % 8));
    await assert.rejects(check(at), { kind: 'refused' }, `byte ${at}`);
    changed[at] = kit[at] ?? 0;
  }
  await check(0);
  await check(contentsAt);
});

test('a kit that is cut off at any length is refused', async () => {
  for (let length = 0; length < kit.length; length += 1) {
    const key = length < contentsAt ? keys.key : undefined;
    await assert.rejects(
      readKitHead(kitSource(kit.subarray(0, length)), key),
      code('KitDamaged'),
      `${length}`,
    );
  }
});

const withoutEnd = kit.subarray(0, -1024);
const firstBlob = kit.indexOf('blobs/sha256/');
const blobName = kit.toString('latin1', firstBlob, firstBlob + 77);
const headerAt = (name: string): number => kit.indexOf(`${name}\0`, 0, 'latin1');
const indexAt = headerAt('index.json');

const replaced = (at: number, bytes: Buffer): Buffer =>
  Buffer.concat([kit.subarray(0, at), bytes, kit.subarray(at + bytes.length)]);
const inserted = (at: number, bytes: Buffer): Buffer =>
  Buffer.concat([kit.subarray(0, at), bytes, kit.subarray(at)]);

/** An entry as the writer writes it, so that its header alone is no reason. */
const plainEntry = (name: string, content: string | Buffer): Buffer =>
  Buffer.concat([tarHeadersOf(name, Buffer.byteLength(content)), body(content)]);

const hostile: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['an entry that is not in its list', tar(withoutEnd, plainEntry('extra', 'x'))],
  ['an entry twice', tar(withoutEnd, plainEntry(blobName, 'x'))],
  ['an entry with ".." in its name', inserted(indexAt, plainEntry('../x', 'x'))],
  ['an absolute name', inserted(indexAt, entry('/etc/passwd', 'x'))],
  [
    'a symbolic link in place of an entry',
    replaced(indexAt, header({ name: 'index.json', type: '2', linkName: 'x' })),
  ],
  ['a hard link behind its entries', tar(withoutEnd, header({ name: 'x', type: '1', linkName: 'kit.json' }))],
  ['a folder', inserted(indexAt, header({ name: 'blobs/', type: '5' }))],
  ['a long name in GNU format', inserted(indexAt, entry('././@LongLink', 'x'.repeat(2000), { type: 'L' }))],
  ['an extended header', inserted(indexAt, entry('x', '11 path=ab\n', { type: 'x' }))],
  ['bytes behind its end', Buffer.concat([kit, Buffer.from('x')])],
  ['another block of zeros behind its end', Buffer.concat([kit, Buffer.alloc(512)])],
  ['a second kit behind it', Buffer.concat([kit, kit])],
  ['another mode in a header', replaced(indexAt + 100, Buffer.from('0000600\0'))],
  ['nothing', Buffer.alloc(0)],
  ['zeros alone', Buffer.alloc(4096)],
  ['a list of a size that no list has', tar(header({ name: 'kit.json', size: 8 ** 10 }))],
  [
    'a list of a negative size',
    tar(header({ name: 'kit.json', size: Buffer.from([0xff, ...Array(11).fill(0xff)]) })),
  ],
];
for (const [what, bytes] of [
  ['a gzip file', gzipSync(Buffer.alloc(2000))],
  ['a short gzip file', gzipSync('x')],
  ['a zstd file', zstdCompressSync(Buffer.alloc(2000))],
  ['a zip file', Buffer.from('504b0304140000000800', 'hex')],
  ['a tar archive', Buffer.concat([tar(header({ name: 'index.html', size: 0 })), Buffer.alloc(1024)])],
] as const) {
  test(`${what} is called another file, not a damaged kit`, async () => {
    const read = (key: typeof keys.key | undefined) => readKitHead(kitSource(bytes), key);
    for (const key of [keys.key, undefined])
      await assert.rejects(read(key), { code: 'NotAKit', message: new RegExp(what.replace('short ', '')) });
  });
}

for (const [what, bytes] of hostile) {
  test(`a kit with ${what} is refused`, () => assert.rejects(checkKit(bytes, keys.key), code('KitDamaged')));
}

/** Signed by the right key: what a publisher's own faulty program could write. */
function signedKit(document: unknown): Buffer {
  const text = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
  return tar(plainEntry('kit.json', text), plainEntry('kit.json.minisig', signBytes(text, 'c', keys.key)));
}

const list = JSON.parse(String(readTarFiles(kit).get('kit.json')));
const blobs = list.files.slice(2);
const badLists: readonly (readonly [what: string, document: unknown, code?: string])[] = [
  ['is not JSON', 'x'],
  ['nests without end', '['.repeat(100_000)],
  ['has a field of a later version', { ...list, other: 1 }],
  ['has a later format', { ...list, format: 2 }, 'KitFormatUnknown'],
  ['has no format', { ...list, format: undefined }],
  ['lists a path outside of the layout', { ...list, files: [...list.files, { ...blobs[0], path: '../x' }] }],
  ['lists a blob twice', { ...list, files: [...list.files, blobs.at(-1)] }],
  ['lists blobs in another order', { ...list, files: [...list.files.slice(0, 2), ...blobs.toReversed()] }],
  ['lists no index', { ...list, files: [list.files[0], ...blobs] }],
  [
    'names a manifest that it does not list',
    { ...list, bundles: [{ ...list.bundles[0], manifest: `sha256:${'0'.repeat(64)}` }] },
  ],
  [
    'has a part whose name is a path',
    { ...list, parts: [{ kind: 'sbom', name: '../x', manifest: list.bundles[0].manifest }] },
  ],
  [
    'has a version with hidden characters',
    { ...list, bundles: [{ ...list.bundles[0], version: 'v\u202e' }] },
  ],
  ['has more entries than a kit needs', { ...list, files: [...list.files, ...Array(20_000).fill(blobs[0])] }],
  [
    'has a size that no tar holds',
    { ...list, files: [{ ...list.files[0], size: 8 ** 11 }, ...list.files.slice(1)] },
  ],
];
for (const [what, document, expected = 'KitDamaged'] of badLists) {
  test(`a signed list that ${what} is refused`, () =>
    assert.rejects(checkKit(signedKit(document), keys.key), code(expected)));
}

test('a list is not parsed before its signature is checked', async () => {
  const other = await minisignKeys();
  await assert.rejects(checkKit(signedKit('x'), other.key), code('SignatureInvalid'));
});

test('a kit of another key is refused, and the message names both', async () => {
  const other = await minisignKeys();
  await assert.rejects(checkKit(kit, other.key), {
    code: 'SignatureInvalid',
    message: `the kit is signed with the key ${keys.key.id}, not with ${other.key.id}`,
  });
  await assert.rejects(checkKit(kit, { ...other.key, id: keys.key.id, idBytes: keys.key.idBytes }), {
    code: 'SignatureInvalid',
    message: /does not fit its kit\.json/,
  });
});

test('without a key the list can be shown', async () => {
  const head = await readKitHead(kitSource(kit), undefined);
  assert.equal(head.keyId, keys.key.id);
  assert.equal(head.document.bundles[0]?.version, 'v1');
});

test('a list that is parsed is the list that was written', () => {
  assert.deepEqual(parseDocument(Buffer.from(JSON.stringify(list))), list);
});

test('padding of each entry is part of the check', async () => {
  const changed = Buffer.from(kit);
  const at = indexAt + 512 + body(Buffer.alloc(list.files[1].size)).length - 1;
  changed[at] = 1;
  await assert.rejects(checkKit(changed, keys.key), { code: 'KitDamaged', message: /not zeros/ });
});
