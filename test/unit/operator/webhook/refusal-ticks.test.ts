// Ticks of refusals: work of any length below a step is answered at the same tick, and ticks end when nobody asks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRefusalTicks } from '#operator/webhook/refusal-ticks.ts';

function world() {
  const rings: (() => void)[] = [];
  const shutdown = new AbortController();
  let asked = 0;
  const clock = {
    after: (_ms: number, signal?: AbortSignal) => {
      asked += 1;
      return new Promise<void>((resolve, reject) => {
        rings.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    },
  };
  const enter = createRefusalTicks(clock, 250, shutdown.signal);
  const ring = async (): Promise<void> => {
    rings.shift()?.();
    await turn();
  };
  return { enter, ring, shutdown, asked: () => asked, pending: () => rings.length };
}

for (const [took, expected] of [
  [0, 2],
  [1, 2],
  [2, 3],
  [5, 6],
] as const) {
  test(`a refusal that took ${took} ticks leaves at tick ${expected} after its request`, async () => {
    const { enter, ring } = world();
    const leave = enter();
    let tick = 0;
    let left: number | undefined;
    const step = async (): Promise<void> => {
      tick += 1;
      await ring();
    };
    while (tick < took) await step();
    void leave().then(() => {
      left = tick;
    });
    while (left === undefined && tick < 10) await step();
    assert.equal(left, expected);
  });
}

test('a request that comes between two ticks sets none', async () => {
  const { enter, asked } = world();
  enter();
  assert.equal(asked(), 1);
  enter();
  assert.equal(asked(), 1);
});

test('without requests the ticks end, and begin again with the next one', async () => {
  const { enter, ring, asked, pending } = world();
  enter();
  for (let at = 0; at < 30; at += 1) await ring();
  assert.equal(asked(), 20);
  assert.equal(pending(), 0);
  enter();
  await turn();
  assert.equal(asked(), 21);
});

test('at the end of the program nobody waits', async () => {
  const { enter, shutdown } = world();
  const left = enter()();
  shutdown.abort();
  await left;
});
