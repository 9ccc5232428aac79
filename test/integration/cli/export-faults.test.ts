// The faults of `static-export export`, as a pipeline meets them: the export API, the storage, the disk, the clock, other
// runs and signals. Each has its exit code; standard output is JSON or empty; nothing is half written; the key and the
// link's signature are nowhere but where they must be.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { programFile } from '../../support/program-file.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { openTerminal } from '../../support/terminal.ts';
import { assertNothingLeaks, exportWorkplace, pages, site } from './environment/export-workplace.ts';
import { commandLinesOf } from './environment/process-tree.ts';
import { key, type ScriptedVendor, signature, status } from './environment/scripted-vendor.ts';
import { withDisk } from './environment/small-disk.ts';

const hang = (): boolean => true;
const firstOnly =
  (answer: NonNullable<ScriptedVendor['answers'][keyof ScriptedVendor['answers']]>) =>
  (response: ServerResponse, count: number): boolean =>
    count === 1 && answer(response, count);
const garbage = (response: ServerResponse): boolean => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  return true;
};
const failedJob = (response: ServerResponse): boolean => {
  response.writeHead(200).end('{"status":"failed"}');
  return true;
};
/** Sends this share of the archive, then ends the connection. */
const brokenAt =
  (share: number) =>
  (response: ServerResponse): boolean => {
    response.writeHead(200, { 'content-length': site.length });
    response.write(site.subarray(0, Math.floor(site.length * share)), () => response.destroy());
    return true;
  };

/** Sends half of the archive and leaves the connection open. */
const halfThenNothing = (response: ServerResponse): boolean => {
  response.writeHead(200, { 'content-length': site.length });
  response.write(site.subarray(0, site.length / 2));
  return true;
};

const quick = ['--timeout', '4s'];
/** For runs that end at their first answer, which must come before the deadline. */
const long = ['--timeout', '15s'];
const faults: readonly (readonly [string, ScriptedVendor['answers'], readonly string[], number, string])[] = [
  ['401 at the start', { start: status(401) }, [], 3, 'Unauthorized'],
  ['403 at the start', { start: status(403) }, [], 3, 'Forbidden'],
  ['400 at the start', { start: status(400) }, [], 4, 'BadRequest'],
  ['404 for the job', { poll: status(404) }, [], 4, 'JobGone'],
  ['a job that failed', { poll: failedJob }, [], 4, 'JobFailed'],
  ['409 for the link until the deadline', { issue: status(409) }, quick, 124, 'DeadlineExceeded'],
  [
    '429 with seconds beyond the deadline',
    { poll: status(429, { 'retry-after': '90' }) },
    long,
    5,
    'RateLimited',
  ],
  [
    '429 with a date beyond the deadline',
    { poll: status(429, { 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' }) },
    long,
    5,
    'RateLimited',
  ],
  ['429 with a day at the start', { start: status(429, { 'retry-after': '86400' }) }, [], 5, 'RateLimited'],
  ['500 for every poll', { poll: status(500) }, quick, 124, 'DeadlineExceeded'],
  ['a page instead of a job', { poll: garbage }, quick, 124, 'DeadlineExceeded'],
  [
    'an export API that never answers',
    { poll: hang },
    [...quick, '--request-timeout', '1s'],
    124,
    'DeadlineExceeded',
  ],
  ['a link that has expired', { download: status(403) }, [], 5, 'LinkExpired'],
  ['a download that breaks off at 0 %', { download: brokenAt(0) }, quick, 124, 'DeadlineExceeded'],
  ['a download that breaks off at 50 %', { download: brokenAt(0.5) }, quick, 124, 'DeadlineExceeded'],
  ['a download that breaks off at 99 %', { download: brokenAt(0.99) }, quick, 124, 'DeadlineExceeded'],
  ['a page instead of an archive', { download: garbage }, quick, 124, 'DeadlineExceeded'],
  ['too few pages', {}, ['--min-pages', '4'], 7, 'TooFewPages'],
];
describe('faults', { concurrency: 4 }, () => {
  for (const [name, answers, flags, exitCode, errorCode] of faults) {
    test(`${name}: exit ${exitCode}, ${errorCode}; nothing is written`, async (t) => {
      const { folder, run, vendor } = await exportWorkplace(t);
      vendor.answers = answers;
      const { code, stdout, stderr } = await run('--to', join(folder, 'site'), ...flags);
      assert.equal(code, exitCode, stderr);
      assert.deepEqual([JSON.parse(stdout).kind, JSON.parse(stdout).code], ['Error', errorCode]);
      assert.deepEqual(readdirSync(folder).sort(), ['key', 'state']);
      assert.ok(!readdirSync(join(folder, 'state')).includes('.static-export-work'));
    });
  }
});

const passing: readonly (readonly [string, () => ScriptedVendor['answers']])[] = [
  ['429 with seconds', () => ({ poll: firstOnly(status(429, { 'retry-after': '1' })) })],
  [
    '429 with a date',
    () => ({ poll: firstOnly(status(429, { 'retry-after': new Date(Date.now() + 2000).toUTCString() })) }),
  ],
  ['500 for the link', () => ({ issue: firstOnly(status(500)) })],
  ['a link that has expired', () => ({ download: firstOnly(status(403)) })],
  ['a download that breaks off at 0 %', () => ({ download: firstOnly(brokenAt(0)) })],
  ['a download that breaks off at 50 %', () => ({ download: firstOnly(brokenAt(0.5)) })],
  ['a download that breaks off at 99 %', () => ({ download: firstOnly(brokenAt(0.99)) })],
];
describe('faults that pass', { concurrency: 4 }, () => {
  for (const [name, answers] of passing) {
    test(`${name}, once: exit 0, the right bytes, one job`, async (t) => {
      const { folder, run, vendor } = await exportWorkplace(t);
      vendor.answers = answers();
      const { code, stderr } = await run('--to', join(folder, 'site'));
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /; retrying/i);
      assert.equal(readFileSync(join(folder, 'site/index.html'), 'utf8'), pages['index.html']);
      assert.deepEqual([readdirSync(folder).sort(), vendor.jobs.size], [['key', 'site', 'state'], 1]);
    });
  }
});

test('--timeout says why the last attempt failed, and what helps', async (t) => {
  const { run, vendor } = await exportWorkplace(t);
  const unreachable = 'http://127.0.0.1:9';
  const { code, stdout } = await run('--api-base-url', unreachable, '--timeout', '8s');
  const { message, lastFailure, next } = JSON.parse(stdout);
  assert.equal(code, 124);
  assert.match(
    message,
    /^--timeout has passed \(8 s\)\. The last attempt failed with NetworkError: .*ECONNREFUSED/,
  );
  assert.equal(lastFailure.code, 'NetworkError');
  assert.match(next.join('\n'), /^Check that --api-base-url is the address .*\nRun the same command again/);
  assert.equal(vendor.jobs.size, 0);
});

for (const answer of [status(501), status(404)]) {
  test('a server that has no export API ends the run at once, with the flag to check', async (t) => {
    const { run, vendor } = await exportWorkplace(t);
    vendor.answers = { start: answer };
    const { stdout } = await run();
    assert.deepEqual(JSON.parse(stdout).next, [
      'Check that --api-base-url is the address of the export API.',
    ]);
    assert.equal(vendor.counts.start, 1);
  });
}

test('a link to a private address is a setting: exit 2 after one link, and with the flag the same job goes on', async (t) => {
  const { folder, args, run, vendor } = await exportWorkplace(t);
  const command = args('--to', join(folder, 'site')).filter((one) => one !== '--allow-private-links');
  const refused = await runCommand([process.execPath, ...command]);
  assertNothingLeaks(folder, refused);
  const { code, message } = JSON.parse(refused.stdout);
  assert.deepEqual([refused.code, code, vendor.counts.issue], [2, 'PrivateLink', 1]);
  assert.match(message, /add --allow-private-links if that is intended$/);
  assert.equal((await run('--to', join(folder, 'site'))).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

test('a refused key of an unusual form gets a hint, once', async (t) => {
  const { folder, run } = await exportWorkplace(t);
  writeFileSync(join(folder, 'key'), 'pk_other\n');
  const { code, stdout, stderr } = await run();
  assert.equal(code, 3);
  assert.deepEqual(JSON.parse(stdout).next, [
    'API key does not begin with svc_. Check that it is an admin key.',
  ]);
  assert.equal(stderr.split('svc_').length, 2);
});

const large = gzipSync(tarOf({ ...pages, 'large.bin': randomBytes(256 * 1024).toString('latin1') }));

test('a full disk: exit 9, the other destinations are written, and nothing is half written', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = large;
  await withDisk(join(folder, 'disk'), '128k', async (disk) => {
    const flags = ['--to', join(disk.path, 'site'), '--values', join(folder, 'values.yaml')];
    writeFileSync(join(folder, 'values.yaml'), '');
    const { code, stdout } = await run(...flags);
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.written], [9, 'DestinationNotWritten', ['--values']]);
    assert.match(error.message, /^--to \S+\/site could not be written \(ENOSPC\): its disk is full$/);
    assert.deepEqual(error.next, [
      'Free space on the disk, or name a path on another one.',
      'Run the same command again to continue export job job-1. For a new export, add --new.',
    ]);
    assert.deepEqual(readdirSync(disk.path), []);
    disk.remount('size=8m');
    assert.equal((await run(...flags)).code, 0);
    assert.equal(readFileSync(join(disk.path, 'site/index.html'), 'utf8'), pages['index.html']);
    assert.deepEqual([readdirSync(disk.path), vendor.jobs.size], [['site'], 1]);
  });
});

test('a full disk below the state: exit 5 after one link, and the same command goes on', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = large;
  await withDisk(join(folder, 'disk'), '128k', async (disk) => {
    const flags = ['--state', join(disk.path, 'state'), '--to', join(folder, 'site')];
    const { code, stdout } = await run(...flags);
    assert.deepEqual([code, JSON.parse(stdout).code, vendor.counts.issue], [5, 'StoreFull', 1]);
    assert.match(
      JSON.parse(stdout).message,
      /^the state folder has no room .*; free space, or name another folder with --state$/,
    );
    assert.equal(existsSync(join(folder, 'site')), false);
    disk.remount('size=8m');
    assert.equal((await run(...flags)).code, 0);
    assert.equal(vendor.jobs.size, 1);
  });
});

test('a read-only folder is found before a job is started: exit 2', { skip: noNamespaces }, async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  await withDisk(join(folder, 'disk'), '128k', async (disk) => {
    disk.remount('ro');
    for (const flag of ['--to', '--values', '--link-file']) {
      const { code, stdout } = await run(flag, join(disk.path, 'x'));
      assert.deepEqual([code, JSON.parse(stdout).code], [2, 'DestinationReadOnly']);
      assert.match(JSON.parse(stdout).message, new RegExp(`^the folder around ${flag} .*\\(EROFS\\)`));
    }
    const { code, stdout } = await run('--state', join(disk.path, 'state'));
    assert.deepEqual([code, JSON.parse(stdout).code], [2, 'StateUnusable']);
    assert.deepEqual(readdirSync(disk.path), []);
  });
  assert.equal(vendor.jobs.size, 0);
});

test('a clock that was set back between two runs starts no second job', async (t) => {
  const { folder, args, run, vendor } = await exportWorkplace(t);
  vendor.answers = { poll: status(401) };
  assert.equal((await run('--to', join(folder, 'site'))).code, 3);
  vendor.answers = {};
  const dayBack = 'data:text/javascript,const%20now=Date.now;Date.now=()=>now()-864e5';
  const env = { NODE_OPTIONS: `--import ${dayBack}` };
  const result = await runCommand([process.execPath, ...args('--to', join(folder, 'site'))], { env });
  assert.equal(result.code, 0, result.stderr);
  assert.match(JSON.parse(result.stdout).version, new RegExp(`^${dayOf(Date.now() - 86_400_000)}`));
  assert.equal(vendor.jobs.size, 1);
  const later = await run('--to', join(folder, 'site'));
  assert.deepEqual([later.code, vendor.jobs.size], [0, 2]);
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

test('two runs on one state: the second exits with 5 at once', async (t) => {
  const { args, run, vendor } = await exportWorkplace(t);
  vendor.answers = { poll: hang };
  const first = startProgram(process.execPath, { args: args() });
  t.after(() => first.stop('SIGKILL'));
  await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
  const second = await run();
  assert.deepEqual([second.code, JSON.parse(second.stdout).code], [5, 'StateBusy']);
  await first.stop('SIGKILL');
});

test('SIGINT twice ends at once with 130; the same command continues, and removes what was left', async (t) => {
  const { folder, args, run, vendor } = await exportWorkplace(t);
  vendor.answers = { download: halfThenNothing };
  const child = startProgram(process.execPath, { args: args('--to', join(folder, 'site')) });
  t.after(() => child.stop('SIGKILL'));
  await eventually('the download runs', () => vendor.counts.download > 0 || undefined);
  process.kill(child.pid, 'SIGINT');
  process.kill(child.pid, 'SIGINT');
  assert.equal(await child.exited, 130);
  assert.equal(existsSync(join(folder, 'site')), false);
  vendor.answers = {};
  assert.equal((await run('--to', join(folder, 'site'))).code, 0);
  assert.deepEqual([readdirSync(folder).sort(), vendor.jobs.size], [['key', 'site', 'state'], 1]);
  assert.deepEqual(readdirSync(join(folder, 'state')).sort(), ['lock', 'state.json']);
});

test('Ctrl-C ends a command that waits for its key on standard input', async (t) => {
  const { folder, vendor } = await exportWorkplace(t);
  const flags = `--api-base-url ${vendor.url} --to '${join(folder, 'site')}' --key-stdin`;
  const program = `'${process.execPath}' '${programFile('static-export')}'`;
  const command = `trap : INT; ${program} export docs.example.com ${flags}; echo "exit $?"`;
  const terminal = openTerminal(command, { cwd: folder, env: { PATH: process.env['PATH'] } });
  t.after(() => terminal.close());
  await terminal.awaitText(/Ctrl-D ends it/);
  terminal.type('\u0003');
  await terminal.awaitText(/exit 130/);
});

test('while an export runs, the key and the link are in no command line and in no file of the state', async (t) => {
  const { folder, args, vendor } = await exportWorkplace(t);
  vendor.answers = { download: halfThenNothing };
  const flags = ['--to', join(folder, 'site'), '--link-file', join(folder, 'bundle.json')];
  const child = startProgram(process.execPath, { args: args(...flags) });
  t.after(() => child.stop('SIGKILL'));
  await eventually('the download runs', () => vendor.counts.download > 0 || undefined);
  const lines = commandLinesOf(child.pid);
  assert.ok(lines[0]?.includes('--link-file'));
  for (const line of lines) assert.ok(!line.includes(key) && !line.includes(signature));
  assertNothingLeaks(folder, { stdout: '', stderr: child.tail() });
  await child.stop('SIGKILL');
});
