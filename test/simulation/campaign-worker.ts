// One process of the campaign: plays the scenario runs that its parent orders, one at a time, and reports each. Ends
// with its parent. A breach is a report and does not end the process.

import process from 'node:process';
import type { LifeOrder, LifeReport } from './campaign.ts';
import { playScenarioRun } from './scenario-run.ts';

// Thousands of crashes and refusals are thrown, and no test reads their stacks.
Error.stackTraceLimit = 0;

process.on('message', (order: LifeOrder) => {
  void report(order).then((done) => process.send?.(done));
});

async function report({ seed, days, form }: LifeOrder): Promise<LifeReport> {
  try {
    return { seed, facts: await playScenarioRun(seed, days, { form }), breach: undefined };
  } catch (error) {
    return { seed, facts: undefined, breach: error instanceof Error ? error.message : String(error) };
  }
}
