import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const small = new URL('../../../src/runtime/small-young-generation.ts', import.meta.url).href;

/** Keeps 64 MB of small objects for a moment, as a server under load does, and tells the largest young generation. */
const load = `
  const { getHeapSpaceStatistics } = await import('node:v8');
  const kept = Array.from({ length: 64 });
  let largest = 0;
  for (let round = 0; round < 256; round += 1) {
    kept[round % kept.length] = Array.from({ length: 10_000 }, (_, at) => ({ at, round }));
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    largest = Math.max(largest, young.space_size);
  }
  console.log(largest);
`;

function largestYoungGeneration(before: string): number {
  const args = ['--input-type=module', '--eval', before + load];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('the young generation stays small under a load that makes it grow otherwise', () => {
  const left = largestYoungGeneration('');
  const kept = largestYoungGeneration(`await import(${JSON.stringify(small)});`);
  // What it has grown to before the program says so stays: some megabytes, by how busy the machine is.
  assert.ok(left >= 3 * kept, `${left} left alone, ${kept} kept small`);
});
