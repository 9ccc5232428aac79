// One process of the campaign: plays the lives it is given by its parent, one at a time, and reports each. Ends with
// its parent. A breach is a report, not an end.

import process from 'node:process';
import type { LifeOrder, LifeReport } from './campaign.ts';
import { playLife } from './life.ts';

// Crashes and refusals are thrown by the thousand, and nobody reads where.
Error.stackTraceLimit = 0;

process.on('message', (order: LifeOrder) => {
  void report(order).then((done) => process.send?.(done));
});

async function report({ seed, days }: LifeOrder): Promise<LifeReport> {
  try {
    return { seed, facts: await playLife(seed, days), breach: undefined };
  } catch (error) {
    return { seed, facts: undefined, breach: error instanceof Error ? error.message : String(error) };
  }
}
