// A check that goes on while its bundle is served: what it calls proven, and who waits for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bundleDamaged,
  createRunningCheck,
  type RunningCheck,
  trustUnlessLost,
} from '#bundle/store/pending-check.ts';
import { publishableMessage } from '#platform/wire/publishable-error.ts';

/** How the waits for these bytes of the pack stand. */
async function waits(check: RunningCheck, offsets: readonly number[]): Promise<() => readonly string[]> {
  const states = offsets.map(() => 'waits');
  for (const [at, offset] of offsets.entries()) {
    const end = (state: string): void => void states.splice(at, 1, state);
    check.untilProven(offset).then(
      () => end('proven'),
      (error: unknown) => end(publishableMessage(error)),
    );
  }
  await settled();
  return () => states;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const steps: readonly {
  readonly name: string;
  readonly act: (check: RunningCheck) => void;
  readonly expected: readonly [boolean, boolean, boolean];
}[] = [
  { name: 'at first nothing is proven', act: () => {}, expected: [false, false, false] },
  {
    name: 'a file that begins before the position is',
    act: (it) => it.advance(10),
    expected: [true, false, false],
  },
  { name: 'a position never goes back', act: (it) => it.advance(5), expected: [true, false, false] },
  { name: 'the file that begins there is not', act: (it) => it.advance(20), expected: [true, true, false] },
  { name: 'in the end everything is', act: (it) => it.finish(), expected: [true, true, true] },
];

test('a byte is proven when every file that begins before it was hashed, and those who wait for it go on', async () => {
  const check = createRunningCheck();
  const offsets = [9, 19, 20];
  const states = await waits(check, offsets);
  for (const { name, act, expected } of steps) {
    act(check);
    await settled();
    assert.deepEqual(offsets.map(check.isProven), expected, name);
    assert.deepEqual(
      states(),
      expected.map((isProven) => (isProven ? 'proven' : 'waits')),
      name,
    );
  }
  await check.end;
  await check.untilProven(1e15);
});

test('a damaged file fails those who wait for it, and no other, while the check goes on', async () => {
  const check = createRunningCheck();
  const states = await waits(check, [9, 10, 20]);
  check.damage({ offset: 10, size: 4 });
  check.advance(15);
  await settled();
  const { message } = bundleDamaged();
  assert.deepEqual(states(), ['proven', message, 'waits']);
  check.advance(21);
  check.fail(bundleDamaged());
  await settled();
  assert.deepEqual(states(), ['proven', message, 'proven']);
  assert.deepEqual([9, 10, 13, 14, 20].map(check.isProven), [true, false, false, true, true]);
  await assert.rejects(check.untilProven(10), { code: 'BundleDamaged' });
  await check.untilProven(20);
});

test('a pack that is being stored is trusted until the disk fails to store it', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const kept = trustUnlessLost(promise);
  assert.equal(kept.isProven(7), true);
  resolve('a digest');
  await kept.end;
  assert.equal(kept.isProven(7), true);
  const lost = trustUnlessLost(Promise.reject(new Error('EIO')));
  await assert.rejects(lost.end, /EIO/);
  assert.equal(lost.isProven(7), false);
  await assert.rejects(lost.untilProven(7), /EIO/);
});

test('where the check fails, what it proved stays proven and the rest never is', async () => {
  const check = createRunningCheck();
  const states = await waits(check, [9, 19]);
  check.advance(10);
  check.fail(bundleDamaged());
  await settled();
  const { message } = bundleDamaged();
  assert.deepEqual(states(), ['proven', message]);
  assert.deepEqual([check.isProven(9), check.isProven(19)], [true, false]);
  await assert.rejects(check.end, { code: 'BundleDamaged', kind: 'retry' });
  await assert.rejects(check.untilProven(30), { code: 'BundleDamaged' });
  await check.untilProven(3);
});
