// The commands about archives as a user runs them: processes, files, a browser's request. Each error names what it is
// about, and nothing that an archive holds reaches the terminal unescaped.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { entry, type TarFiles, tar, tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const program = programFile('static-export');
const run = (...args: readonly string[]): Promise<CommandResult> => runInProcess(['bundle', ...args]);

function siteIn(folder: string, files: TarFiles): string {
  const site = join(folder, 'site');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(site, name)), { recursive: true });
    writeFileSync(join(site, name), content);
  }
  return site;
}

async function failure(exitCode: number, ...args: readonly string[]) {
  const { code, stdout, stderr } = await run(...args, '-o', 'json');
  assert.equal(code, exitCode, stderr);
  const document = JSON.parse(stdout);
  assert.equal(document.kind, 'Error');
  return document;
}

const pages: TarFiles = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>' };

test('a folder is packed with its hidden files, and the result says how many', async (t) => {
  const folder = temporaryFolder(t);
  const site = siteIn(folder, { ...pages, '.env': 'x', '.git/HEAD': 'y', '.well-known/z': 'z' });
  const archive = join(folder, 'site.tar.gz');
  const { code, stdout, stderr } = await run('pack', site, archive);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Pages: {3}2$/m);
  assert.match(stdout, /^Files: {3}5 \(2 that a server does not show, such as \.env\)$/m);
  const again = await run('pack', site, join(folder, 'again.tar.gz'), '-o', 'json');
  assert.equal(JSON.parse(again.stdout).hiddenFiles, 2);
  assert.deepEqual(readFileSync(join(folder, 'again.tar.gz')), readFileSync(archive));
});

test('inspect shows the report of an export, and says where there is none', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar');
  const none = { count: 0, entries: [] };
  const report = {
    ...{ schemaVersion: 1, pages: 2, files: 2, sizeBytes: 26 },
    missing: { asked: 3, count: 1, entries: [{ path: '/lost', reason: 'NotFound', from: '/a' }] },
    ...{ leftOut: none, external: none, queryVariants: none, notes: none },
    searchIndexes: { count: 1, entries: [{ tool: 'Pagefind', path: 'pagefind/pagefind-entry.json' }] },
  };
  writeFileSync(archive, tarOf({ ...pages, '_sx/report.json': JSON.stringify(report) }));
  const shown = await run('inspect', archive, '--report');
  assert.match(shown.stdout, /^Files: {3}3$/m);
  assert.match(
    shown.stdout,
    /^Note: {4}1 page or file is missing from the export: \/lost \(NotFound, from \/a\)$/m,
  );
  assert.match(shown.stdout, /^Missing, of 3 that the site asks for: 1\n {2}\/lost \(NotFound, from \/a\)$/m);
  assert.match(shown.stdout, /^Search indexes: 1\n {2}Pagefind: pagefind\/pagefind-entry\.json$/m);
  const document = JSON.parse((await run('inspect', archive, '--report', '-o', 'json')).stdout);
  assert.deepEqual(document.report, report);
  writeFileSync(archive, tarOf(pages));
  assert.match((await run('inspect', archive, '--report')).stdout, /^Report: {2}none\./m);
});

test('a page by name that holds JSON is not counted by inspect, diff and serve, and is served as JSON', async (t) => {
  const folder = temporaryFolder(t);
  const data = { '_mintlify/api/user/index.html': '{"user":null}' };
  const [before, after] = [join(folder, 'before.tar'), join(folder, 'after.tar')];
  writeFileSync(before, tarOf(pages));
  writeFileSync(after, tarOf({ ...pages, ...data }));
  assert.match((await run('inspect', after)).stdout, /^Pages: {3}2$/m);
  assert.match((await run('diff', before, after)).stdout, /1 added, 0 changed, 0 removed\. Pages: 2$/m);
  const args = [program, 'bundle', 'serve', after, '--listen', '127.0.0.1:0'];
  const child = startProgram(process.execPath, { args });
  t.after(() => child.stop('SIGKILL'));
  const url = await eventually('the address', () => /Serving 2 pages at (\S+)/.exec(child.tail())?.[1]);
  const answer = await fetch(`${url}_mintlify/api/user/`);
  assert.deepEqual(
    [answer.status, answer.headers.get('content-type'), await answer.text()],
    [200, 'application/json', '{"user":null}'],
  );
});

test('a link out of the folder is refused, and no archive is written', async (t) => {
  const folder = temporaryFolder(t);
  const site = siteIn(folder, pages);
  symlinkSync('/etc/passwd', join(site, 'users.txt'));
  const { code, message } = await failure(2, 'pack', site, join(folder, 'site.tar.gz'));
  assert.equal(code, 'LinkLeavesFolder');
  assert.match(message, /"users\.txt" leads out of the folder/);
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('an archive that servers would reject replaces nothing', async (t) => {
  const folder = temporaryFolder(t);
  const site = siteIn(folder, pages);
  const archive = join(folder, 'site.tar.gz');
  assert.equal((await run('pack', site, archive)).code, 0);
  const before = readFileSync(archive);
  writeFileSync(join(site, 'a\\b.html'), 'x');
  const { code } = await failure(6, 'pack', site, archive, '--replace');
  assert.equal(code, 'BackslashInPath');
  assert.deepEqual(readFileSync(archive), before);
  assert.deepEqual(readdirSync(folder).sort(), ['site', 'site.tar.gz']);
});

test('an archive within the folder that is packed is refused, and an empty folder too', async (t) => {
  const folder = temporaryFolder(t);
  const site = siteIn(folder, pages);
  symlinkSync(site, join(folder, 'link'));
  for (const archive of [join(site, 'site.tar'), join(site, 'a/site.tar'), join(folder, 'link/site.tar')]) {
    assert.equal((await failure(2, 'pack', site, archive)).code, 'DestinationInSource');
  }
  const empty = join(folder, 'empty');
  mkdirSync(join(empty, 'a'), { recursive: true });
  assert.equal((await failure(2, 'pack', empty, join(folder, 'site.tar'))).code, 'FolderEmpty');
  assert.deepEqual(readdirSync(folder).sort(), ['empty', 'link', 'site']);
});

test('what a killed run left in a folder is not packed', async (t) => {
  const folder = temporaryFolder(t);
  const left = '.site.tar.static-export-9999999999-01234567.01234567.partial';
  const site = siteIn(folder, { ...pages, [left]: 'half' });
  const { stdout } = await run('pack', site, join(folder, 'site.tar'), '-o', 'json');
  assert.equal(JSON.parse(stdout).files, 2);
});

test('progress of a comparison names the archive that is read', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(pages));
  const { stdout } = await runCommand([
    'sh',
    '-c',
    '"$0" "$@" 2>&1',
    process.execPath,
    program,
    'bundle',
    'diff',
    archive,
    archive,
  ]);
  assert.match(stdout, /^Reading OLD\nReading NEW\n/);
});

test('a source that does not exist is named as the source', async (t) => {
  const folder = temporaryFolder(t);
  const { code, message } = await failure(2, 'pack', join(folder, 'none'), join(folder, 'site.tar'));
  assert.deepEqual([code, message.startsWith('SOURCE cannot be read (ENOENT)')], ['SourceUnreadable', true]);
});

test('a folder in place of an archive is told, with the command that packs it', async (t) => {
  const folder = temporaryFolder(t);
  for (const command of [['inspect'], ['verify'], ['serve']]) {
    const { code, next } = await failure(2, ...command, folder);
    assert.equal(code, 'ArchiveIsFolder');
    assert.match(next[0], /^static-export bundle pack FOLDER ARCHIVE /);
  }
});

test('a link as an archive is named as such, and never shown', async (t) => {
  const link = 'https://storage.example.com/site.tar.gz?sig=s3cret';
  const to = join(temporaryFolder(t), 'out.tar');
  for (const command of [
    ['inspect', link],
    ['serve', link],
    ['diff', link, link],
    ['pack', link, to],
    ['markdown', link, '--to', to],
  ]) {
    const error = await failure(2, ...command);
    assert.equal(error.code, 'ArchiveIsLink', command[0]);
    assert.match(error.message, /the path is a link, not an archive; download it first$/);
    assert.doesNotMatch(JSON.stringify(error), /s3cret|storage\.example/);
  }
});

test('an archive that is too large, empty or of another kind names the remedy', async (t) => {
  const at = (name: string): string => join(folder, name);
  const folder = temporaryFolder(t);
  writeFileSync(at('site.tar'), tarOf(pages));
  writeFileSync(at('packed.tar.gz'), gzipSync(tarOf({ 'index.html': 'x'.repeat(4000) })));
  writeFileSync(at('empty.tar'), Buffer.alloc(1024));
  writeFileSync(at('site.rar'), 'Rar!\x1a\x07\x00 and more bytes than a header needs');
  for (const [name, code, remedy, ...flags] of [
    [
      'site.tar',
      'ArchiveTooLarge',
      /\(--max-archive-size is 1KiB\); raise --max-archive-size if/,
      '--max-archive-size=1KiB',
    ],
    [
      'packed.tar.gz',
      'ContentTooLarge',
      /\(--max-bundle-size is 2KiB\); raise --max-bundle-size if/,
      '--max-bundle-size=2KiB',
    ],
    ['empty.tar', 'EmptyBundle', /holds no file; pack the folder of the site, or export the site again$/],
    ['site.rar', 'UnknownArchiveType', /; unpack it, and pack the folder with bundle pack$/],
  ] as const) {
    const error = await failure(6, 'inspect', at(name), ...flags);
    assert.equal(error.code, code);
    assert.match(error.message, remedy);
  }
});

test('an error of a comparison names which of the two archives it is about', async (t) => {
  const folder = temporaryFolder(t);
  const [good, bad] = [join(folder, 'good.tar'), join(folder, 'bad.tar')];
  writeFileSync(good, tarOf(pages));
  writeFileSync(bad, tar(entry('../x.html', 'x')));
  assert.match((await failure(6, 'diff', bad, good)).message, /^OLD: an entry has a path with "\.\."/);
  assert.match((await failure(6, 'diff', good, bad)).message, /^NEW: an entry has a path with "\.\."/);
  assert.match(
    (await failure(2, 'diff', good, join(folder, 'none'))).message,
    /^NEW: the archive does not exist/,
  );
});

test('a digest may be given with its algorithm, and a wrong one is shown beside the right one', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(pages));
  const { digest } = JSON.parse((await run('inspect', archive, '-o', 'json')).stdout);
  assert.equal((await run('verify', archive, '--digest', `sha256:${digest}`)).code, 0);
  const wrong = await run('verify', archive, `--digest=sha256:${'0'.repeat(64)}`);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, new RegExp(`^Digest: {2}${digest}\nWanted: {2}0{64}$`, 'm'));
});

for (const [content, code] of [
  ['', 'EmptyArchive'],
  ['<!doctype html><p>Sign in', 'HtmlInsteadOfArchive'],
  ['<?xml version="1.0"?><Error/>', 'XmlInsteadOfArchive'],
  ['text', 'UnknownArchiveType'],
] as const) {
  test(`a file with ${code} is rejected, and no retry is promised`, async (t) => {
    const archive = join(temporaryFolder(t), 'site.tar.gz');
    writeFileSync(archive, content);
    const { code: found, message, retryable } = await failure(6, 'inspect', archive);
    assert.deepEqual([found, retryable], [code, false]);
    assert.doesNotMatch(message, /retrying|download is|link/);
    assert.equal((await run('verify', archive)).code, 1);
  });
}

test('an archive is served below its base path as soon as its address is printed', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar.gz');
  writeFileSync(archive, gzipSync(tarOf({ 'index.html': '<h1>home</h1>' })));
  const args = [program, 'bundle', 'serve', archive, '--listen', '127.0.0.1:0', '--base-path', 'docs'];
  const child = startProgram(process.execPath, { args });
  const url = await eventually(
    'the address is printed',
    () => /Serving 1 page at (http:\/\/127\.0\.0\.1:\d+\/docs\/) /.exec(child.tail())?.[1],
  );
  const response = await fetch(url);
  assert.deepEqual([response.status, await response.text()], [200, '<h1>home</h1>']);
  await child.stop('SIGINT');
  assert.equal(await child.exited, 0);
});

test('a base path that is none is refused before the archive is read; so is a group without a command', async () => {
  const cases = [
    [
      ['serve', '/none.tar', '--base-path', '../x'],
      '--base-path must be a plain path such as /docs',
      / serve --help {2}# explains/,
    ],
    [[], 'a command is missing', /^static-export bundle --help {2}# lists its commands$/],
  ] as const;
  for (const [args, message, next] of cases) {
    const { code, stdout } = await run(...args, '-o', 'json');
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.message], [2, 'WrongUsage', message]);
    assert.match(error.next[0], next);
  }
});

test('an archive without pages ends serve with its reason, once', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar');
  writeFileSync(archive, tarOf({ 'a.css': 'a{}' }));
  const { code, stderr } = await run('serve', archive, '--listen', '127.0.0.1:0');
  assert.equal(code, 6);
  assert.equal(stderr.match(/has no page/g)?.length, 1, stderr);
});

test('a warning of the server is a line for a person', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar');
  writeFileSync(archive, tarOf({ 'index.html': '<script src="/app.js"></script>', 'app.js': '1' }));
  const args = [program, 'bundle', 'serve', archive, '--listen', '127.0.0.1:0', '--base-path', '/docs/'];
  const child = startProgram(process.execPath, { args });
  await eventually(
    'the warning is printed',
    () =>
      /^Warning: the home page loads "\/app\.js", which is not in the bundle/m.test(child.tail()) ||
      undefined,
  );
  assert.doesNotMatch(child.tail(), /\{/);
  await child.stop('SIGINT');
});

test('what visitors would miss is a warning of verify, inspect and pack, and the answer stays yes', async (t) => {
  const folder = temporaryFolder(t);
  const files = {
    'site/index.html': '<a href=.x.pdf>',
    'site/.x.pdf': 'x',
    'b.html': 'b',
    '.net/a.html': 'a',
  };
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(files));
  const wanted: readonly RegExp[] = [
    /the root has no home page and the first page is: "site\/index\.html"/,
    /2 hidden paths of pages or linked files or scripts get 404: "\.net\/a\.html", "site\/\.x\.pdf"/,
  ];
  for (const command of [
    ['verify', archive],
    ['inspect', archive],
    ['pack', siteIn(folder, files), join(folder, 'out.tar')],
  ]) {
    const { code, stdout } = await run(...command);
    assert.equal(code, 0);
    for (const line of wanted) assert.match(stdout, line, command[0]);
    assert.match(stdout, /^Pages: +2$/m);
  }
  const { stdout } = await run('verify', archive, '-o', 'json');
  const { valid, notes } = JSON.parse(stdout);
  assert.deepEqual(
    [valid, notes.map(({ code }: { code: string }) => code)],
    [true, ['HomePageMissing', 'NotServed']],
  );
});

test('a difference in the Unicode form of names alone is named, because both look the same', async (t) => {
  const folder = temporaryFolder(t);
  const [old, next] = ['NFC', 'NFD'].map((form) => {
    const archive = join(folder, `${form}.tar`);
    writeFileSync(archive, tarOf({ 'index.html': 'home', ['gr\u00fc\u00dfe.html'.normalize(form)]: 'x' }));
    return archive;
  });
  const { code, stdout } = await run('diff', old ?? '', next ?? '');
  assert.equal(code, 1);
  assert.match(stdout, /^1 path in another Unicode form \(NFC, NFD\); a server answers both forms$/m);
});

test('folders are compared as if they were packed, and lack nothing that a server does not show', async (t) => {
  const folder = temporaryFolder(t);
  const site = siteIn(folder, pages);
  const archive = join(folder, 'site.tar');
  const files = Object.entries(pages).map(([path, content]) => [path, String(content)]);
  writeFileSync(archive, tarOf({ ...Object.fromEntries(files), '.git/config': 'x', _redirects: 'x' }));
  const same = await run('diff', archive, site);
  assert.deepEqual(
    [same.code, same.stdout.split('\n')[0]],
    [0, 'The folder has what a server shows of the archive.'],
  );
  assert.equal((await run('diff', site, site)).stdout.split('\n')[0], 'The folders have the same content.');
  writeFileSync(join(site, 'new.html'), 'x');
  const changed = await run('diff', archive, site);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /^A new\.html\n1 added, 0 changed, 0 removed\./);
});

test('names of files write no control characters and no commands of a pipeline', async (t) => {
  const folder = temporaryFolder(t);
  const [old, hostile, refused] = ['old.tar', 'hostile.tar', 'refused.tar'].map((name) => join(folder, name));
  const names = ['a\u202eb.html', '::error::x.html', '##[group]y.html', 'z\u0085\u2028.html', '.\u200benv'];
  writeFileSync(old ?? '', tarOf(pages));
  writeFileSync(
    hostile ?? '',
    tarOf(Object.fromEntries(['index.html', ...names].map((name) => [name, 'x']))),
  );
  writeFileSync(refused ?? '', tarOf({ 'index.html': 'x', 'a\u001b]0;title\u0007.html': 'x' }));
  const site = siteIn(folder, pages);
  writeFileSync(join(site, 'a\u001b[2J.html'), 'x');
  const commands = [
    ['inspect', hostile ?? '', '--files'],
    ['inspect', hostile ?? '', '--files', '-o', 'json'],
    ['inspect', hostile ?? '', '--files', '-o', 'yaml'],
    ['diff', old ?? '', hostile ?? ''],
    ['diff', hostile ?? '', old ?? '', '-o', 'yaml'],
    ['inspect', refused ?? ''],
    ['verify', refused ?? ''],
    ['pack', site, join(folder, 'out.tar')],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await run(...command);
    const text = `${stdout}${stderr}`;
    assert.ok(text.length > 0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/);
    assert.doesNotMatch(text, /^\s*::|##\[/m, command.join(' '));
  }
});
