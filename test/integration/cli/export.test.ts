// `static-export export` as a pipeline runs it, with real sockets and files: what it writes and says. Its faults, which `run`
// shares, are in faults.test.ts, destinations.test.ts and interruptions.test.ts.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../support/cli-in-process.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { exportWorkplace, pages } from './environment/export-workplace.ts';

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
  const verified = await runInProcess(['bundle', 'verify', to, '-o', 'json']);
  assert.equal(verified.code, 0, verified.stderr);
  const inYaml = await runInProcess(['bundle', 'verify', to, '-o', 'yaml']);
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
  const said = '--min-pages must be a whole number of at most 10000000';
  assert.deepEqual([kind, errorCode, message], ['Error', 'WrongUsage', said]);
  assert.deepEqual(next, ['static-export export --help  # explains its flags and arguments']);
});

test('an unknown command exits with 2, and prints a document only where one is asked for', async () => {
  const withFormat = await runInProcess(['exprot', '-qo', 'json']);
  assert.deepEqual([withFormat.code, JSON.parse(withFormat.stdout).code], [2, 'WrongUsage']);
  assert.match(withFormat.stderr, /did you mean "export"\?/);
  const without = await runInProcess(['exprot']);
  assert.deepEqual([without.code, without.stdout], [2, '']);
});

test('content that was exported before passes --min-pages too where something is to be written', async (t) => {
  const { folder, args, run } = await exportWorkplace(t);
  const [to, other] = [join(folder, 'site'), join(folder, 'other')];
  const first = await run('--to', to);
  assert.deepEqual(JSON.parse(first.stdout).written, ['--to']);
  const held = await run('--to', other, '--min-pages', '4');
  assert.deepEqual([held.code, JSON.parse(held.stdout).code], [7, 'TooFewPages']);
  assert.equal(existsSync(other), false);
  const same = await runInProcess(args('--to', to, '--min-pages', '4', '-o', 'text').slice(1));
  assert.equal(same.code, 0);
  assert.match(same.stdout, new RegExp(`^Unchanged: ${to}$`, 'm'));
});

test('--new starts a new export where an unfinished one could be continued', async (t) => {
  const { run, vendor } = await exportWorkplace(t);
  const held = await run('--min-pages', '9');
  assert.deepEqual([held.code, JSON.parse(held.stdout).written], [7, []]);
  assert.match(held.stderr, /To export the site again, add --new/);
  const { code, stdout } = await run('--new');
  assert.deepEqual([code, JSON.parse(stdout).jobId, vendor.jobs.size], [0, 'job-2', 2]);
});
