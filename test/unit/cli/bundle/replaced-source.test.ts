// `--to` that names the archive which is read: the verbs that make an archive of another one refuse it, or replace it whole.

import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

const site = {
  'site/index.html':
    '<html><head><title>Home</title></head><body><main><h1>Home</h1><a href="/guide">g</a></main>',
  'site/guide/index.html': '<html><head><title>Guide</title></head><body><main><h1>Guide</h1>text</main>',
  'site/start.bat': 'x',
};

for (const verb of ['repair', 'portable', 'markdown', 'search']) {
  const made = archiveVerb(verb);

  test(`bundle ${verb} refuses to write over its source, under any name of it`, async (t) => {
    const folder = temporaryFolder(t);
    const source = join(folder, 'site.tar');
    writeFileSync(source, tarOf(site));
    linkSync(source, join(folder, 'hard.tar'));
    symlinkSync('site.tar', join(folder, 'soft.tar'));
    const before = readFileSync(source);
    for (const to of ['site.tar', 'hard.tar', 'soft.tar']) {
      const { code, document } = await made(source, '--to', join(folder, to));
      assert.deepEqual([code, document.code], [2, 'DestinationExists'], to);
    }
    assert.deepEqual(readFileSync(source), before);
    assert.deepEqual(readdirSync(folder).sort(), ['hard.tar', 'site.tar', 'soft.tar']);
  });

  test(`bundle ${verb} refuses a missing folder, a file as a folder and a folder before it reads its source`, async (t) => {
    const folder = temporaryFolder(t);
    const at = (name: string): string => join(folder, name);
    mkdirSync(at('folder.tar'));
    writeFileSync(at('file'), '');
    for (const [to, code, message] of [
      ['none/a.tar', 'DestinationMissing', /^the folder around --to .*a\.tar does not exist; make it first$/],
      ['file/a.tar', 'DestinationRefused', /^--to .*a\.tar is below a file; name a path in a folder$/],
      ['folder.tar', 'DestinationRefused', /^--to .*folder\.tar is not a file; name a file$/],
    ] as const) {
      // A source that is missing would fail with another code if it were read first.
      const { code: exitCode, document } = await made(at('none.tar'), '--to', at(to), '--replace');
      assert.deepEqual([exitCode, document.code], [2, code], to);
      assert.match(document.message, message);
    }
    assert.deepEqual(readdirSync(folder).sort(), ['file', 'folder.tar']);
  });

  test(`bundle ${verb} --replace gives its source the content that another name gets`, async (t) => {
    const folder = temporaryFolder(t);
    const at = (name: string): string => join(folder, name);
    writeFileSync(at('site.tar'), tarOf(site));
    linkSync(at('site.tar'), at('kept.tar'));
    const elsewhere = await made(at('site.tar'), '--to', at('other.tar'));
    const replaced = await made(at('site.tar'), '--to', at('site.tar'), '--replace');
    assert.equal(replaced.code, 0);
    assert.equal(replaced.document.changed, true);
    assert.equal(replaced.document.digest, elsewhere.document.digest);
    assert.deepEqual(readFileSync(at('site.tar')), readFileSync(at('other.tar')));
    // Not one byte was written into the file that was read.
    assert.deepEqual(readFileSync(at('kept.tar')), tarOf(site));
    assert.deepEqual(readdirSync(folder).sort(), ['kept.tar', 'other.tar', 'site.tar']);
  });

  test(`bundle ${verb} --replace leaves its source as it was where the new archive is rejected`, async (t) => {
    const folder = temporaryFolder(t);
    const source = join(folder, 'site.tar');
    // Each verb adds a file or more bytes to it than the limit allows.
    const head = '<html><head><title>x</title><script type="module" src="/app.js"></script></head><body>';
    const small = {
      'app.js': 'export {};',
      'index.html': `${head}<a href="/a">a</a>`,
      'a/index/index.html': `${head}${'x'.repeat(4096)}`,
    };
    writeFileSync(source, tarOf(small));
    const before = readFileSync(source);
    const limit = `${before.length}`;
    const { code, document } = await made(source, '--to', source, '--replace', '--max-archive-size', limit);
    assert.deepEqual([code, document.kind], [6, 'Error']);
    assert.deepEqual(readFileSync(source), before);
    assert.deepEqual(readdirSync(folder), ['site.tar']);
  });
}
