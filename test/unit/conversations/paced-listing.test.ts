// One page of the listing: which failures are repeated, when, and what the user hears of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacedListing } from '#conversations/paced-listing.ts';
import { ExportApiError, type ExportApiErrorCode } from '#export-api/answers.ts';
import { leapingClock } from '../../support/conversation-model.ts';

const { signal } = new AbortController();
const query = { projectId: 'p' };

/** A listing that fails in this way until it has answered enough, and what was asked of the budget and the user. */
function failing(
  code: ExportApiErrorCode,
  retryAfterMs: number | undefined,
  failures: number,
  cause?: Error,
) {
  const pauses: number[] = [];
  const retries: (readonly [string, number])[] = [];
  let sent = 0;
  const listing = createPacedListing({
    client: {
      listConversations: async () => {
        sent += 1;
        if (sent <= failures) throw new ExportApiError(code, 'failed', { retryAfterMs, cause });
        return { rows: [], following: { kind: 'end' } };
      },
    },
    budget: { take: async () => () => {}, pause: (ms) => void pauses.push(ms), close: () => {} },
    clock: leapingClock(0),
    onWait: () => {},
    onRetry: (why, ms) => void retries.push([why, ms]),
  });
  return { listing, pauses, retries };
}

for (const [asked, expected] of [
  [undefined, [60_000, 120_000, 240_000]],
  [0, [0, 4_000, 8_000]],
  [30_000, [30_000, 30_000, 30_000]],
] as const) {
  test(`a 429 with Retry-After ${asked ?? 'absent'} is repeated after ${expected.join(', ')} ms`, async () => {
    const { listing, pauses } = failing('RateLimited', asked, 3);
    await listing.listConversations(query, signal);
    assert.deepEqual(pauses, expected);
    assert.equal(listing.requests, 4);
  });
}

test('a network that fails for a moment is repeated four times, and the user hears of each', async () => {
  const { listing, retries } = failing('NetworkError', undefined, 5);
  await assert.rejects(listing.listConversations(query, signal), { code: 'NetworkError' });
  assert.deepEqual(retries, [
    ['NetworkError', 2_000],
    ['NetworkError', 4_000],
    ['NetworkError', 8_000],
    ['NetworkError', 16_000],
  ]);
});

test('a certificate that is not accepted at the first request is not repeated', async () => {
  const cause = Object.assign(new Error('said'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  const { listing, retries } = failing('NetworkError', undefined, 1, cause);
  await assert.rejects(listing.listConversations(query, signal), { code: 'NetworkError' });
  assert.deepEqual(retries, []);
});

test('a refused key is not repeated', async () => {
  const { listing, retries } = failing('Unauthorized', undefined, 1);
  await assert.rejects(listing.listConversations(query, signal), { code: 'Unauthorized' });
  assert.deepEqual([retries, listing.requests], [[], 1]);
});
