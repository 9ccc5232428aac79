// The demo's claims: what holds, what does not, and what a stop leaves undecided.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimFailed, createClaims, insist, until } from '#cli/demo/claims.ts';
import { demoResult } from '#cli/demo/result.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

function claimsOf() {
  const clock = virtualClock();
  const stop = new AbortController();
  const notes: string[] = [];
  const progress = {
    phase: () => {},
    advance: () => {},
    note: (text: string) => void notes.push(text),
    end: () => {},
  };
  return { clock, stop, notes, claims: createClaims(progress, clock, stop.signal) };
}

test('a claim that holds is listed with what was measured and with its seconds', async () => {
  const { clock, notes, claims } = claimsOf();
  const run = async (): Promise<number> => {
    await clock.after(1240);
    return 8;
  };
  await clock.finish(claims.check('Counting', run, (count) => `${count} pages`));
  assert.deepEqual(claims.list, [{ claim: '8 pages', holds: true, seconds: 1.2 }]);
  assert.match(notes[0] ?? '', /^ ✓ 8 pages {2,}1\.2 s$/);
});

test('a claim that does not hold names its phase and its reason, and ends the story', async () => {
  const { notes, claims } = claimsOf();
  const run = async (): Promise<void> => insist(false, 'the version changed');
  await assert.rejects(
    claims.check('Refreshing', run, () => 'refreshed'),
    ClaimFailed,
  );
  assert.deepEqual(claims.list, [{ claim: 'Refreshing: the version changed', holds: false, seconds: 0 }]);
  assert.match(notes[0] ?? '', /^ ✗ Refreshing: the version changed/);
});

test('an unexpected error is a claim that does not hold, and its text is not shown', async () => {
  const { notes, claims } = claimsOf();
  const run = (): Promise<void> => Promise.reject(new Error('https://host/a?signature=1'));
  await assert.rejects(
    claims.check('Opening', run, () => 'opened'),
    ClaimFailed,
  );
  assert.equal(notes.join().includes('signature'), false);
  assert.equal(claims.list[0]?.holds, false);
});

test('a claim that a stop interrupts is neither true nor false', async () => {
  const { stop, claims, notes } = claimsOf();
  const reason = new Error('stopped');
  const run = async (): Promise<void> => {
    stop.abort(reason);
    throw new Error('connection lost');
  };
  await assert.rejects(
    claims.check('Opening', run, () => 'opened'),
    (error) => error === reason,
  );
  assert.deepEqual([claims.list, notes], [[], []]);
});

test('waiting ends with the value, with the time limit, or with a stop', async () => {
  const { clock, stop } = claimsOf();
  let looks = 0;
  const look = async (): Promise<number | undefined> => {
    looks += 1;
    if (looks === 1) throw new Error('not yet');
    return looks < 4 ? undefined : looks;
  };
  const { signal } = stop;
  assert.equal(await clock.finish(until('a value', look, { clock, signal })), 4);
  const never = until('a value', async () => undefined, { clock, signal, timeoutMs: 500 });
  await assert.rejects(clock.finish(never), /a value was not seen within 0\.5 s/);
  const stopped = until('a value', async () => undefined, { clock, signal });
  stop.abort(new Error('stopped'));
  await assert.rejects(clock.finish(stopped), /stopped/);
});

test('the answer is no where a claim does not hold, and where none was checked', () => {
  const holds = { claim: 'a', holds: true, seconds: 1 };
  const broken = { claim: 'b: why', holds: false, seconds: 1 };
  assert.equal(demoResult([holds], 1500, {}).outcome, 'done');
  assert.deepEqual(demoResult([holds], 1540, {}).lines, ['All 1 claims hold, after 1.5 s.']);
  assert.equal(demoResult([holds, broken], 1500, {}).outcome, 'no');
  assert.deepEqual(demoResult([holds, broken], 1, {}).lines, ['This claim does not hold: b: why']);
  assert.equal(demoResult([], 0, {}).outcome, 'no');
});
