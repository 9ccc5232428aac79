// Which refusals are retried, and which unanswered requests are sent again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnansweredError } from '#operator/kube/transport/exchange.ts';
import {
  type CallProgress,
  isWorthResending,
  maxAttempts,
  retryDelayMs,
} from '#operator/kube/transport/retry.ts';

const waits: readonly (readonly [
  name: string,
  httpStatus: number,
  retryAfterMs: number | undefined,
  progress: Partial<CallProgress>,
  waitMs: number | undefined,
])[] = [
  ['429 that says when', 429, 2_000, {}, 2_000],
  ['503 that says when', 503, 0, {}, 0],
  ['429 that says nothing', 429, undefined, {}, undefined],
  ['a conflict, whatever it says', 409, 1_000, {}, undefined],
  ['more than ten seconds', 429, 10_001, {}, undefined],
  ['ten seconds', 429, 10_000, {}, 10_000],
  ['the third of four attempts', 429, 1_000, { attempts: maxAttempts - 1 }, 1_000],
  ['the last attempt', 429, 1_000, { attempts: maxAttempts }, undefined],
  ['a wait that ends before the call must', 429, 1_999, { leftMs: 2_000 }, 1_999],
  ['a wait that ends with the call', 429, 2_000, { leftMs: 2_000 }, undefined],
  ['no time left at all', 503, 0, { leftMs: 0 }, undefined],
];
for (const [name, httpStatus, retryAfterMs, progress, waitMs] of waits) {
  test(`${name} is ${waitMs === undefined ? 'the answer' : `retried after ${waitMs} ms`}`, () => {
    const known = { attempts: 1, leftMs: 15_000, ...progress };
    assert.equal(retryDelayMs(httpStatus, retryAfterMs, known), waitMs);
  });
}

test('only a GET is sent again, and only where no answer began', () => {
  assert.equal(isWorthResending('GET', new UnansweredError()), true);
  for (const method of ['POST', 'PUT', 'PATCH']) {
    assert.equal(isWorthResending(method, new UnansweredError()), false);
  }
  assert.equal(isWorthResending('GET', new Error('in the middle of a body')), false);
});
