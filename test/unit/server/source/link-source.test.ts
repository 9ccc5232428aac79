// A refusal that a flag could change names the flag and its value; every other error stays as it is. What the real thread
// offers before it is stored is taken only where it is wanted; all else is trusted once it is stored.

import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { refusal } from '#bundle/refusal.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { bundleServer } from '#server/server-flags.ts';
import { nameFlag, openPreparation } from '#server/source/link-source.ts';
import { makeArchive, makeSite } from '../../../integration/server/archive.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const nothingPublished = {
  version: undefined,
  digest: undefined,
  jobId: undefined,
  issuedAt: undefined,
  expiresAt: undefined,
};
const limits = { maxArchiveSize: 4 * 1024 ** 3, maxBundleSize: 1024, maxFileSize: 1000, maxFiles: 7 };

for (const [code, words] of [
  ['ArchiveTooLarge', /larger than allowed \(--max-archive-size is 4GiB\)$/],
  ['ContentTooLarge', /\(--max-bundle-size is 1KiB\)$/],
  ['FileTooLarge', /\("a\/b"\) \(--max-file-size is 1000\)$/],
  ['TooManyFiles', /\(--max-files is 7\)$/],
  ['PathTooLong', /\(limit 1024 bytes\)$/],
  ['FileLink', /\(set --allow-file-links if intended\)$/],
] as const) {
  test(`${code} names its flag`, () => {
    const named = nameFlag(refusal(code, code === 'FileTooLarge' ? { name: 'a/b' } : {}), limits);
    assert.ok(named instanceof PublishableError);
    assert.deepEqual([named.kind, named.code], ['refused', code]);
    assert.match(named.message, words);
  });
}

test('a missing file and a folder name --bundle-url, if the link is its value', () => {
  const missing = new PublishableError('FileUnreadable', 'the file of the link does not exist', {
    kind: 'retry',
  });
  const bundleUrl = Link.parse('file:///srv/docs.tar.gz');
  assert.equal(nameFlag(missing, limits), missing);
  const named = nameFlag(missing, { ...limits, bundleUrl });
  assert.ok(named instanceof PublishableError);
  assert.deepEqual(
    [named.code, named.message],
    ['FileUnreadable', 'the file of --bundle-url does not exist'],
  );
});

test('what no flag could change stays as it is', () => {
  for (const error of [refusal('NoEndMark'), new Error('else'), 'no error']) {
    assert.equal(nameFlag(error, limits), error);
  }
});

for (const isWanted of [true, false]) {
  test(`content is ${isWanted ? '' : 'not '}served before it is stored, and hashed once`, async (t) => {
    const folder = temporaryFolder(t);
    const archive = join(folder, 'site.tar.gz');
    await writeFile(archive, await makeArchive(makeSite('v1')));
    const link = pathToFileURL(archive).href;
    const store = join(folder, 'store');
    const invocation = readInvocation(bundleServer, '1.0.0', ['--bundle-url', link, '--store', store], {});
    assert.ok(invocation.outcome === 'run');
    const noted: string[] = [];
    const prepare = openPreparation(
      invocation.values,
      { current: async () => undefined },
      {
        workerUrl: new URL('../../../../src/bin/bundle-worker.ts', import.meta.url),
        written: { note: (_store, { digest }) => void noted.push(digest), check: async () => undefined },
        pause: async () => {},
      },
    );
    const published = { ...nothingPublished, link: Link.parse(link) ?? assert.fail() };
    const request = { onProgress: () => {}, isWantedUnstored: () => isWanted };
    const prepared = await prepare(published, request, new AbortController().signal);
    const digest = 'stored' in prepared ? await prepared.committed : prepared.digest;
    assert.equal('stored' in prepared, isWanted);
    if ('stored' in prepared) await prepared.stored.close();
    assert.deepEqual(noted, isWanted ? [] : [digest]);
    assert.deepEqual(await readdir(join(store, 'bundles')), [digest]);
  });
}
