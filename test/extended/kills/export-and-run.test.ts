// `export` and `run` that are killed again and again, at moments spread over the time of a whole run: no spare job, the right
// bytes, no half folder. `CLI_KILLS` is the number of kills. Chosen moments are in test/integration/cli/interruptions.test.ts.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pages } from '../../integration/cli/environment/export-workplace.ts';
import { filesIn } from '../../integration/cli/environment/files-in.ts';
import { workplaceOf } from '../../integration/cli/environment/verbs.ts';
import { startProgram } from '../../support/child-program.ts';
import { runCommand } from '../../support/command.ts';
import { tarOf } from '../../support/tar-builder.ts';

const runs = Number(process.env['CLI_KILLS'] ?? 40);

test('kill -9 at any moment of export: no spare job, the right bytes, no half folder', async (t) => {
  const { folder, to, args, run, vendor } = await workplaceOf('export', t);
  const wholeMs = await msOf(args());
  let content = pages['index.html'];
  for (let kills = 0; kills < runs; kills += 1) {
    const earlier = content;
    content = `content ${kills}`;
    vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': content }));
    const jobs = vendor.jobs.size;
    const child = startProgram(process.execPath, { args: args() });
    await new Promise((resolve) => setTimeout(resolve, (wholeMs * (kills + 0.5)) / runs));
    await child.stop('SIGKILL');
    if (existsSync(to)) {
      assert.ok([content, earlier].includes(readFileSync(join(to, 'index.html'), 'utf8')));
      assert.equal(readdirSync(to, { recursive: true }).length, 4);
    }
    // Only a run that was finished may be followed by another job.
    const { last } = JSON.parse(readFileSync(join(folder, 'state/state.json'), 'utf8'));
    const isFinished = vendor.jobs.size > jobs && last.jobId === `job-${vendor.jobs.size}`;
    const { code, stderr } = await run();
    assert.equal(code, 0, stderr);
    assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), content);
    assert.equal(vendor.jobs.size, jobs + (isFinished ? 2 : 1), `kill ${kills}`);
    assert.deepEqual(readdirSync(folder).sort(), ['key', 'site', 'state']);
  }
});

test('kill -9 at any moment of run starts no spare job and leaves no half folder', async (t) => {
  const { folder, to, vendor, args, run } = await workplaceOf('run', t);
  const wholeMs = await msOf(args());
  rmSync(join(folder, 'state'), { recursive: true });
  rmSync(to, { recursive: true });
  const jobs = vendor.jobs.size;
  const assertPublished = (): void => {
    const found = filesIn(to, []).map(({ name, text }) => [name, text]);
    assert.deepEqual(Object.fromEntries(found), pages);
  };
  for (let kills = 0; kills < runs; kills += 1) {
    const child = startProgram(process.execPath, { args: args() });
    await new Promise((resolve) => setTimeout(resolve, (wholeMs * (kills + 0.5)) / runs));
    await child.stop('SIGKILL');
    // Whole, or as before: never a part of it.
    if (existsSync(to)) assertPublished();
  }
  // A start whose answer was lost is sent again; the request for it is on the disk.
  const last = await run();
  assert.equal(last.code, 0, last.stderr);
  assertPublished();
  assert.equal(vendor.jobs.size, jobs + 1);
});

/** Of a process that is not killed. */
async function msOf(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const { code, stderr } = await runCommand([process.execPath, ...args]);
  assert.equal(code, 0, stderr);
  return performance.now() - startedAt;
}
