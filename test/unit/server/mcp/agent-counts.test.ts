import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAgentCounts } from '#server/mcp/agent-counts.ts';

for (const [status, outcome] of [
  [200, 'answered'],
  [202, 'answered'],
  [400, 'refused'],
  [401, 'refused'],
  [403, 'refused'],
  [405, 'refused'],
  [413, 'refused'],
  [429, 'limited'],
  [500, 'unavailable'],
  [503, 'unavailable'],
] as const) {
  test(`a request with the answer ${status} is counted as ${outcome}`, () => {
    const counts = createAgentCounts();
    const none = { answered: 0, refused: 0, limited: 0, unavailable: 0 };
    counts.countRequest(status);
    assert.deepEqual(counts.numbers().requests, { ...none, [outcome]: 1 });
  });
}

test('calls are counted by tool and outcome, and earlier numbers stay as they were', () => {
  const counts = createAgentCounts();
  counts.countCalls([
    { tool: 'search', outcome: 'answered' },
    { tool: 'search', outcome: 'failed' },
  ]);
  const { calls } = counts.numbers();
  counts.countCalls([{ tool: 'search', outcome: 'answered' }]);
  assert.deepEqual(calls.search, { answered: 1, refused: 0, failed: 1 });
  assert.deepEqual(calls.list_pages, { answered: 0, refused: 0, failed: 0 });
  assert.equal(counts.numbers().calls.search.answered, 2);
});
