// Commands in the process of a test leave nothing in it: no timer, socket or thread that keeps it alive. The state that is
// shared with the next run is checked after each run, by test/support/cli-in-process.ts itself.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { eventually } from '../../support/eventually.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workplace } from './environment/conversation-workplace.ts';
import { status } from './environment/scripted-vendor.ts';
import { verbs, workplaceOf } from './environment/verbs.ts';

/** What keeps this process alive, after the work of `run`, is what it was before. */
async function assertNothingStays(run: () => Promise<unknown>): Promise<void> {
  // Connections of the test's own servers come and go.
  const kept = (): readonly string[] =>
    process.getActiveResourcesInfo().filter((name) => !/^(?:TCP|FSReq|Pipe|Immediate)/.test(name));
  const before = kept();
  await run();
  await eventually('the end of all work', () => {
    assert.deepEqual(kept().toSorted(), before.toSorted());
    return true;
  });
}

for (const verb of verbs) {
  test(`${verb} leaves nothing, whether it publishes, fails or reaches its deadline`, async (t) => {
    const { run, vendor } = await workplaceOf(verb, t);
    await assertNothingStays(() => run('--timeout', '60s'));
    vendor.answers = { issue: status(403), start: status(403) };
    await assertNothingStays(() => run('--timeout', '2s', ...(verb === 'run' ? ['--request'] : [])));
    vendor.answers = { start: () => true };
    await assertNothingStays(() => run('--timeout', '2s', ...(verb === 'run' ? ['--request'] : ['--new'])));
  });
}

test('conversations export leaves nothing', async (t) => {
  const { run } = await workplace(t);
  await assertNothingStays(() => run());
});

function archiveFor(t: TestContext): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'site.tar'), tarOf({ 'index.html': '<h1>home</h1>' }));
  return join(folder, 'site.tar');
}

test('a command about an archive leaves nothing', async (t) => {
  const archive = archiveFor(t);
  await assertNothingStays(() => runInProcess(['bundle', 'verify', archive]));
});

test('a command says on standard output what it says in a process, and has its exit code', async () => {
  const help = await runInProcess(['--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /^Usage: static-export COMMAND/);
  const wrong = await runInProcess(['exprot']);
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
});
