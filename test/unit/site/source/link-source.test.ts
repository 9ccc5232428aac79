// A refusal that a flag could change names the flag and its value; every other error stays as it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BundleError } from '../../../../src/bundle/bundle-error.ts';
import { refusal } from '../../../../src/bundle/refusal.ts';
import { nameFlag } from '../../../../src/site/source/link-source.ts';

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
    assert.ok(named instanceof BundleError);
    assert.deepEqual([named.kind, named.code], ['rejected', code]);
    assert.match(named.message, words);
  });
}

test('what no flag could change stays as it is', () => {
  for (const error of [refusal('NoEndMark'), new Error('else'), 'no error']) {
    assert.equal(nameFlag(error, limits), error);
  }
});
