// The lifetime of a link while the clock is set back, in one process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correctTimes, type SeenLink } from '#operator/loop/clock-set-back.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const t0 = Date.UTC(2026, 0, 5, 12);
const link = { issuedAt: t0, expiresAt: t0 + 3_600_000, version: 'v' };

test('a normal clock and a clock set forward correct no link', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  assert.equal(correctTimes(links, 'a', link, clock), link);
  await clock.pass(1_800_000);
  assert.equal(correctTimes(links, 'a', link, clock), link);
  clock.jump(600_000);
  assert.equal(correctTimes(links, 'a', link, clock), link);
});

test('after the clock is set back, the link times are corrected once to the present clock', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  correctTimes(links, 'a', link, clock);
  await clock.pass(1_800_000);
  clock.jump(-1_500_500);
  const moved = { issuedAt: t0 - 1_501_000, expiresAt: t0 + 3_600_000 - 1_501_000, version: 'v' };
  assert.deepEqual(correctTimes(links, 'a', link, clock), moved);
  await clock.pass(60_000);
  assert.deepEqual(correctTimes(links, 'a', link, clock), moved);
  clock.jump(-10_000);
  assert.equal(correctTimes(links, 'a', link, clock).issuedAt, moved.issuedAt - 10_000, 'steps add up');
});

test('a slowly adjusted clock counts as not set back', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  for (let hours = 0; hours < 100; hours += 1) {
    assert.equal(correctTimes(links, 'a', link, clock), link);
    await clock.pass(3_600_000);
    clock.jump(-1800);
  }
});

test('small steps back add up, in any number of reconciles', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  correctTimes(links, 'a', link, clock);
  for (let look = 0; look < 180; look += 1) {
    await clock.pass(10_000);
    clock.jump(-4_900);
    correctTimes(links, 'a', link, clock);
  }
  const missedMs = 180 * 4_900 - (t0 - correctTimes(links, 'a', link, clock).issuedAt);
  // A second of rounding for each correction is on the safe side; the tolerance and an adjustment are not corrected.
  assert.ok(missedMs <= 5_000 + 1_800_000 * 0.002, `${missedMs} ms`);
});

test('a clock set forward and back again corrects no link', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  correctTimes(links, 'a', link, clock);
  clock.jump(600_000);
  assert.equal(correctTimes(links, 'a', link, clock), link);
  await clock.pass(60_000);
  clock.jump(-600_000);
  assert.equal(correctTimes(links, 'a', link, clock), link);
});

test('a clock set back and right again, or one that swings, corrects no link', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  correctTimes(links, 'a', link, clock);
  for (let swing = 0; swing < 20; swing += 1) {
    clock.jump(-86_400_000);
    assert.equal(correctTimes(links, 'a', link, clock).issuedAt, t0 - 86_400_000);
    await clock.pass(60_000);
    clock.jump(86_400_000);
    assert.equal(correctTimes(links, 'a', link, clock), link);
  }
  clock.jump(600_000);
  assert.equal(correctTimes(links, 'a', link, clock), link);
  clock.jump(-900_000);
  assert.equal(correctTimes(links, 'a', link, clock).issuedAt, t0 - 300_000, 'what is left of it counts');
});

test('a new link, or the link of another resource, keeps its stored times', async () => {
  const clock = virtualClock(t0);
  const links = new Map<string, SeenLink>();
  correctTimes(links, 'a', link, clock);
  clock.jump(-600_000);
  correctTimes(links, 'a', link, clock);
  const fresh = { issuedAt: t0 + 60_000, expiresAt: t0 + 3_660_000 };
  assert.equal(correctTimes(links, 'a', fresh, clock), fresh);
  assert.equal(correctTimes(links, 'b', link, clock), link);
});
