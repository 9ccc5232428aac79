// The durations of the steps and the answers to visitors meanwhile, as a table. Invariants: a step with a failed
// request fails, and no step follows a failed one.

import assert from 'node:assert/strict';
import type { Tally, Visits } from '../support/node/visits.ts';

export interface Timeline {
  /**
   * Does a step, and fails it if a visitor got no answer or unexpected content: `contents` is how many different
   * contents each address may have shown since the visits started.
   */
  step(name: string, contents: number, work: () => Promise<void>): Promise<void>;
  /** From now on these are checked after each step, until the end of the test. */
  watch(visits: readonly Visits[]): void;
  /** One row a step. */
  table(): string;
}

interface Row {
  readonly step: string;
  readonly seconds: number;
  readonly requests: number;
  readonly failed: number;
  readonly slowestMs: number;
}

export function createTimeline(): Timeline {
  const rows: Row[] = [];
  let watched: readonly Visits[] = [];
  let failedStep: string | undefined;
  const sum = (pick: (tally: Tally) => number): number =>
    watched.reduce((total, visits) => total + pick(visits.tally()), 0);

  const run = async (name: string, contents: number, work: () => Promise<void>): Promise<void> => {
    const start = performance.now();
    const before = { requests: sum(({ requests }) => requests), failed: sum(({ failed }) => failed) };
    try {
      await work();
      await Promise.all(watched.map((visits) => visits.more(10)));
    } finally {
      rows.push({
        step: name,
        seconds: (performance.now() - start) / 1000,
        requests: sum(({ requests }) => requests) - before.requests,
        failed: sum(({ failed }) => failed) - before.failed,
        slowestMs: Math.max(0, ...watched.map((visits) => visits.takeSlowestMs())),
      });
    }
    for (const visits of watched) assertUnnoticed(visits.tally(), contents);
  };
  return {
    step: async (name, contents, work) => {
      assert.equal(failedStep, undefined, `not tried: "${failedStep}" failed before`);
      failedStep = name;
      await run(name, contents, work);
      failedStep = undefined;
    },
    watch: (visits) => {
      watched = visits;
    },
    table: () => tableOf(rows),
  };
}

function assertUnnoticed(tally: Tally, contents: number): void {
  assert.equal(tally.failed, 0, tally.examples.join('\n'));
  const shown = new Map<string, number>();
  for (const content of Object.keys(tally.contents)) {
    const [path = ''] = content.split(' ');
    shown.set(path, (shown.get(path) ?? 0) + 1);
  }
  for (const [path, count] of shown) assert.ok(count <= contents, `${path} had ${count} contents`);
}

function tableOf(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ step }) => step.length), 4);
  const line = (step: string, ...cells: readonly string[]): string =>
    `${step.padEnd(width)}  ${cells.map((cell) => cell.padStart(8)).join('  ')}`;
  return [
    line('step', 'seconds', 'requests', 'failed', 'slowest'),
    ...rows.map(({ step, seconds, requests, failed, slowestMs }) =>
      line(step, seconds.toFixed(1), String(requests), String(failed), `${slowestMs} ms`),
    ),
  ].join('\n');
}
