// A node leaves no process or file after its runner ended by Ctrl-C, by SIGKILL, or because the start failed.
// Each runner is a separate process; its remains are searched by its process id.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventuallyInCluster } from '../../support/eventually.ts';
import { buildSandboxImage, type TestImages } from '../../support/image/test-images.ts';
import { readKernelSettings } from '../../support/node/kernel-settings.ts';
import { startNode } from '../../support/node/node.ts';
import { findRemains, sweepRemains } from '../../support/node/remains.ts';

const program = join(import.meta.dirname, '../../support/node/held-node.ts');
/** For events without a duration on a busy machine: the claim is only that they happen. */
const patience = { timeoutMs: 300_000 };

suite('a node leaves nothing', () => {
  let images: Pick<TestImages, 'archives' | 'remove'>;

  before(async () => {
    images = await buildSandboxImage();
  });
  after(async () => {
    await images?.remove();
  });

  test('after Ctrl-C', async () => {
    const runner = await holdNode(images.archives);
    await runner.stop('SIGINT', patience.timeoutMs);
    await noProcessOf(runner.pid);
    assert.deepEqual(await findRemains(runner.pid), []);
  });

  test('after SIGKILL no process remains at once, and no file after the next start', async () => {
    const settings = await readKernelSettings();
    const runner = await holdNode(images.archives);
    await runner.stop('SIGKILL');
    await noProcessOf(runner.pid);
    assert.notDeepEqual(await findRemains(runner.pid), [], 'nobody could remove the files');
    await sweepRemains();
    assert.deepEqual(await findRemains(runner.pid), []);
    assert.deepEqual(await readKernelSettings(), settings);
  });

  test('when the start fails', async () => {
    const before = await findRemains(process.pid);
    await assert.rejects(startNode({ images: ['/nonexistent/image.tar'] }), /nonexistent/);
    await noProcessOf(process.pid);
    assert.deepEqual(await findRemains(process.pid), before);
  });
});

async function holdNode(archives: readonly string[]): Promise<ChildProgram> {
  let isHeld = false;
  const runner = startProgram(process.execPath, {
    args: [program, ...archives],
    onLine: (line) => {
      isHeld ||= line.startsWith('held ');
    },
  });
  await eventuallyInCluster(
    'the node held',
    () => {
      if (runner.hasExited()) throw new Error(runner.tail());
      return isHeld || undefined;
    },
    patience,
  );
  return runner;
}

/** Every program of a node has its folder as an argument, and the folder's name holds the runner's process id. */
async function noProcessOf(pid: number): Promise<void> {
  await eventuallyInCluster(
    `no process of runner ${pid}`,
    async () => {
      const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      const lines = all.map((one) => readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => ''));
      const living = (await Promise.all(lines)).filter((line) => line.includes(`static-export-node-${pid}-`));
      if (living.length > 0) throw new Error(living.join('\n').replaceAll('\0', ' '));
      return true;
    },
    patience,
  );
}
