// The bundle reader accepts what the crawler packs: every address gives a path that the reader keeps unchanged, and the
// archive of a whole site is read file by file, without a note.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArchive } from '#bundle/archive/archive-reader.ts';
import { createAssembly } from '#bundle/archive/assembly.ts';
import { readFilePath } from '#bundle/archive/entry-path.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { packSite } from '#export-service/crawler/pack.ts';
import { withDocuments } from '#export-service/crawler/report.ts';
import { createScope, documentPath, filePath, locate } from '#site/site-scope.ts';
import * as traps from '../../../fixtures/sites/trap-site.ts';
import * as fc from '../../../support/properties.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { crawl, pages, serveSite } from './site-server.ts';

test('the bundle reader accepts every path of an address unchanged', () => {
  const scope = createScope(traps.domain, new URL('http://127.0.0.1:4000/'));
  const segment = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.constantFrom('..', '.', '', 'C:', 'a:b', '~', '%25', 'x'.repeat(200), '\u2028', '\u0085', '\ufffd'),
  );
  const path = fc
    .array(segment.map(encodeSafely), { maxLength: 70 })
    .map((segments) => `/${segments.join('/')}`);
  fc.assert(
    fc.property(path, (text) => {
      const located = locate(scope, text, new URL('http://127.0.0.1:4000/'));
      if (located.where !== 'inside') return;
      for (const name of [documentPath(located.address), filePath(located.address)]) {
        if (name === undefined) continue;
        assert.deepEqual(readFilePath(name, defaultLimits), { path: name, isNormalised: false });
      }
    }),
    { numRuns: 300 },
  );
});

function encodeSafely(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ff';
}

test('the bundle reader reads every file of the trap site by its path and hash', async (t) => {
  let site: Readonly<Record<string, traps.Served>> = {};
  const { origin } = await serveSite(t, (path) => site[path]);
  site = traps.trapSite(origin.origin);
  const result = await crawl(t, origin);
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar.gz');
  await packSite(result, archive, new AbortController().signal);
  const assembly = createAssembly(defaultLimits, createCountingSink());
  await readArchive(createReadStream(archive), assembly, defaultLimits, join(folder, 'spool'));
  const index = assembly.finish();
  assert.deepEqual(
    index.files.map(({ path, sha256, size }) => ({ path, sha256, size })),
    result.files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, size: sizeBytes })),
  );
  assert.deepEqual(index.notes, []);
  const lines = result.files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join('');
  assert.equal(index.digest, createHash('sha256').update(lines).digest('hex'));
});

test('the bundle reader finds the types that the crawler keeps', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/feed'
      ? { headers: { 'content-type': 'application/atom+xml; charset=utf-8' }, body: '<feed/>' }
      : pages({ '/': '<link rel=alternate href="/feed"><link rel=icon href="/feed">' })(path),
  );
  const archive = join(temporaryFolder(t), 'site.tar.gz');
  await packSite({ files: withDocuments(await crawl(t, origin)) }, archive, new AbortController().signal);
  const assembly = createAssembly(defaultLimits, createCountingSink());
  await readArchive(createReadStream(archive), assembly, defaultLimits, join(temporaryFolder(t), 'spool'));
  const { files, notes } = assembly.finish();
  assert.deepEqual(
    files.map(({ path, type }) => [path, type]),
    [
      ['_sx/report.json', undefined],
      ['_sx/types.json', undefined],
      ['feed', 'application/atom+xml'],
      ['index.html', undefined],
    ],
  );
  assert.deepEqual(notes, []);
});
