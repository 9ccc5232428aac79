// How soon a resource is looked at that another installation has written, and that two of them do not chase each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRivalPace } from '../../../../src/operator/queue/rival-pace.ts';

function start() {
  let now = 0;
  const looks: number[] = [];
  const contested = createRivalPace({ monotonic: () => now }, (_key, delayMs) => looks.push(now + delayMs));
  const at = (ms: number): void => {
    now = ms;
    contested('ns/docs');
  };
  return { at, contested, looks };
}

test('the first status of another one is followed by a look within a second', () => {
  const { at, looks } = start();
  at(5_000);
  assert.deepEqual(looks, [6_000]);
});

test('whoever answers each of our looks at once gets the next a little later, a minute at most', () => {
  const { at, looks } = start();
  for (let answer = 0; answer < 10; answer += 1) at((looks.at(-1) ?? 0) + 1);
  const pauses = looks.map((look, index) => look - (looks[index - 1] ?? 0) - 1);
  assert.deepEqual(
    pauses,
    [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map((seconds) => seconds * 1000),
  );
});

test('each status while a look is due asks for that one, which a pass may have taken the place of', () => {
  const { at, looks } = start();
  for (const ms of [0, 10, 500, 999]) at(ms);
  assert.deepEqual(looks, [1_000, 1_000, 1_000, 1_000]);
});

test('after ten minutes without any it begins anew', () => {
  const { at, looks } = start();
  at(0);
  at(2_000);
  at(4_000 + 10 * 60_000);
  assert.deepEqual(looks, [1_000, 4_000, 605_000]);
});

test('each resource has a pace of its own', () => {
  const { at, contested, looks } = start();
  at(0);
  contested('ns/other');
  assert.deepEqual(looks, [1_000, 1_000]);
});
