// The starter's side of the conversation with a thread: whatever it says last is what counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BundleError } from '../../../../src/bundle/bundle-error.ts';
import { runThread } from '../../../../src/bundle/thread/thread-work.ts';

const lost = (cause: unknown): BundleError => new BundleError('transient', 'Lost', 'it ended', { cause });
const thread = (body: string) =>
  runThread({
    program: new URL(
      `data:text/javascript,import { parentPort } from 'node:worker_threads'; ${encodeURIComponent(body)}`,
    ),
    order: undefined,
    lost,
  });

/** Holds this thread, so that the other's last word and its end are both there when it looks again. */
const hold = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

test('a thread that ends with its last word was not lost, also where both are heard of at once', async () => {
  const report = `{ type: 'failed', kind: 'refused', code: 'AbsolutePath', message: 'a path' }`;
  for (const end of ['', 'process.exit();']) {
    const failing = assert.rejects(thread(`parentPort.postMessage(${report}); ${end}`), {
      code: 'AbsolutePath',
    });
    await new Promise(setImmediate);
    hold(500);
    await failing;
  }
  assert.equal(await thread(`parentPort.postMessage({ type: 'bad' });`), undefined);
});

test('a thread that ends without a word, breaks, or says what nobody knows is lost', async () => {
  for (const body of [
    'process.exit(0);',
    'throw new Error("broken");',
    'parentPort.postMessage({ type: "?" });',
  ])
    await assert.rejects(thread(body), { code: 'Lost' }, body);
});
