import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { growingPercent } from '#platform/runtime/v8/heap-growth.ts';

const smallHeap = new URL('../../../../../src/platform/runtime/v8/small-heap.ts', import.meta.url).href;
const keepSmall = `await import(${JSON.stringify(smallHeap)});`;

/** @returns the largest size of a part of the heap while `work` runs; it calls `look` from time to time */
const watching = (space: 'new_space' | 'old_space', work: string): string => `
  const { getHeapSpaceStatistics } = await import('node:v8');
  let largest = 0;
  const look = () => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === ${JSON.stringify(space)});
    largest = Math.max(largest, ${space === 'new_space' ? 'space.space_size' : 'space.space_used_size'});
  };
  ${work}
  console.log(largest);
`;

function largestOf(before: string, work: string): number {
  const args = ['--input-type=module', '--eval', before + work];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('the young generation stays small under load', () => {
  // Keeps 64 MB of small objects for a moment, as a server under load does.
  const load = watching(
    'new_space',
    `const kept = Array.from({ length: 64 });
    for (let round = 0; round < 256; round += 1) {
      kept[round % kept.length] = Array.from({ length: 10_000 }, (_, at) => ({ at, round }));
      look();
    }`,
  );
  const left = largestOf('', load);
  // What it has grown to before the program says so stays: on a busy machine up to 16 MB, so the best of three counts.
  const kept = Math.min(...Array.from({ length: 3 }, () => largestOf(keepSmall, load)));
  assert.ok(left >= 3 * kept, `${left} left alone, ${kept} kept small`);
});

test("garbage of the old generation is collected earlier than by V8's default", () => {
  // 16 rounds are always in use in addition, long enough to become old, like the data of a reconcile.
  const load = watching(
    'old_space',
    `const living = Array.from({ length: 60 }, () => Array.from({ length: 10_000 }, (_, at) => ({ at })));
    const passing = Array.from({ length: 16 });
    for (let round = 0; round < 600; round += 1) {
      passing[round % passing.length] = Array.from({ length: 10_000 }, (_, at) => ({ at, round }));
      if (round > 100) look();
    }
    if (living.length === 0) look();`,
  );
  const young = "(await import('node:v8')).setFlagsFromString('--semi-space-growth-factor=1');";
  const [left, kept] = [largestOf(young, load), largestOf(keepSmall, load)];
  assert.ok(left >= 2 * kept, `${left} left alone, ${kept} kept small`);
});

test('the larger a heap, the less it may grow before it is collected', () => {
  const megabytes = [4, 12, 24, 48, 200];
  const grown = megabytes.map((used) => growingPercent(used * 1024 * 1024));
  assert.deepEqual(grown, [200, 200, 100, 50, 25]);
});
