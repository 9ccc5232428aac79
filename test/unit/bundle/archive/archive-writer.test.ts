// The writer of archives: the reader and tar programs find every file by its name, the same files are the same bytes, and
// the writer reads no further than it is read.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type ArchivedFile, type ArchiveFormat, archiveBytes } from '#bundle/archive/archive-writer.ts';
import * as fc from '../../../support/properties.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;
const formats: readonly ArchiveFormat[] = ['tar', 'tar.gz', 'tar.zst'];

const fileOf = (path: string, content: string | Buffer = path): ArchivedFile => ({
  path,
  size: Buffer.byteLength(content),
  read: () => [Buffer.from(content)],
});

async function archiveOf(files: readonly ArchivedFile[], format: ArchiveFormat = 'tar'): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(archiveBytes(files, format, never)));
}

const folder = (bytes: number): string => `${'d'.repeat(bytes)}/`;
/** Around the bounds of a ustar header: 100 bytes of name, 155 of prefix; and beyond ASCII. */
const names = [
  'index.html',
  `${'n'.repeat(100)}`,
  `${'n'.repeat(101)}`,
  `${folder(155)}${'n'.repeat(100)}`,
  `${folder(155)}${'n'.repeat(101)}`,
  `${folder(156)}${'n'.repeat(90)}`,
  `${folder(32)}${'n'.repeat(240)}`,
  `${'deep/'.repeat(50)}${'n'.repeat(200)}`,
  'guides/é/日本.html',
  `${'é'.repeat(40)}/${'語'.repeat(40)}`,
  `${'é'.repeat(200)}`,
  `${'😀'.repeat(60)}`,
];

for (const format of formats) {
  test(`the reader finds every file of a ${format} unchanged, without a note`, async () => {
    const { contents, index } = await readBytes(
      await archiveOf(
        [...names.map((name) => fileOf(name)), fileOf('large.js', 'x'.repeat(70_000)), fileOf('empty', '')],
        format,
      ),
    );
    const latin1 = names.map((name) => [name, Buffer.from(name).toString('latin1')]);
    assert.deepEqual(contents, {
      ...Object.fromEntries(latin1),
      'large.js': 'x'.repeat(70_000),
      empty: '',
    });
    assert.deepEqual(index.notes, []);
  });

  test(`the order of the files changes no byte of a ${format}`, async () => {
    const files = names.map((name) => fileOf(name));
    assert.deepEqual(await archiveOf(files.toReversed(), format), await archiveOf(files, format));
  });
}

test('a tar program lists and verifies every name', async (t) => {
  const dir = temporaryFolder(t);
  const path = join(dir, 'site.tar');
  writeFileSync(path, await archiveOf(names.map((name) => fileOf(name))));
  const options = ['--utc', '--numeric-owner', '--quoting-style=literal'];
  const listed = execFileSync('tar', ['-tvf', path, ...options], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const rows = names
    .toSorted()
    .map((name) => `-rw-r--r-- 0/0 ${Buffer.byteLength(name)} 1970-01-01 00:00 ${name}`);
  assert.deepEqual(
    listed.map((line) => line.replace(/ +/g, ' ')),
    rows,
  );
});

test('a tar is these bytes, on any day and machine', async () => {
  const tar = await archiveOf(names.map((name) => fileOf(name)));
  const sha256 = createHash('sha256').update(tar).digest('hex');
  assert.equal(sha256, '08b745bf4a2cf250188907eda625748ffe1fcfdad15bf6759d818316bb760069');
});

test('the compressed forms hold the tar itself, and a gzip header names neither time nor system', async () => {
  const files = names.map((name) => fileOf(name));
  const tar = await archiveOf(files);
  const gzip = await archiveOf(files, 'tar.gz');
  assert.deepEqual(gunzipSync(gzip), tar);
  assert.deepEqual([...gzip.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  assert.deepEqual(zstdDecompressSync(await archiveOf(files, 'tar.zst')), tar);
});

test('whatever the names and contents are, the reader finds them', async () => {
  const segment = fc.stringMatching(/^[a-zé日]{1,130}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
  const entries = fc.uniqueArray(fc.tuple(path, fc.uint8Array({ maxLength: 1500 })), {
    selector: ([name]) => name,
    maxLength: 6,
  });
  await fc.assertAsync(
    fc.asyncProperty(entries, fc.constantFrom(...formats), async (files, format) => {
      // A name may be a folder of another: a bundle may hold both, and an archive too.
      const archive = await archiveOf(
        [fileOf('index.html'), ...files.map(([name, bytes]) => fileOf(name, Buffer.from(bytes)))],
        format,
      );
      const { contents } = await readBytes(archive);
      assert.deepEqual(contents, {
        'index.html': 'index.html',
        ...Object.fromEntries(files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')])),
      });
    }),
    { numRuns: 60 },
  );
});

test('no file is opened before the reader has taken the one before', async () => {
  const opened: string[] = [];
  const watched = (path: string): ArchivedFile => {
    const content = Buffer.alloc(1024 * 1024);
    return {
      path,
      size: content.length,
      read: () => {
        opened.push(path);
        return [content];
      },
    };
  };
  const bytes = archiveBytes(['a', 'b', 'c'].map(watched), 'tar', never);
  assert.deepEqual(opened, []);
  await bytes.next(); // header of a
  await bytes.next(); // content of a
  assert.deepEqual(opened, ['a']);
  await bytes.return(undefined);
  assert.deepEqual(opened, ['a']);
});

for (const format of formats) {
  test(`a reader that stops early closes the file that a ${format} was reading`, async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const endless: ArchivedFile = {
      path: 'a',
      size: Number.MAX_SAFE_INTEGER % 8 ** 11,
      read: async function* () {
        try {
          for (;;) yield Buffer.alloc(64 * 1024, 'x');
        } finally {
          resolve();
        }
      },
    };
    const bytes = archiveBytes([endless], format, never);
    await bytes.next();
    await bytes.next();
    await bytes.return(undefined);
    await closed;
  });

  test(`a file that cannot be read ends a ${format} with its error`, async () => {
    const broken: ArchivedFile = {
      path: 'b',
      size: 5,
      read: async function* () {
        yield Buffer.from('ab');
        throw new Error('gone');
      },
    };
    await assert.rejects(
      Array.fromAsync(archiveBytes([fileOf('a'), broken], format, never)),
      /^Error: gone$/,
    );
  });

  test(`an abort ends a ${format} with the signal’s reason`, async () => {
    const caller = new AbortController();
    const stopping: ArchivedFile = {
      path: 'm',
      size: 2,
      read: function* () {
        yield Buffer.from('x');
        caller.abort(new Error('stopped'));
        yield Buffer.from('x');
      },
    };
    await assert.rejects(
      Array.fromAsync(archiveBytes([stopping], format, caller.signal)),
      /^Error: stopped$/,
    );
  });
}

for (const [what, content] of [
  ['grows', 'abcdef'],
  ['shrinks', 'abcd'],
] as const) {
  test(`a file that ${what} while it is written ends the archive, because its header has the earlier size`, async () => {
    const changed: ArchivedFile = { path: 'a', size: 5, read: () => [Buffer.from(content)] };
    await assert.rejects(archiveOf([changed]), { code: 'FileChanged' });
  });
}

test('a file that a header of a tar cannot hold is refused by its name', async () => {
  const large: ArchivedFile = { path: 'video.mp4', size: 8 ** 11, read: () => [] };
  await assert.rejects(archiveOf([large]), { code: 'FileTooLarge', message: /"video\.mp4"/ });
});
