// `static-export run` as a pipeline or a machine without a cluster runs it: the operator's reconcile over a folder, with
// real sockets and files.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../support/cli-in-process.ts';
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
  const { vendor, run, runAt } = await runWorkplace(t, '  linkRefresh: { atPercent: 10, minInterval: 1s }\n');
  vendor.linkLifetimeMs = 30_000;
  assert.equal((await run()).code, 0);
  const second = await runAt(3500, '--request');
  assert.deepEqual([second.code, vendor.jobs.size], [0, 2], second.stderr);
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

test("one state folder serves `run` and `export`, and neither takes the other's version for its own", async (t) => {
  const { folder, to, vendor, run } = await runWorkplace(t);
  const second = join(folder, 'second');
  const given = ['--key-file', join(folder, 'key'), '--state', join(folder, 'state'), '--to', second];
  const exported = () =>
    runInProcess([
      ...['export', 'docs.example.com', '--api-base-url', vendor.url, ...given],
      ...['--allow-private-links', '-o', 'json'],
    ]);
  assert.equal((await run()).code, 0);
  const first = await exported();
  assert.equal(first.code, 0, first.stderr);
  const again = await run();
  assert.deepEqual([again.code, vendor.jobs.size], [0, 2], again.stderr);
  vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': 'new' }));
  assert.equal((await exported()).code, 0);
  const homes = [to, second].map((site) => readFileSync(join(site, 'index.html'), 'utf8'));
  assert.deepEqual([homes, vendor.jobs.size], [[pages['index.html'], 'new'], 3]);
});
