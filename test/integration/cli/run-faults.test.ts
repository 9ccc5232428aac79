// The faults of `static-export run`, as a pipeline or a machine without a cluster meets them. Each ends with its exit code,
// or does not end the run; nothing is half written; no message speaks of an operator or of a Secret that is a file here.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { pages } from './environment/export-workplace.ts';
import { filesIn } from './environment/files-in.ts';
import { commandLinesOf } from './environment/process-tree.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { key, type ScriptedVendor, signature, status } from './environment/scripted-vendor.ts';
import { withDisk } from './environment/small-disk.ts';

const hang = (): boolean => true;

const endings: readonly (readonly [string, string, ScriptedVendor['answers'], number, string, RegExp])[] = [
  [
    'a refused key',
    '',
    { start: status(401) },
    3,
    'KeyRefused',
    /Write a valid key into the file of --secret export-api/,
  ],
  ['a key without permission', '', { start: status(403) }, 3, 'KeyForbidden', /403/],
  ['too few pages', '  promotion: { minPages: 9 }\n', {}, 7, 'TooFewPages', /minPages/],
  [
    'manual promotion',
    '  promotion: { mode: Manual }\n',
    {},
    7,
    'AwaitingPromotion',
    /set the annotation in the manifest/,
  ],
  [
    'a suspended resource with nothing published',
    '  suspend: true\n',
    {},
    7,
    'Suspended',
    /spec\.suspend is true/,
  ],
  [
    'an unknown field',
    '  shedule: "0 3 * * *"\n',
    {},
    2,
    'ManifestInvalid',
    /spec\.shedule \(unknown field\)/,
  ],
  [
    'a field of another type',
    '  historyLimit: x\n',
    {},
    2,
    'ManifestInvalid',
    /historyLimit \(must be a number\)/,
  ],
  ['a schedule that never fires', '  schedule: "0 0 30 2 *"\n', {}, 2, 'InvalidSchedule', /never fires/],
  ['a domain that is not valid', '  domain: not_a_domain\n', {}, 2, 'ManifestInvalid', /not valid YAML/],
];
describe('endings', { concurrency: 4 }, () => {
  for (const [name, spec, answers, exitCode, code, words] of endings) {
    test(`${name} ends with ${exitCode} and publishes nothing`, async (t) => {
      const { to, vendor, run } = await runWorkplace(t, spec);
      vendor.answers = answers;
      const result = await run();
      assert.equal(result.code, exitCode, result.stderr);
      const error = JSON.parse(result.stdout);
      assert.equal(error.code, code);
      assert.match(error.message, words);
      assert.doesNotMatch(result.stderr, /the operator|of the chart|its Secret|Rechecked|; retrying/);
      assert.doesNotMatch(error.message, /Retrying at/);
      assert.equal(existsSync(to), false);
    });
  }
});

test('a key that is not there, and flags that cannot work, are found before a job is started', async (t) => {
  const { folder, to, args, vendor } = await runWorkplace(t);
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, 'a: b\na: c\n');
  const without = (...flags: readonly string[]): readonly string[] =>
    args('--once').filter((one, at, all) => !flags.includes(one) && !flags.includes(all[at - 1] ?? ''));
  const cases = [
    [without('--secret'), 3, 'KeyMissing', /^There is no API key\. Add --secret NAME=FILE/],
    [args('--once', '-f', '/dev/zero'), 2, 'ManifestInvalid', /longer than 1 MiB/],
    [without('--api-base-url'), 2, 'BaseUrlMissing', /or add --api-base-url\.$/],
    [
      args('--once', '--secret', `exportapi=${join(folder, 'key')}`),
      2,
      'SecretUnknown',
      /^--secret exportapi/,
    ],
    [args('--once', '--values', bad), 2, 'ValuesRefused', /^--values \S+ cannot be edited/],
    [args('--once', '--publish', `dir=${join(to, 'inside')}`), 2, 'DestinationRefused', /^--publish dir=/],
    [args('--once', '--link-file', join(to, 'bundle.json')), 2, 'DestinationRefused', /another destination/],
    [
      args('--once', '--publish', 'archive=/none/site.tar'),
      2,
      'DestinationMissing',
      /^the folder around --publish archive=\/none/,
    ],
  ] as const;
  for (const [command, exitCode, code, words] of cases) {
    const result = await runCommand([process.execPath, ...command]);
    assert.deepEqual([result.code, JSON.parse(result.stdout).code], [exitCode, code], result.stderr);
    assert.match(JSON.parse(result.stdout).message, words);
  }
  assert.equal(vendor.jobs.size, 0);
});

test('an API key of an unusual form is used, with the note that export gives', async (t) => {
  const { folder, run } = await runWorkplace(t);
  writeFileSync(join(folder, 'key'), 'pk_other\n');
  const { code, stderr } = await run();
  assert.equal(code, 3);
  assert.match(stderr, /^API key does not begin with svc_\. Check that it is an admin key\.$/m);
});

test('a link to a private address is a setting: exit 2, and with the flag the same job goes on', async (t) => {
  const { args, run, vendor } = await runWorkplace(t);
  const command = args('--once').filter((one) => one !== '--allow-private-links');
  const refused = await runCommand([process.execPath, ...command]);
  assert.deepEqual([refused.code, JSON.parse(refused.stdout).code], [2, 'PrivateLink'], refused.stderr);
  assert.match(JSON.parse(refused.stdout).message, /add --allow-private-links/);
  assert.doesNotMatch(refused.stderr, /; retrying/);
  assert.equal((await run()).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

test('a destination that cannot be written does not end a run: it is written when it can be', async (t) => {
  const { folder, to, vendor, args } = await runWorkplace(t);
  const values = join(folder, 'values.yaml');
  writeFileSync(values, '');
  vendor.answers.issue = () => {
    writeFileSync(values, 'a: b\na: c\n');
    return false;
  };
  const child = startProgram(process.execPath, { args: args('--values', values) });
  t.after(() => child.stop('SIGKILL'));
  await eventually(
    'the failure is reported',
    () => /ValuesRefused.*Retrying in 10 s/.test(child.tail()) || undefined,
  );
  assert.ok(existsSync(join(to, 'index.html')));
  const downloads = vendor.counts.download;
  writeFileSync(values, 'a: b\n');
  await eventually('the values are written', () => /version/.test(readFileSync(values, 'utf8')) || undefined);
  assert.equal(vendor.counts.download, downloads, 'the archive was downloaded again for a values file');
  assert.equal(child.hasExited(), false);
  await child.stop('SIGTERM');
});

test('a download that hangs keeps no link from being refreshed', async (t) => {
  const { folder, to, args, vendor } = await runWorkplace(t, '  linkRefresh: { minInterval: 1s }\n');
  const linkFile = join(folder, 'bundle.json');
  vendor.linkLifetimeMs = 15_000;
  // The first is the inspection.
  vendor.answers.download = (_response, count) => count > 1;
  const child = startProgram(process.execPath, { args: args('--link-file', linkFile) });
  t.after(() => child.stop('SIGKILL'));
  await eventually('the link is refreshed', () => vendor.counts.issue > 1 || undefined);
  const hasNew = (): boolean => readFileSync(linkFile, 'utf8').includes(`/${vendor.counts.issue}.tar.gz`);
  await eventually('the server gets the new link', () => hasNew() || undefined);
  assert.deepEqual([vendor.counts.download, existsSync(to)], [2, false]);
  await child.stop('SIGTERM');
  assert.equal(await child.exited, 143);
});

test('a page instead of the archive of a destination is no end of the run: it is downloaded again', async (t) => {
  const { to, run, vendor } = await runWorkplace(t);
  vendor.answers.download = (response, count) => {
    if (count === 2) response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    return count === 2;
  };
  const { code, stderr } = await run();
  assert.equal(code, 0, stderr);
  assert.match(stderr, /an HTML page instead of an archive \(HtmlInsteadOfArchive\)\. Retrying in 10 s/);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
  assert.deepEqual([vendor.jobs.size, vendor.counts.download], [1, 3]);
});

test('what was changed in a destination is written again, and what was not stays as it is', async (t) => {
  const { to, run, vendor } = await runWorkplace(t);
  assert.equal((await run()).code, 0);
  const { ino } = statSync(to);
  assert.equal((await run()).code, 0);
  assert.deepEqual([statSync(to).ino, vendor.counts.download], [ino, 2]);
  rmSync(join(to, 'b.html'));
  assert.equal((await run()).code, 0);
  assert.equal(readFileSync(join(to, 'b.html'), 'utf8'), pages['b.html']);
  assert.equal(vendor.jobs.size, 1);
});

test('a full disk: exit 9 with what was written, and nothing is half written', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, vendor } = await runWorkplace(t);
  vendor.archive = gzipSync(tarOf({ ...pages, 'large.bin': randomBytes(256 * 1024).toString('latin1') }));
  await withDisk(join(folder, 'disk'), '128k', async (disk) => {
    const site = `dir=${join(disk.path, 'site')}`;
    writeFileSync(join(folder, 'values.yaml'), '');
    const { code, stdout } = await run('--publish', site, '--values', join(folder, 'values.yaml'));
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [9, 'DestinationNotWritten']);
    assert.deepEqual(error.written, [`--publish dir=${join(folder, 'site')}`, '--values']);
    assert.ok(error.message.startsWith(`--publish ${site} could not be written (ENOSPC)`));
    assert.deepEqual(readdirSync(disk.path), []);
    disk.remount('size=8m');
    assert.equal((await run('--publish', site)).code, 0);
    assert.deepEqual([readdirSync(disk.path), vendor.jobs.size], [['site'], 1]);
    disk.remount('ro');
    const readOnly = await run('--publish', `archive=${join(disk.path, 'site.tar')}`);
    assert.deepEqual([readOnly.code, JSON.parse(readOnly.stdout).code], [2, 'DestinationReadOnly']);
  });
});

test('a clock that was set back between two runs starts no second job', async (t) => {
  const { args, run, vendor } = await runWorkplace(t);
  vendor.answers = { poll: status(401) };
  assert.equal((await run()).code, 3);
  vendor.answers = {};
  const dayBack = 'data:text/javascript,const%20now=Date.now;Date.now=()=>now()-864e5';
  const env = { NODE_OPTIONS: `--import ${dayBack}` };
  const result = await runCommand([process.execPath, ...args('--once', '--request')], { env });
  assert.equal(result.code, 0, result.stderr);
  const jobs = vendor.jobs.size;
  assert.equal((await run()).code, 0);
  assert.equal(vendor.jobs.size, jobs);
});

test('two runs on one state: the second exits with 5 at once', async (t) => {
  const { args, run, vendor } = await runWorkplace(t);
  vendor.answers = { poll: hang };
  const first = startProgram(process.execPath, { args: args() });
  t.after(() => first.stop('SIGKILL'));
  await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
  const second = await run();
  assert.deepEqual([second.code, JSON.parse(second.stdout).code], [5, 'StateBusy']);
  await first.stop('SIGKILL');
});

test('while a run works, the key is in no command line and no file; SIGINT twice ends it at once with 130', async (t) => {
  const { folder, to, args, run, vendor } = await runWorkplace(t);
  vendor.answers.download = (_response, count) => count > 1;
  const child = startProgram(process.execPath, { args: args() });
  t.after(() => child.stop('SIGKILL'));
  await eventually('the download runs', () => vendor.counts.download > 1 || undefined);
  const lines = commandLinesOf(child.pid);
  assert.ok(lines[0]?.includes('--publish'));
  for (const line of [...lines, child.tail()]) assert.ok(!line.includes(key) && !line.includes(signature));
  for (const { name, text, mode } of filesIn(folder, ['key'])) {
    assert.ok(!text.includes(key), name);
    if (text.includes(signature))
      assert.deepEqual([/^state\/objects\/Secret/.test(name), mode], [true, 0o600]);
  }
  process.kill(child.pid, 'SIGINT');
  process.kill(child.pid, 'SIGINT');
  assert.equal(await child.exited, 130);
  assert.equal(existsSync(to), false);
  vendor.answers = {};
  assert.equal((await run()).code, 0);
  assert.deepEqual(
    [readdirSync(folder).sort(), vendor.jobs.size],
    [['docs.yaml', 'key', 'site', 'state'], 1],
  );
});
