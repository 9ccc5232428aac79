// The pages that agents read last: what is kept, and what goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecentPages } from '#site/mcp/recent-pages.ts';

test('pages are kept up to the limit, and the one that was asked for longest ago goes first', () => {
  const recent = createRecentPages<string>(10);
  recent.keep('a', 'A', 4);
  recent.keep('b', 'B', 4);
  assert.equal(recent.find('a'), 'A');
  recent.keep('c', 'C', 4);
  assert.deepEqual(['a', 'b', 'c'].map(recent.find), ['A', undefined, 'C']);
});

test('a page that is larger than the limit is not kept, and the others stay', () => {
  const recent = createRecentPages<string>(10);
  recent.keep('a', 'A', 10);
  recent.keep('b', 'B', 11);
  assert.deepEqual(['a', 'b'].map(recent.find), ['A', undefined]);
});
