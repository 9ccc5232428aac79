// The shared rate limit: how long an export API's Retry-After holds for all resources, on a clock that may be set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeRateLimit } from '#operator/loop/calls/rate-limit.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { rateLimitTime } from '#operator/reconcile/access.ts';

const now = Date.UTC(2026, 0, 5, 12);
const dayMs = 86_400_000;

/** How long all resources wait after these answers, in the order received. */
function waitMs(
  answers: readonly { readonly at: number; readonly retryAfterMs: number }[],
  at = now,
): number {
  const memory = createMemory(new AbortController().signal);
  for (const one of answers) {
    changeRateLimit(memory, 'g', { kind: 'close', until: one.at + one.retryAfterMs }, one.at);
  }
  const rateLimit = changeRateLimit(memory, 'g', { kind: 'keep' }, at);
  return Math.max(0, (rateLimitTime({ rateLimit, now: at }) ?? 0) - at);
}

test('the longer of two waits holds, in any order of answers', () => {
  const long = { at: now, retryAfterMs: 120_000 };
  const short = { at: now, retryAfterMs: 5000 };
  assert.equal(waitMs([long, short]), 120_000);
  assert.equal(waitMs([short, long]), 120_000);
});

test('a wait received while the clock was ahead is not extended by the next answer', () => {
  const ahead = { at: now + dayMs, retryAfterMs: 60_000 };
  assert.equal(waitMs([ahead]), 0);
  assert.equal(waitMs([ahead, { at: now, retryAfterMs: 30_000 }]), 30_000);
});

test('an ended wait does not return', () => {
  const over = { at: now - 60_000, retryAfterMs: 30_000 };
  assert.equal(waitMs([over, { at: now, retryAfterMs: 1000 }]), 1000);
});
