// The arithmetic of time: a link's lifetime, when it is refreshed, the wait after a failure, how often a job is
// polled. Tables for the rules as written, properties for any answer of a vendor.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundByExpiry, exponentialMs, linkWaitMs, retryTime, waitMs } from '#operator/reconcile/backoff.ts';
import {
  assumedLifetimeMs,
  isFresher,
  isLifetimeTooShort,
  measureTimes,
  refreshTime,
  retryAfterStale,
} from '#operator/reconcile/link-timing.ts';
import { pollIntervalMs } from '#operator/reconcile/poll.ts';
import { formatInstant, readInstant, wholeSecond } from '#platform/wire/instant.ts';
import * as fc from '../../../support/properties.ts';

const t0 = Date.UTC(2026, 0, 5, 12);
const minuteMs = 60_000;
const rule = { refreshAtPercent: 66, minIntervalMs: 30_000 };

const lives: Readonly<Record<string, readonly [Omit<Parameters<typeof measureTimes>[0], 'sentAt'>, number]>> =
  {
    'the stated expiry, by the vendor’s clock': [
      { serverDate: t0 + 600_000, claimedExpiresAt: t0 + 1_500_000, signed: undefined },
      900_000,
    ],
    'the signature, when it expires earlier': [
      { serverDate: t0, claimedExpiresAt: t0 + 900_000, signed: { signedAt: t0, expiresAt: t0 + 300_000 } },
      300_000,
    ],
    'the stated expiry, when it is earlier': [
      { serverDate: t0, claimedExpiresAt: t0 + 300_000, signed: { signedAt: t0, expiresAt: t0 + 900_000 } },
      300_000,
    ],
    'the signature alone, by its own clock': [
      {
        serverDate: undefined,
        claimedExpiresAt: undefined,
        signed: { signedAt: t0 - 7_200_000, expiresAt: t0 - 6_600_000 },
      },
      600_000,
    ],
    'the stated expiry without a Date, by the operator’s clock': [
      { serverDate: undefined, claimedExpiresAt: t0 + 60_000, signed: undefined },
      59_000,
    ],
    'an assumption, when nothing is stated': [
      { serverDate: t0, claimedExpiresAt: undefined, signed: undefined },
      assumedLifetimeMs,
    ],
    'a stated expiry in the past: zero': [
      { serverDate: t0, claimedExpiresAt: t0 - 1000, signed: undefined },
      0,
    ],
    'a stated expiry in a thousand years: four hundred days': [
      { serverDate: t0, claimedExpiresAt: t0 + 1000 * 365 * 86_400_000, signed: undefined },
      400 * 86_400_000,
    ],
  };

for (const [name, [issue, lifetimeMs]] of Object.entries(lives)) {
  test(`the lifetime of a link comes from ${name}`, () => {
    const clock = measureTimes({ sentAt: t0 + 400, ...issue });
    assert.deepEqual(clock, { issuedAt: t0, expiresAt: t0 + lifetimeMs });
  });
}

const anyClock = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 60, max: 400 * 86_400 }))
  .map(([startS, lifeS]) => ({ issuedAt: t0 + startS * 1000, expiresAt: t0 + (startS + lifeS) * 1000 }));

test('property: a link is refreshed at its share of the lifetime or up to 5 % of it earlier, never later', () => {
  fc.assert(
    fc.property(anyClock, fc.uuid(), fc.integer({ min: 10, max: 90 }), (clock, uid, refreshAtPercent) => {
      const lifetimeMs = clock.expiresAt - clock.issuedAt;
      const at = refreshTime(uid, clock, { refreshAtPercent, minIntervalMs: 1000 });
      const latest = clock.issuedAt + (lifetimeMs * refreshAtPercent) / 100;
      assert.ok(at <= latest && at >= latest - lifetimeMs * 0.05 - 1000);
      assert.ok(at < clock.expiresAt);
      assert.equal(at % 1000, 0);
      assert.equal(at, refreshTime(uid, clock, { refreshAtPercent, minIntervalMs: 1000 }));
    }),
  );
});

test('property: minInterval between two links is kept', () => {
  fc.assert(
    fc.property(anyClock, fc.uuid(), fc.integer({ min: 1, max: 7200 }), (clock, uid, floorS) => {
      const at = refreshTime(uid, clock, { refreshAtPercent: 66, minIntervalMs: floorS * 1000 });
      assert.ok(at - clock.issuedAt >= floorS * 1000);
    }),
  );
});

test('a minInterval past the refresh time makes a lifetime too short', () => {
  assert.ok(isLifetimeTooShort({ issuedAt: t0, expiresAt: t0 + 45_000 }, rule));
  assert.ok(!isLifetimeTooShort({ issuedAt: t0, expiresAt: t0 + 46_000 }, rule));
});

const published = { issuedAt: t0, expiresAt: t0 + 10 * minuteMs };

test('a new link must expire later than the published one by 5 % of its lifetime', () => {
  const now = t0 + 5 * minuteMs;
  const ending = (expiresAt: number) => ({ issuedAt: now, expiresAt });
  assert.ok(!isFresher(ending(published.expiresAt), published, now));
  assert.ok(!isFresher(ending(published.expiresAt + 10_000), published, now));
  assert.ok(isFresher(ending(published.expiresAt + 60_000), published, now));
});

test('an issue time in the future, from before the clock was set back, is ignored', () => {
  assert.ok(isFresher({ issuedAt: t0 - 3_600_000, expiresAt: t0 - 3_000_000 }, published, t0 - 3_600_000));
});

test('after a link that is not fresher the retry is at half the remaining lifetime, and finally just after expiry', () => {
  const at = [t0 + 400_000];
  for (let index = 0; index < 8 && (at.at(-1) ?? 0) < published.expiresAt; index += 1) {
    at.push(retryAfterStale(published, at.at(-1) ?? 0, 10_000));
  }
  assert.deepEqual(
    at.map((time) => (published.expiresAt - time) / 1000),
    [200, 100, 50, 25, 13, -1],
  );
});

test('the last attempt before expiry is early enough that minInterval does not delay the next', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 120 }), (leftS, floorS) => {
      const now = published.expiresAt - leftS * 1000;
      const at = retryAfterStale(published, now, floorS * 1000);
      assert.ok(at >= now + floorS * 1000);
      const isLast = at > published.expiresAt;
      assert.ok(isLast || at + floorS * 1000 < published.expiresAt);
      if (isLast) assert.ok(at <= published.expiresAt + 2000 || at <= now + floorS * 1000 + 1000);
    }),
  );
});

const waits: Readonly<Record<string, readonly [Parameters<typeof linkWaitMs>[0], number]>> = {
  'a long lifetime waits exponentially': [
    { count: 3, retryAfterMs: undefined, minIntervalMs: 1000, remainingMs: 86_400_000 },
    60_000,
  ],
  'a quarter of the remaining lifetime is the limit': [
    { count: 9, retryAfterMs: undefined, minIntervalMs: 1000, remainingMs: 60_000 },
    15_000,
  ],
  'minInterval is kept': [
    { count: 1, retryAfterMs: undefined, minIntervalMs: 30_000, remainingMs: 20_000 },
    30_000,
  ],
  'Retry-After is kept while the link is valid': [
    { count: 1, retryAfterMs: 600_000, minIntervalMs: 1000, remainingMs: 1000 },
    600_000,
  ],
  'an expired link waits at most five minutes': [
    { count: 20, retryAfterMs: 3_600_000, minIntervalMs: 1000, remainingMs: 0 },
    300_000,
  ],
  'an expired link waits exponentially at first': [
    { count: 1, retryAfterMs: undefined, minIntervalMs: 1000, remainingMs: -5 },
    15_000,
  ],
};

for (const [name, [facts, expected]] of Object.entries(waits)) {
  test(`link back-off: ${name}`, () => assert.equal(linkWaitMs(facts), expected));
}

test('property: a wait is whole seconds, positive and bounded, for any count and Retry-After', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.option(fc.nat(), { nil: undefined }),
      fc.integer(),
      (count, retryAfterMs, remainingMs) => {
        for (const wait of [
          linkWaitMs({ count, retryAfterMs, minIntervalMs: 1000, remainingMs }),
          waitMs('export', count, retryAfterMs),
          waitMs('poll', count, retryAfterMs),
        ]) {
          assert.ok(Number.isSafeInteger(wait) && wait > 0 && wait % 1000 === 0 && wait <= 86_400_000);
        }
      },
    ),
  );
});

test('property: the more failures, the longer the wait, up to the cap', () => {
  for (const operation of ['export', 'poll', 'link', 'target'] as const) {
    const waitsOfLane = Array.from({ length: 40 }, (_, count) => exponentialMs(operation, count + 1));
    assert.deepEqual(
      waitsOfLane,
      [...waitsOfLane].sort((a, b) => a - b),
    );
  }
});

test('a failure in the future is ignored, because the clock was set back', () => {
  const failure = {
    count: 4,
    lastFailureTime: formatInstant(t0),
    retryTime: formatInstant(t0 + 600_000),
    reason: 'ServerError',
  };
  assert.equal(retryTime(failure, t0 + 1000), t0 + 600_000);
  assert.equal(retryTime(failure, t0 + 600_000), undefined);
  assert.equal(retryTime(failure, t0 - 3_600_000), undefined);
  assert.equal(retryTime({ ...failure, retryTime: 'nonsense' }, t0), undefined);
});

test('a wait set while the link was valid ends five minutes after its expiry', () => {
  assert.equal(boundByExpiry(t0 + 3_600_000, t0, t0 + 60_000), t0 + 360_000);
  assert.equal(boundByExpiry(t0 + 100_000, t0, t0 + 60_000), t0 + 100_000);
});

test('a job is polled every two seconds at first and every minute later', () => {
  assert.deepEqual(
    [0, 10_000, 60_000, 300_000, 3_600_000].map(pollIntervalMs),
    [2000, 2000, 6000, 30_000, 60_000],
  );
});

test('property: an instant written and read again is the whole second it was in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 0) }), (at) => {
      assert.equal(readInstant(formatInstant(at)), wholeSecond(at));
      assert.match(formatInstant(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }),
  );
});
