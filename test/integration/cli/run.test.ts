// `static-export run` as a pipeline or a machine without a cluster runs it: the operator's reconcile over a folder, with
// real sockets and files.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { pages } from './environment/export-workplace.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { key, signature } from './environment/scripted-vendor.ts';

test('a manifest is exported, checked and published; another run finds nothing to do; a request exports again', async (t) => {
  const { folder, to, vendor, run } = await runWorkplace(t);
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
  const { vendor, run } = await runWorkplace(t, '  linkRefresh: { atPercent: 10, minInterval: 1s }\n');
  vendor.linkLifetimeMs = 30_000;
  assert.equal((await run()).code, 0);
  await new Promise((resolve) => setTimeout(resolve, 3500));
  const second = await run('--request');
  assert.deepEqual([second.code, vendor.jobs.size], [0, 2], second.stderr);
});

test('a run that is not "once" goes on, publishes, and ends in order', async (t) => {
  const { to, vendor, args, run } = await runWorkplace(t);
  const child = startProgram(process.execPath, { args: args() });
  await eventually('the site is written', () => existsSync(join(to, 'index.html')) || undefined);
  assert.equal(child.hasExited(), false);
  await child.stop('SIGTERM');
  assert.equal(await child.exited, 143);
  assert.equal((await run()).code, 0);
  assert.equal(vendor.jobs.size, 1);
});

test('a link file follows each new version, for its owner alone, and is left as it is without one', async (t) => {
  const { folder, vendor, run } = await runWorkplace(t);
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

/** The very bytes of the archive, and no other file. */
function assertPublished(to: string): void {
  const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(to, name)).isFile(),
  );
  const found = files.map((name) => [name, readFileSync(join(to, name), 'utf8')]);
  assert.deepEqual(Object.fromEntries(found), pages);
}

test('kill -9 at any moment starts no spare job and leaves no half folder', async (t) => {
  const runs = Number(process.env['CLI_KILLS'] ?? 6);
  const { folder, to, vendor, args, run } = await runWorkplace(t);
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
    // Whole, or as before: never a part of it.
    if (existsSync(to)) assertPublished(to);
  }
  // A start whose answer was lost is sent again a minute later; the request for it is on the disk.
  const last = await run();
  assert.equal(last.code, 0, last.stderr);
  assertPublished(to);
  assert.equal(vendor.jobs.size, jobs + 1);
});
