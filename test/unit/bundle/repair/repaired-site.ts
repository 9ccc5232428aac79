// A site in memory and what a repair makes of it, for the tests of each rule.

import { planRepair, type RepairPlan } from '#bundle/repair/repair.ts';
import { readRuleChoice, ruleModes } from '#bundle/repair/rule-modes.ts';
import { type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';

export interface RepairedSite {
  readonly plan: RepairPlan;
  readonly site: Readonly<Record<string, string>>;
  /** Of the rules that changed anything. */
  readonly counts: Readonly<Record<string, number>>;
}

/** @param rules as on the command line */
export async function repaired(before: MemorySite, ...rules: readonly string[]): Promise<RepairedSite> {
  const choices = rules.map((rule) => {
    const choice = readRuleChoice(rule);
    if (typeof choice === 'string') throw new Error(choice);
    return choice;
  });
  const plan = await planRepair(memoryBundle(before), ruleModes(choices), new AbortController().signal);
  const site: Record<string, string> = {};
  for (const { path, size, read } of plan.files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of read()) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    if (bytes.length !== size) throw new Error(`${path} is not as long as it said`);
    site[path] = bytes.toString('latin1');
  }
  const changed = plan.rules
    .filter(({ files }) => files > 0)
    .map(({ rule, files }) => [rule, files] as const);
  return { plan, site, counts: Object.fromEntries(changed) };
}
