import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryLimit } from '#platform/runtime/memory-limit.ts';

test('the limit of the container counts, and without one the memory of the machine', () => {
  assert.equal(memoryLimit(512, 1024), 512);
  assert.equal(memoryLimit(0, 1024), 1024);
  assert.equal(memoryLimit(2 ** 64, 1024), 1024);
});
