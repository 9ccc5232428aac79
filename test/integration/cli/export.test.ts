// `static-export export` as a pipeline runs it: a process, sockets, files. Each fault has its exit code; standard output
// is JSON or empty; nothing is half written; neither the key nor the link's signature is in anything but the link file.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { entry, tar, tarOf } from '../../support/tar-builder.ts';
import { exportWorkplace, pages, program } from './environment/export-workplace.ts';

test('an export writes the folder, the values and the link file, and says what it did', async (t) => {
  const { folder, run } = await exportWorkplace(t);
  const [to, values, linkFile] = ['site', 'values.yaml', 'bundle.json'].map((name) => join(folder, name));
  writeFileSync(values ?? '', '');
  const { code, stdout, stderr } = await run(
    '--to',
    to ?? '',
    '--values',
    values ?? '',
    '--link-file',
    linkFile ?? '',
  );
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout);
  assert.deepEqual([result.kind, result.changed, result.pages], ['ExportResult', true, 3]);
  assert.equal(readFileSync(join(to ?? '', 'a/index.html'), 'utf8'), pages['a/index.html']);
  assert.match(readFileSync(values ?? '', 'utf8'), new RegExp(`version: "${result.version}"`));
  assert.equal(JSON.parse(readFileSync(linkFile ?? '', 'utf8')).version, result.version);
  const again = await run('--to', to ?? '', '--unchanged-exit-code', '42');
  assert.equal(again.code, 42);
  assert.deepEqual(
    [JSON.parse(again.stdout).changed, JSON.parse(again.stdout).version],
    [false, result.version],
  );
});

test('an archive that is written has the digest that was checked, hidden files included', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = gzipSync(tarOf({ ...pages, _redirects: '/a /b', '.well-known/x': 'y', '.env': 'z' }));
  const to = join(folder, 'site.tar.zst');
  const { stdout } = await run('--to', to);
  const verified = await runCommand([process.execPath, program, 'bundle', 'verify', to, '-o', 'json']);
  assert.equal(verified.code, 0, verified.stderr);
  const inYaml = await runCommand([process.execPath, program, 'bundle', 'verify', to, '-o', 'yaml']);
  assert.match(
    inYaml.stdout,
    /^apiVersion: cli\.staticexport\.dev\/v1alpha1\nkind: ArchiveVerdict\nvalid: true\n/,
  );
  assert.equal(JSON.parse(verified.stdout).digest, JSON.parse(stdout).digest);
});

test('a wrong flag exits with 2, and its document says so', async (t) => {
  const { run } = await exportWorkplace(t);
  const { code, stdout, stderr } = await run('--min-pages', 'x');
  assert.equal(code, 2);
  assert.match(stderr, /--min-pages must be a whole number/);
  const { kind, code: errorCode, message, next } = JSON.parse(stdout);
  assert.deepEqual([kind, errorCode, message], ['Error', 'WrongUsage', '--min-pages must be a whole number']);
  assert.deepEqual(next, ['static-export export --help explains its flags and arguments']);
});

test('an unknown command exits with 2, and prints a document only where one is asked for', async () => {
  const withFormat = await runCommand([process.execPath, program, 'exprot', '-qo', 'json']);
  assert.deepEqual([withFormat.code, JSON.parse(withFormat.stdout).code], [2, 'WrongUsage']);
  assert.match(withFormat.stderr, /did you mean "export"\?/);
  const without = await runCommand([process.execPath, program, 'exprot']);
  assert.deepEqual([without.code, without.stdout], [2, '']);
});

test('a reader of help that has enough gets no stack trace, and the exit code stays', async () => {
  for (const [words, exitCode] of [
    ['export --help', 0],
    ['nope -o json', 2],
  ] as const) {
    const line = `{ "${process.execPath}" "${program}" ${words}; echo "exit $?" >&2; } | true`;
    const { stderr } = await runCommand(['sh', '-c', line]);
    assert.doesNotMatch(stderr, /EPIPE/);
    assert.match(stderr, new RegExp(`exit ${exitCode}\n$`));
  }
});

test('an archive that is rejected keeps the earlier site: exit 6', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  const to = join(folder, 'site');
  await run('--to', to);
  vendor.archive = gzipSync(tar(entry('../../etc/passwd', 'x')));
  const { code, stdout } = await run('--to', to);
  assert.deepEqual([code, JSON.parse(stdout).code], [6, 'ParentPath']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
});

test('half the pages are held: exit 7; the same command with another limit publishes the same job', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  const to = join(folder, 'site');
  await run('--to', to);
  vendor.archive = gzipSync(tarOf({ 'index.html': 'new' }));
  const held = await run('--to', to);
  assert.deepEqual([held.code, JSON.parse(held.stdout).code], [7, 'PageCountDropped']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
  const { code } = await run('--to', to, '--max-shrink', '100');
  assert.equal(code, 0);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'new');
  assert.equal(vendor.jobs.size, 2);
});

test('content that was exported before passes --min-pages too where something is to be written', async (t) => {
  const { folder, args, run } = await exportWorkplace(t);
  const [to, other] = [join(folder, 'site'), join(folder, 'other')];
  const first = await run('--to', to);
  assert.deepEqual(JSON.parse(first.stdout).written, ['--to']);
  const held = await run('--to', other, '--min-pages', '4');
  assert.deepEqual([held.code, JSON.parse(held.stdout).code], [7, 'TooFewPages']);
  assert.equal(existsSync(other), false);
  const command = args('--to', to, '--min-pages', '4', '-o', 'text');
  const same = await runCommand([process.execPath, ...command]);
  assert.equal(same.code, 0);
  assert.match(same.stdout, new RegExp(`^Unchanged: ${to}$`, 'm'));
});

test('a destination, a baseline or a key that cannot be used is found before a job is started', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  writeFileSync(join(folder, 'bad.yaml'), 'a: b\na: c\n');
  mkdirSync(join(folder, 'made'));
  const cases = [
    [['--to', join(folder, 'key')], 2, 'DestinationExists'],
    [['--to', join(folder, 'key/site')], 2, 'DestinationRefused'],
    [['--to', folder], 2, 'DestinationRefused'],
    [['--to', join(folder, 'no/where/site')], 2, 'DestinationMissing'],
    [['--key-file', join(folder, 'none')], 3, 'KeyUnreadable'],
    [['--baseline', join(folder, 'none')], 2, 'ArchiveUnreadable'],
    [['--baseline', join(folder, 'key')], 2, 'UnknownArchiveType'],
    [['--values', join(folder, 'bad.yaml')], 2, 'ValuesRefused'],
    [['--values', join(folder, 'none.yaml')], 2, 'ValuesMissing'],
    [['--values', folder], 2, 'DestinationRefused'],
    [['--values', join(folder, 'no/values.yaml')], 2, 'DestinationMissing'],
    [['--link-file', folder], 2, 'DestinationRefused'],
    [['--link-file', join(folder, 'no/bundle.json')], 2, 'DestinationMissing'],
    [
      ['--to', join(folder, 'site'), '--link-file', join(folder, 'site/bundle.json')],
      2,
      'DestinationMissing',
    ],
    [
      ['--to', join(folder, 'made'), '--replace', '--link-file', join(folder, 'made/x')],
      2,
      'DestinationRefused',
    ],
  ] as const;
  for (const [flags, exitCode, errorCode] of cases) {
    const { code, stdout } = await run(...flags);
    const failure = JSON.parse(stdout);
    assert.deepEqual([code, failure.code], [exitCode, errorCode]);
    const isNamed = flags.some((flag) => flag.startsWith('--') && failure.message.includes(flag));
    assert.ok(isNamed, failure.message);
  }
  assert.equal(vendor.jobs.size, 0);
});

test('a destination that fails keeps no other from the new version: exit 9, and the same command goes on', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  const [to, values, linkFile] = ['site', 'values.yaml', 'bundle.json'].map((name) => join(folder, name));
  const flags = ['--to', to ?? '', '--values', values ?? '', '--link-file', linkFile ?? ''];
  writeFileSync(values ?? '', '');
  vendor.answers.download = () => {
    writeFileSync(values ?? '', 'a: b\na: c\n');
    return false;
  };
  const { code, stdout, stderr } = await run(...flags);
  const error = JSON.parse(stdout);
  assert.deepEqual([code, error.code, error.written], [9, 'ValuesRefused', ['--to', '--link-file']]);
  assert.match(error.message, /^--values \S+\/values\.yaml cannot be edited/);
  assert.match(
    stderr,
    /Run the same command again to continue export job job-1\. For a new export, add --new\./,
  );
  assert.equal(readFileSync(join(to ?? '', 'index.html'), 'utf8'), pages['index.html']);
  assert.equal(JSON.parse(readFileSync(linkFile ?? '', 'utf8')).version, error.version);
  vendor.answers = {};
  writeFileSync(values ?? '', 'a: b\n');
  const again = await run(...flags);
  assert.deepEqual([again.code, JSON.parse(again.stdout).version], [0, error.version]);
  assert.match(again.stderr, /Continuing export job job-1, started at .*\. For a new export, add --new/);
  assert.equal(vendor.jobs.size, 1);
});

test('what was changed in a destination is written again, and what was not stays as it is', async (t) => {
  const { folder, run } = await exportWorkplace(t);
  for (const [name, file] of [
    ['site', 'site/a/index.html'],
    ['site.tar.gz', 'site.tar.gz'],
  ] as const) {
    const [to, changed] = [join(folder, name), join(folder, file)];
    assert.equal((await run('--to', to)).code, 0);
    const [{ ino }, whole] = [statSync(to), readFileSync(changed)];
    assert.equal((await run('--to', to)).code, 0);
    assert.equal(statSync(to).ino, ino, 'written again without a change');
    writeFileSync(changed, '');
    assert.equal((await run('--to', to)).code, 0);
    assert.deepEqual(readFileSync(changed), whole);
    rmSync(changed);
    assert.equal((await run('--to', to)).code, 0);
    assert.deepEqual(readFileSync(changed), whole);
  }
});

test("a file of the user's in the folder is kept: exit 2 before a job; --replace removes it", async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  const to = join(folder, 'site');
  await run('--to', to);
  rmSync(to, { recursive: true });
  mkdirSync(to);
  writeFileSync(join(to, 'thesis.txt'), 'mine');
  const { code, stdout } = await run('--to', to);
  assert.deepEqual([code, JSON.parse(stdout).code, vendor.jobs.size], [2, 'DestinationExists', 1]);
  assert.match(JSON.parse(stdout).message, /add --replace/);
  assert.deepEqual(readdirSync(to), ['thesis.txt']);
  assert.equal((await run('--to', to, '--replace')).code, 0);
  assert.ok(!existsSync(join(to, 'thesis.txt')));
});

test('--new starts a new export where an unfinished one could be continued', async (t) => {
  const { run, vendor } = await exportWorkplace(t);
  const held = await run('--min-pages', '9');
  assert.deepEqual([held.code, JSON.parse(held.stdout).written], [7, []]);
  assert.match(held.stderr, /To export the site again, add --new/);
  const { code, stdout } = await run('--new');
  assert.deepEqual([code, JSON.parse(stdout).jobId, vendor.jobs.size], [0, 'job-2', 2]);
});

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} exits with ${exitCode} and says how to continue; the same command continues`, async (t) => {
    const { args, run, vendor } = await exportWorkplace(t);
    vendor.answers = { poll: () => true };
    const child = startProgram(process.execPath, { args: args() });
    await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
    // The id must be on the disk too: the signal may come in between.
    await child.stop(signal);
    assert.equal(await child.exited, exitCode);
    assert.match(child.tail(), /Run the same command again to continue/);
    vendor.answers = {};
    assert.equal((await run()).code, 0);
    assert.equal(vendor.jobs.size, 1);
  });
}

test('kill -9 at any moment: no spare job, the right bytes, no half folder', async (t) => {
  const runs = Number(process.env['CLI_KILLS'] ?? 10);
  const { folder, args, run, vendor } = await exportWorkplace(t);
  const to = join(folder, 'site');
  const startedAt = performance.now();
  await run('--to', to);
  const wholeMs = performance.now() - startedAt;
  let content = pages['index.html'];
  for (let kills = 0; kills < runs; kills += 1) {
    const earlier = content;
    content = `content ${kills}`;
    vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': content }));
    const jobs = vendor.jobs.size;
    const child = startProgram(process.execPath, { args: args('--to', to) });
    await new Promise((resolve) => setTimeout(resolve, (wholeMs * (kills + 0.5)) / runs));
    await child.stop('SIGKILL');
    if (existsSync(to)) {
      assert.ok([content, earlier].includes(readFileSync(join(to, 'index.html'), 'utf8')));
      assert.equal(readdirSync(to, { recursive: true }).length, 4);
    }
    // Only a run that was finished may be followed by another job.
    const { last } = JSON.parse(readFileSync(join(folder, 'state/state.json'), 'utf8'));
    const isFinished = vendor.jobs.size > jobs && last.jobId === `job-${vendor.jobs.size}`;
    const { code, stderr } = await run('--to', to);
    assert.equal(code, 0, stderr);
    assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), content);
    assert.equal(vendor.jobs.size, jobs + (isFinished ? 2 : 1), `kill ${kills}`);
    assert.deepEqual(readdirSync(folder).sort(), ['key', 'site', 'state']);
  }
});
