// Reading the mounted document: as kubelet mounts it, as a person puts it there, and as it is while it is not.

import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Link } from '#platform/wire/link.ts';
import { readFromFile, readFromFlags, withBasePath } from '#server/source/published-content.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder = '';
beforeEach((t) => {
  folder = temporaryFolder(t);
});

const secret = 'https://storage.example.com/a.tar.gz?X-Amz-Signature=feedc0de';
const document = (version: string): string =>
  JSON.stringify({
    version,
    jobId: 'job-1',
    bundleUrl: secret,
    issuedAt: '2026-11-21T10:00:00Z',
    expiresAt: '2026-11-21T11:00:00Z',
  });

async function mount(version: string): Promise<void> {
  await mkdir(join(folder, `..${version}`));
  await writeFile(join(folder, `..${version}`, 'bundle.json'), document(version));
  await symlink(`..${version}`, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

async function versionRead(): Promise<string | undefined> {
  const reading = await readFromFile(join(folder, 'bundle.json')).read();
  return reading.kind === 'published' ? reading.published.version : reading.kind;
}

test('a mounted folder is read through its ..data, and again after it was replaced', async () => {
  assert.equal(await versionRead(), 'absent');
  await mount('v1');
  assert.equal(await versionRead(), 'v1', 'the link of the file itself comes last');
  await symlink('..data/bundle.json', join(folder, 'bundle.json'));
  assert.equal(await versionRead(), 'v1');
  await mount('v2');
  await rm(join(folder, '..v1'), { recursive: true });
  assert.equal(await versionRead(), 'v2');
});

test('a plain file is read too, and an empty one counts as missing', async () => {
  await writeFile(join(folder, 'bundle.json'), document('v1'));
  assert.equal(await versionRead(), 'v1');
  await writeFile(join(folder, 'bundle.json'), '\n');
  assert.equal(await versionRead(), 'absent');
});

test('a hand-written bundle.json needs only the link', async () => {
  await writeFile(join(folder, 'bundle.json'), `{"bundleUrl": "${secret}"}`);
  const reading = await readFromFile(join(folder, 'bundle.json')).read();
  assert.ok(reading.kind === 'published');
  assert.equal(reading.published.link?.reveal(), secret);
  assert.equal(reading.published.version, undefined);
});

test('an invalid bundle.json is reported without its content', async () => {
  for (const text of [
    `{"bundleUrl": "${secret}"`,
    `{"bundleUrl": "${secret}", "digest": "x"}`,
    'null',
    secret,
  ]) {
    await writeFile(join(folder, 'bundle.json'), text);
    const reading = await readFromFile(join(folder, 'bundle.json')).read();
    assert.equal(reading.kind, 'unreadable', text);
    assert.ok(!JSON.stringify(reading).includes('feedc0de'));
  }
});

test('a folder instead of the file is reported as unreadable', async () => {
  await mkdir(join(folder, 'bundle.json'));
  assert.equal(await versionRead(), 'unreadable');
});

test('flags are a published bundle without version and digest', async () => {
  const link = Link.parse(secret) ?? assert.fail();
  assert.deepEqual(await readFromFlags(link, 'v7').read(), {
    kind: 'published',
    published: {
      version: 'v7',
      digest: undefined,
      jobId: undefined,
      link,
      issuedAt: undefined,
      expiresAt: undefined,
    },
  });
});

test('a file without a version is another link once it has changed, and the same link until then', async () => {
  const file = join(folder, 'export.tar.gz');
  const named = Link.parse(pathToFileURL(file).href) ?? assert.fail();
  await writeFile(join(folder, 'bundle.json'), JSON.stringify({ bundleUrl: named.reveal() }));
  const sources = [readFromFlags(named, undefined), readFromFile(join(folder, 'bundle.json'))];
  const links = async (): Promise<readonly Link[]> =>
    (await Promise.all(sources.map((source) => source.read()))).map(
      (reading) =>
        (reading.kind === 'published' ? reading.published.link : undefined) ?? assert.fail(reading.kind),
    );
  const isSame = (before: readonly Link[], after: readonly Link[]): readonly boolean[] =>
    before.map((link, at) => link.isSame(after[at]));
  const absent = await links();
  assert.ok(absent.every((link) => link.isSame(named)));
  await writeFile(file, 'one');
  const first = await links();
  assert.deepEqual(isSame(absent, first), [false, false]);
  assert.deepEqual(isSame(first, await links()), [true, true]);
  await writeFile(join(folder, 'next'), 'two');
  await rename(join(folder, 'next'), file);
  const second = await links();
  assert.deepEqual(isSame(first, second), [false, false]);
  for (const link of second) assert.equal(fileURLToPath(link.reveal()), file);
  const versioned = await readFromFlags(named, 'v7').read();
  assert.ok(versioned.kind === 'published' && versioned.published.link?.isSame(named));
});

for (const [what, named, fixed, wanted] of [
  ['neither says a base path', undefined, undefined, undefined],
  ['bundle.json alone names one', '/docs', undefined, '/docs'],
  ['the flag alone says one', undefined, '/docs', undefined],
  ['both say the same', '/docs', '/docs', '/docs'],
  ['both say the root', '', '', ''],
  ['they differ', '/docs', '/documentation', 'BasePathConflict'],
  ['the export is for the root and the flag is not', '', '/docs', 'BasePathConflict'],
  ['the flag says the root and the export is not for it', '/docs', '', 'BasePathConflict'],
] as const) {
  test(`base path: ${what}`, async () => {
    await writeFile(join(folder, 'bundle.json'), JSON.stringify({ bundleUrl: secret, basePath: named }));
    const reading = await withBasePath(readFromFile(join(folder, 'bundle.json')), fixed).read();
    if (reading.kind === 'published') assert.equal(reading.published.basePath, wanted);
    else assert.equal(reading.kind === 'unreadable' && reading.code, wanted);
  });
}

test('a conflict of base paths names both, and the two remedies', async () => {
  await writeFile(join(folder, 'bundle.json'), JSON.stringify({ bundleUrl: secret, basePath: '/docs' }));
  const reading = await withBasePath(readFromFile(join(folder, 'bundle.json')), '').read();
  assert.deepEqual(reading, {
    kind: 'unreadable',
    code: 'BasePathConflict',
    message:
      'bundle.json names basePath /docs, but --base-path is /; remove --base-path (site.basePath of the chart), or export the site for /',
  });
});
