// `static-export export` as a pipeline runs it: a process, sockets, files. Each fault has its exit code; standard output
// is JSON or empty; nothing is half written; neither the key nor the link's signature is in anything but the link file.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { entry, tar, tarOf } from '../../support/tar-builder.ts';
import { key, type ScriptedVendor, signature, startVendor, status } from './scripted-vendor.ts';

const pages = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>', 'b.html': '<h1>b</h1>' };
const site = gzipSync(tarOf(pages));
const program = programFile('static-export');

interface Workplace {
  readonly vendor: ScriptedVendor;
  readonly folder: string;
  readonly args: (...more: readonly string[]) => readonly string[];
  readonly run: (...more: readonly string[]) => Promise<CommandResult>;
}

async function workplaceFor(t: TestContext): Promise<Workplace> {
  const vendor = await startVendor(site);
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-export-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), `${key}\n`);
  const args = (...more: readonly string[]): readonly string[] => [
    program,
    'export',
    'docs.example.com',
    ...['--api-base-url', vendor.url, '--key-file', join(folder, 'key'), '--state', join(folder, 'state')],
    ...['--allow-private-links', '-o', 'json'],
    ...more,
  ];
  const run = async (...more: readonly string[]): Promise<CommandResult> => {
    const result = await runCommand([process.execPath, ...args(...more)]);
    assertNothingLeaks(folder, result);
    return result;
  };
  return { vendor, folder, args, run };
}

/** Standard output is one JSON document or empty. Nothing holds the key or the signature but what must. */
function assertNothingLeaks(
  folder: string,
  { stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>,
): void {
  if (stdout !== '') assert.ok(JSON.parse(stdout));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !['key', 'bundle.json'].includes(name) && statSync(join(folder, name)).isFile())
    .map((name) => readFileSync(join(folder, name), 'latin1'));
  for (const text of [stdout, stderr, ...files]) {
    assert.ok(!text.includes(key) && !text.includes(signature), 'a secret is where everybody reads');
  }
}

test('an export writes the folder, the values and the link file, and says what it did', async (t) => {
  const { folder, run } = await workplaceFor(t);
  const [to, values, linkFile] = ['site', 'values.yaml', 'bundle.json'].map((name) => join(folder, name));
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
  const { folder, run, vendor } = await workplaceFor(t);
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

const hang = (): boolean => true;
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

const quick = ['--timeout', '4s'];
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
    quick,
    124,
    'DeadlineExceeded',
  ],
  [
    '429 with a date beyond the deadline',
    { poll: status(429, { 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' }) },
    quick,
    124,
    'DeadlineExceeded',
  ],
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
  ['too few pages', {}, ['--min-pages', '4'], 7, 'TooFewPages'],
];
describe('faults', { concurrency: 4 }, () => {
  for (const [name, answers, flags, exitCode, errorCode] of faults) {
    test(`${name}: exit ${exitCode}, ${errorCode}; nothing is written`, async (t) => {
      const { folder, run, vendor } = await workplaceFor(t);
      vendor.answers = answers;
      const { code, stdout, stderr } = await run('--to', join(folder, 'site'), ...flags);
      assert.equal(code, exitCode, stderr);
      assert.deepEqual([JSON.parse(stdout).kind, JSON.parse(stdout).code], ['Error', errorCode]);
      assert.deepEqual(readdirSync(folder).sort(), ['key', 'state']);
      assert.ok(!readdirSync(join(folder, 'state')).includes('.static-export-work'));
    });
  }
});

test('a wrong flag exits with 2, and its document says so', async (t) => {
  const { run } = await workplaceFor(t);
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
  const { folder, run, vendor } = await workplaceFor(t);
  const to = join(folder, 'site');
  await run('--to', to);
  vendor.archive = gzipSync(tar(entry('../../etc/passwd', 'x')));
  const { code, stdout } = await run('--to', to);
  assert.deepEqual([code, JSON.parse(stdout).code], [6, 'ParentPath']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
});

test('half the pages are held: exit 7; the same command with another limit publishes the same job', async (t) => {
  const { folder, run, vendor } = await workplaceFor(t);
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

test('a destination of another program, a missing folder and a wrong key are found before a job is started', async (t) => {
  const { folder, run, vendor } = await workplaceFor(t);
  const cases = [
    [['--to', join(folder, 'key')], 2, 'DestinationExists'],
    [['--to', folder], 2, 'DestinationRefused'],
    [['--to', join(folder, 'no/where/site')], 2, 'DestinationMissing'],
    [['--key-file', join(folder, 'none')], 3, 'KeyUnreadable'],
    [['--baseline', join(folder, 'none')], 2, 'ArchiveUnreadable'],
  ] as const;
  for (const [flags, exitCode, errorCode] of cases) {
    const { code, stdout } = await run(...flags);
    assert.deepEqual([code, JSON.parse(stdout).code], [exitCode, errorCode]);
  }
  assert.equal(vendor.jobs.size, 0);
});

test('a values file that cannot be edited: exit 9, and the same command goes on with the same job', async (t) => {
  const { folder, run, vendor } = await workplaceFor(t);
  const values = join(folder, 'values.yaml');
  writeFileSync(values, 'a: b\na: c\n');
  const { code, stdout } = await run('--values', values);
  assert.deepEqual([code, JSON.parse(stdout).code], [9, 'ValuesRefused']);
  writeFileSync(values, 'a: b\n');
  assert.equal((await run('--values', values)).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

test('two runs on one state: the second exits with 5 at once', async (t) => {
  const { args, run, vendor } = await workplaceFor(t);
  vendor.answers = { poll: hang };
  const first = startProgram(process.execPath, { args: args() });
  await eventually('a job is started', () => vendor.jobs.size === 1 || undefined);
  const second = await run();
  assert.deepEqual([second.code, JSON.parse(second.stdout).code], [5, 'StateBusy']);
  await first.stop('SIGKILL');
});

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} exits with ${exitCode} and says how to continue; the same command continues`, async (t) => {
    const { args, run, vendor } = await workplaceFor(t);
    vendor.answers = { poll: hang };
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
  const { folder, args, run, vendor } = await workplaceFor(t);
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
