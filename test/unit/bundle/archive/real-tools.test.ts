// What real programs write is taken, in every format they know, with long, deep and non-ASCII names.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readBytes } from '../../../support/read-archive.ts';

const longName = `${'segment/'.repeat(20)}${'n'.repeat(120)}.html`;
const contents = {
  'index.html': 'home',
  'guides/é/日本.html': 'u',
  [longName]: 'long',
  'empty.txt': '',
  'large.js': 'x'.repeat(70_000),
};

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'real-tools-'));
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(dir, 'site', name)), { recursive: true });
    await writeFile(join(dir, 'site', name), content);
  }
});
after(() => rm(dir, { recursive: true, force: true }));

/** @param args of `tar`, up to what to pack */
async function packed(...args: readonly string[]) {
  const archive = join(dir, 'archive');
  execFileSync('tar', ['-cf', archive, ...args], { stdio: 'pipe' });
  return readBytes(await readFile(archive));
}

const latin1 = Object.fromEntries(
  Object.entries(contents).map(([name, text]) => [name, Buffer.from(text).toString('latin1')]),
);

describe('GNU tar', () => {
  for (const format of ['gnu', 'oldgnu', 'pax']) {
    test(`--format=${format}, the folder itself`, async () => {
      const { contents: read, index } = await packed(`--format=${format}`, '-C', join(dir, 'site'), '.');
      assert.deepEqual(read, latin1);
      assert.deepEqual(index.notes, []);
    });

    test(`--format=${format}, compressed, as a wrapping folder`, async () => {
      const { contents: read, index } = await packed(`--format=${format}`, '-z', '-C', dir, 'site');
      assert.deepEqual(read, latin1);
      assert.deepEqual(
        index.notes.map(({ code }) => code),
        ['WrappingFolderRemoved'],
      );
    });
  }

  test('a hard link becomes a second name', async () => {
    await mkdir(join(dir, 'linked'));
    await writeFile(join(dir, 'linked', 'a.html'), 'same');
    await link(join(dir, 'linked', 'a.html'), join(dir, 'linked', 'b.html'));
    const { contents: read } = await packed('-C', join(dir, 'linked'), 'a.html', 'b.html');
    assert.deepEqual(read, { 'a.html': 'same', 'b.html': 'same' });
  });

  for (const format of ['gnu', 'ustar']) {
    test(`--format=${format}, a symbolic link is refused by its name`, async () => {
      await mkdir(join(dir, format, 'assets'), { recursive: true });
      await symlink('/etc/hostname', join(dir, format, 'assets', 'logo.svg'));
      await assert.rejects(packed(`--format=${format}`, '-C', join(dir, format), 'assets'), {
        code: 'SymbolicLink',
        message: /with links followed \("assets\/logo\.svg"\)$/,
      });
    });
  }
});

describe('zip', () => {
  for (const args of [[], ['-0']]) {
    // To a pipe: sizes and checksums stand behind the data.
    test(`zip ${args.join(' ')}, to a file and to a pipe`, async () => {
      const zip = (...rest: readonly string[]) =>
        execFileSync('zip', ['-q', '-r', ...args, ...rest], { cwd: join(dir, 'site'), stdio: 'pipe' });
      const file = join(dir, `site${args.join('')}.zip`);
      zip(file, '.');
      for (const bytes of [await readFile(file), zip('-', '.')]) {
        assert.deepEqual((await readBytes(bytes)).contents, latin1);
      }
    });
  }
});

test('zstd at its highest usual level', async () => {
  const { contents: read } = await packed('-I', 'zstd -19', '-C', join(dir, 'site'), '.');
  assert.deepEqual(read, latin1);
});

test('git archive', async () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', [
      '-C',
      join(dir, 'site'),
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@example.com',
      ...args,
    ]);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'site');
  for (const format of ['tar', 'zip']) {
    const bytes = git('archive', `--format=${format}`, 'HEAD');
    assert.deepEqual((await readBytes(bytes)).contents, latin1, format);
  }
  await rm(join(dir, 'site', '.git'), { recursive: true });
});
