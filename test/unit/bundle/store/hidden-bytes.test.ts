// The pack of a stored bundle holds no byte of a hidden file, and the digest still names the whole archive.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { runPreparation } from '#bundle/prepare/preparation-run.ts';
import { digestOf } from '#bundle/store/digest.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { readText } from '../../../support/store-builder.ts';
import { entry, tar } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const secret = 'KEY=5ecretOfTheBuild';
let storeDir: string;
beforeEach((t) => {
  storeDir = temporaryFolder(t);
});

/** @param storeDir none: an inspection, which writes no pack */
async function read(
  archive: Buffer,
  into: string | undefined,
  serveDotfiles?: readonly string[],
): Promise<BundleIndex> {
  const path = join(storeDir, 'archive.tar');
  await writeFile(path, archive);
  return runPreparation(
    {
      task: 'prepare',
      link: pathToFileURL(path).href,
      ...{ storeDir: into, serveDotfiles },
      workDir: join(storeDir, '.incoming-one'),
      expectedDigest: undefined,
      limits: defaultLimits,
      allowPrivateLinks: false,
      allowFileLinks: true,
      extraCaPem: undefined,
      userAgent: 'test',
      wantsFiles: true,
    },
    {
      clock: systemClock,
      proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
      onProgress: () => {},
    },
  );
}

const packOf = (digest: string): Promise<Buffer> => readFile(join(bundleFolder(storeDir, digest), 'pack'));

/** The content of a file as the store gives it, after a check of the whole copy. */
async function readBack(digest: string, path: string): Promise<string> {
  const bundle = (await (await openBundleStore(storeDir, { keep: 1 })).open(digest)) ?? assert.fail();
  const file = bundle.index.files.find((one) => one.path === path) ?? assert.fail(path);
  const content = readText(bundle, file);
  await bundle.close();
  return content;
}

const archives: Readonly<Record<string, { readonly parts: readonly Buffer[]; readonly shown: string }>> = {
  'at the root': {
    parts: [entry('.env', secret), entry('index.html', 'home'), entry('_headers', secret)],
    shown: 'index.html',
  },
  'in a wrapping folder, at the root once that is off': {
    parts: [entry('out/_headers', secret), entry('out/index.html', 'home'), entry('out/.env', secret)],
    shown: 'index.html',
  },
  'replaced by a later entry': {
    parts: [entry('.env', secret), entry('index.html', 'home'), entry('.env', `${secret} anew`)],
    shown: 'index.html',
  },
  'with a second name that is hidden too': {
    parts: [
      entry('.env', secret),
      entry('.env.local', '', { type: '1', linkName: '.env' }),
      entry('index.html', 'home'),
    ],
    shown: 'index.html',
  },
};

for (const [where, { parts, shown }] of Object.entries(archives)) {
  test(`the pack holds no byte of hidden files: ${where}`, async () => {
    const index = await read(tar(...parts), storeDir);
    const pack = await packOf(index.digest);
    assert.equal(pack.toString(), 'home');
    assert.equal(await readBack(index.digest, shown), 'home');
    const inspected = await read(tar(...parts), undefined);
    const { digest, pages, sizeBytes, files } = index;
    assert.equal(inspected.digest, digest);
    assert.equal(digestOf(files), digest);
    assert.deepEqual([inspected.pages, inspected.sizeBytes], [pages, sizeBytes]);
  });
}

test('a hidden file that is served has its bytes, also where an earlier copy has none', async () => {
  const parts = [entry('.env', secret), entry('tags/.net/index.html', 'net'), entry('index.html', 'home')];
  const { digest } = await read(tar(...parts), storeDir);
  assert.equal((await packOf(digest)).toString(), 'home');
  const index = await read(tar(...parts), storeDir, ['.net']);
  assert.deepEqual([index.digest, index.pages], [digest, 2]);
  assert.equal((await packOf(digest)).toString(), 'nethome');
  assert.equal(await readBack(digest, 'tags/.net/index.html'), 'net');
  await read(tar(...parts), storeDir);
  assert.equal((await packOf(digest)).toString(), 'nethome', 'a copy that has more stays');
});

test('a shown hard link keeps its bytes, and so does a wrapping folder that begins with a dot', async () => {
  const linked = await read(
    tar(
      entry('.cache/app.js', 'shared()'),
      entry('app.js', '', { type: '1', linkName: '.cache/app.js' }),
      entry('.well-known/security.txt', 'Contact'),
      entry('index.html', 'home'),
    ),
    storeDir,
  );
  assert.equal(await readBack(linked.digest, 'app.js'), 'shared()');
  assert.equal(await readBack(linked.digest, '.well-known/security.txt'), 'Contact');
  const wrapped = await read(tar(entry('.site/index.html', 'home'), entry('.site/a.js', 'a()')), storeDir);
  assert.equal(await readBack(wrapped.digest, 'a.js'), 'a()');
});

test('notes name no hidden file as their example, at the root or in a wrapping folder', async () => {
  const twice = (name: string): Buffer => Buffer.concat([entry(name, 'a'), entry(name, 'b')]);
  const notesOf = async (...parts: readonly Buffer[]): Promise<readonly string[]> =>
    (await read(tar(...parts), undefined)).notes.map(
      ({ code, count, example }) => `${code} ${count} ${example}`,
    );
  const home = entry('index.html', 'home');
  assert.deepEqual(await notesOf(twice('.env'), entry('a//.draft', ''), home), [
    'DuplicateReplaced 1 ',
    'PathNormalised 1 ',
  ]);
  assert.deepEqual(await notesOf(twice('.env'), twice('a.js'), twice('b.js'), home), [
    'DuplicateReplaced 3 "a.js"',
  ]);
  assert.deepEqual(await notesOf(twice('out/_headers'), entry('out/index.html', 'home')), [
    'DuplicateReplaced 1 ',
    'WrappingFolderRemoved 1 "out"',
  ]);
  assert.deepEqual(await notesOf(entry('.env\0x', 'a'), entry('a.html\0x', 'a'), home), [
    'NameEndsAtNul 2 "a.html"',
  ]);
});
