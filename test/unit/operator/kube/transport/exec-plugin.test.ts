// Which processes end with the work that started them, with real processes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { endPluginsOn } from '#operator/kube/transport/exec-plugin.ts';

const never = new AbortController().signal;
/** As client-node does it: over when the process is, and its output is closed. */
async function run(script: string): Promise<string> {
  const child = spawn('sh', ['-c', script]);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return child.signalCode ?? output;
}

test('a plugin that answers is left to end by itself', async () => {
  assert.equal(await endPluginsOn(never, () => run('echo answer')), 'answer\n');
});

test('work that starts no process is what it is, and its failure too', async () => {
  assert.equal(await endPluginsOn(never, async () => 7), 7);
  await assert.rejects(
    endPluginsOn(never, () => Promise.reject(new Error('no such file'))),
    /no such file/,
  );
});

test('the work ends with its plugin, though a child of the plugin holds its output open', async () => {
  const stop = new AbortController();
  const begun = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string | null>();
  const work = endPluginsOn(stop.signal, () => {
    const plugin = spawn('sh', ['-c', 'sleep 600 & echo $!; wait']);
    plugin.stdout.once('data', (line) => begun.resolve(Number(String(line))));
    plugin.once('close', (_code, signal) => ended.resolve(signal));
    return ended.promise;
  });
  const left = await begun.promise;
  stop.abort();
  assert.equal(await work, 'SIGKILL');
  process.kill(left, 'SIGKILL');
});

test("a process that somebody else starts meanwhile is nobody's plugin", async () => {
  const stop = new AbortController();
  const over = Promise.withResolvers<void>();
  const work = endPluginsOn(stop.signal, () => over.promise);
  const other = spawn('sh', ['-c', 'read line; echo $line']);
  stop.abort();
  other.stdin.end('still here\n');
  assert.equal(await text(other.stdout), 'still here\n');
  over.resolve();
  await work;
});
