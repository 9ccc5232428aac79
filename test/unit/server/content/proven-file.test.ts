// Large files in the first moments after a start: sent once their check is done, refused for now if it takes too long.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { bundleDamaged, createRunningCheck } from '#bundle/store/pending-check.ts';
import { isProvenInTime } from '#server/content/proven-file.ts';
import { storedBundle } from '../fixtures.ts';
import { manualClock } from '../manual-clock.ts';

const file = { offset: 100, size: 10 };

test('a file waits for its check, at most 30 seconds', async () => {
  const clock = manualClock(0);
  const check = createRunningCheck();
  const pack = storedBundle({ 'index.html': 'home' }, undefined, check);
  const late = isProvenInTime(pack, file, clock, new EventEmitter());
  await clock.pass(30_000);
  assert.equal(await late, false);
  const inTime = isProvenInTime(pack, file, clock, new EventEmitter());
  await clock.pass(29_000);
  check.advance(101);
  assert.equal(await inTime, true);
  assert.equal(await isProvenInTime(pack, file, clock, new EventEmitter()), true, 'at once from then on');
});

test('a check that failed before it came to the file is the failure of the read', async () => {
  const check = createRunningCheck();
  const pack = storedBundle({ 'index.html': 'home' }, undefined, check);
  const waiting = isProvenInTime(pack, file, manualClock(0), new EventEmitter());
  check.fail(bundleDamaged());
  await assert.rejects(waiting, { code: 'BundleDamaged' });
});

test('a reader that leaves ends its wait, and nothing listens to it afterwards', async () => {
  const check = createRunningCheck();
  const pack = storedBundle({ 'index.html': 'home' }, undefined, check);
  const reader = new EventEmitter();
  const waiting = isProvenInTime(pack, file, manualClock(0), reader);
  reader.emit('close');
  assert.equal(await waiting, false);
  const next = isProvenInTime(pack, file, manualClock(0), reader);
  check.finish();
  assert.equal(await next, true);
  assert.equal(reader.listenerCount('close'), 0);
});
