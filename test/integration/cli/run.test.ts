// `static-export run` as a pipeline or a machine without a cluster runs it: the operator's reconcile over a folder, with
// real sockets and files.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { key, type ScriptedVendor, signature, startVendor, status } from './scripted-vendor.ts';

const pages = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>', 'b.html': '<h1>b</h1>' };
const program = programFile('static-export');

interface Workplace {
  readonly folder: string;
  readonly to: string;
  readonly vendor: ScriptedVendor;
  readonly args: (...more: readonly string[]) => readonly string[];
  readonly run: (...more: readonly string[]) => Promise<CommandResult>;
}

async function workplaceFor(t: TestContext, spec = ''): Promise<Workplace> {
  const vendor = await startVendor(gzipSync(tarOf(pages)));
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-run-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [to, manifest, keyFile] = [join(folder, 'site'), join(folder, 'docs.yaml'), join(folder, 'key')];
  writeFileSync(keyFile, `${key}\n`);
  writeFileSync(
    manifest,
    `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec:
  domain: docs.example.com
  api: { keySecretRef: { name: export-api } }
${spec}`,
  );
  const args = (...more: readonly string[]): readonly string[] => [
    ...[program, 'run', '-f', manifest, '--state', join(folder, 'state'), '--publish', `dir=${to}`],
    ...[
      '--secret',
      `export-api=${keyFile}`,
      '--api-base-url',
      vendor.url,
      '--allow-private-links',
      '-o',
      'json',
    ],
    ...more,
  ];
  const run = async (...more: readonly string[]): Promise<CommandResult> => {
    const result = await runCommand([process.execPath, ...args('--once', ...more)]);
    for (const text of [result.stdout, result.stderr]) {
      assert.ok(!text.includes(key) && !text.includes(signature), 'a secret is where everybody reads');
    }
    return result;
  };
  return { folder, to, vendor, args, run };
}

test('a manifest is exported, checked and published; another run finds nothing to do; a request exports again', async (t) => {
  const { folder, to, vendor, run } = await workplaceFor(t);
  const first = await run();
  assert.equal(first.code, 0, first.stderr);
  const { kind, version } = JSON.parse(first.stdout);
  assert.equal(kind, 'RunResult');
  assert.equal(readFileSync(join(to, 'a/index.html'), 'utf8'), pages['a/index.html']);
  const second = await run();
  assert.deepEqual([second.code, JSON.parse(second.stdout).version, vendor.jobs.size], [0, version, 1]);
  vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': 'new' }));
  const third = await run('--request');
  assert.equal(third.code, 0, third.stderr);
  assert.equal(vendor.jobs.size, 2);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'new');
  for (const name of readdirSync(join(folder, 'state'), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, 'state', name);
    if (statSync(path).isFile()) assert.ok(!readFileSync(path, 'latin1').includes(key), name);
    if (name.endsWith('.json')) assert.equal(statSync(path).mode & 0o077, 0, name);
  }
});

test('a request is exported also when the link is due first', async (t) => {
  const { vendor, run } = await workplaceFor(t, '  linkRefresh: { atPercent: 10, minInterval: 1s }\n');
  vendor.linkLifetimeMs = 30_000;
  assert.equal((await run()).code, 0);
  await new Promise((resolve) => setTimeout(resolve, 3500));
  const second = await run('--request');
  assert.deepEqual([second.code, vendor.jobs.size], [0, 2], second.stderr);
});

test('a run that is not "once" goes on, publishes, and ends in order', async (t) => {
  const { to, vendor, args, run } = await workplaceFor(t);
  const child = startProgram(process.execPath, { args: args() });
  await eventually('the site is written', () => existsSync(join(to, 'index.html')) || undefined);
  assert.equal(child.hasExited(), false);
  await child.stop('SIGTERM');
  assert.equal(await child.exited, 143);
  assert.equal((await run()).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

test('a link file follows each new version, for its owner alone, and is left as it is without one', async (t) => {
  const { folder, vendor, run } = await workplaceFor(t);
  const file = join(folder, 'bundle.json');
  const first = await run('--link-file', file);
  assert.equal(first.code, 0, first.stderr);
  const { version } = JSON.parse(first.stdout);
  const { bundleUrl, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  assert.deepEqual([rest.version, bundleUrl.includes(signature)], [version, true]);
  const { ino, mode } = statSync(file);
  assert.equal(mode & 0o777, 0o600);
  assert.equal((await run('--link-file', file)).code, 0);
  assert.equal(statSync(file).ino, ino, 'written again without a change');
  vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': 'new' }));
  const third = await run('--link-file', file, '--request');
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).version, JSON.parse(third.stdout).version);
  assert.notEqual(JSON.parse(third.stdout).version, version);
});

test('a destination that cannot be written does not end a run: it is written when it can be', async (t) => {
  const { folder, to, args } = await workplaceFor(t);
  const values = join(folder, 'values.yaml');
  writeFileSync(values, 'a: b\na: c\n');
  const child = startProgram(process.execPath, { args: args('--values', values) });
  await eventually(
    'the failure is reported',
    () => /ValuesRefused.*Retrying in 10 s/.test(child.tail()) || undefined,
  );
  assert.ok(existsSync(join(to, 'index.html')));
  writeFileSync(values, 'a: b\n');
  await eventually('the values are written', () => /version/.test(readFileSync(values, 'utf8')) || undefined);
  assert.equal(child.hasExited(), false);
  await child.stop('SIGTERM');
});

const endings: readonly (readonly [string, string, ScriptedVendor['answers'], number, string])[] = [
  ['a refused key', '', { start: status(401) }, 3, 'KeyRefused'],
  ['too few pages', '  promotion: { minPages: 9 }\n', {}, 7, 'TooFewPages'],
  ['manual promotion', '  promotion: { mode: Manual }\n', {}, 7, 'AwaitingPromotion'],
  ['an unknown field', '  shedule: "0 3 * * *"\n', {}, 2, 'ManifestInvalid'],
  ['a schedule that never fires', '  schedule: "0 0 30 2 *"\n', {}, 2, 'InvalidSchedule'],
  ['a domain that is not valid', '  domain: not_a_domain\n', {}, 2, 'ManifestInvalid'],
];
for (const [name, spec, answers, exitCode, code] of endings) {
  test(`${name} ends with ${exitCode} and publishes nothing`, async (t) => {
    const { to, vendor, run } = await workplaceFor(t, spec);
    vendor.answers = answers;
    const result = await run();
    assert.equal(result.code, exitCode, result.stderr);
    if (code !== '') assert.equal(JSON.parse(result.stdout).code, code);
    assert.equal(existsSync(to), false);
  });
}

test('kill -9 at any moment starts no spare job and leaves no half folder', async (t) => {
  const runs = Number(process.env['CLI_KILLS'] ?? 6);
  const { folder, to, vendor, args, run } = await workplaceFor(t);
  const startedAt = performance.now();
  await run();
  const wholeMs = performance.now() - startedAt;
  rmSync(join(folder, 'state'), { recursive: true });
  rmSync(to, { recursive: true });
  const jobs = vendor.jobs.size;
  for (let kills = 0; kills < runs; kills += 1) {
    const child = startProgram(process.execPath, { args: args('--once') });
    await new Promise((resolve) => setTimeout(resolve, (wholeMs * (kills + 0.5)) / runs));
    await child.stop('SIGKILL');
    if (existsSync(to)) assert.equal(readdirSync(to, { recursive: true }).length, 4);
  }
  // A start whose answer was lost is sent again a minute later; the request for it is on the disk.
  assert.ok(vendor.jobs.size <= jobs + 1);
});
