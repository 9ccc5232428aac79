// Reports failures in full and, of what passed, one line a file with its count and its cost, the costliest last; then node's own closing lines.
// Thousands of green lines hide the red one.

import { relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';
import type { FileCost } from './test-costs.ts';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(6)} s`;

export default (source: AsyncIterable<TestEvent>): AsyncIterable<string> => reportWithCosts(() => [])(source);

/** @param readCosts what the files have cost, once all have ended; the costliest is the last line of the list */
export function reportWithCosts(readCosts: () => readonly FileCost[]) {
  return (source: AsyncIterable<TestEvent>): AsyncIterable<string> => report(source, readCosts);
}

async function* report(
  source: AsyncIterable<TestEvent>,
  readCosts: () => readonly FileCost[],
): AsyncIterable<string> {
  const passed = new Map<string, number>();
  async function* interesting(): AsyncIterable<TestEvent> {
    for await (const event of source) {
      if (event.type === 'test:pass') {
        const file = event.data.file ?? '';
        if (event.data.details.type !== 'suite') passed.set(file, (passed.get(file) ?? 0) + 1);
        continue;
      }
      if (event.type !== 'test:start' && event.type !== 'test:dequeue' && event.type !== 'test:enqueue')
        yield event;
    }
  }
  yield* Readable.from(interesting()).compose(new spec());
  const costs = new Map(readCosts().map((cost) => [relative(process.cwd(), resolve(cost.file)), cost]));
  const lines = [...passed]
    .map(([path, count]) => {
      const file = relative(process.cwd(), path);
      return { file, count, cpuMs: 0, wallMs: 0, ...costs.get(file) };
    })
    .sort((one, other) => one.cpuMs - other.cpuMs || (one.file < other.file ? -1 : 1))
    .map(({ file, count, cpuMs, wallMs }) => {
      const cost = costs.size === 0 ? '' : `${seconds(cpuMs)} CPU ${seconds(wallMs)}  `;
      return `${String(count).padStart(5)}  ${cost}${file}`;
    });
  yield `${lines.join('\n')}\n`;
  if (costs.size > 0) {
    const cpuMs = [...costs.values()].reduce((sum, cost) => sum + cost.cpuMs, 0);
    yield `CPU time of all files: ${(cpuMs / 1_000).toFixed(0)} s\n`;
  }
}
