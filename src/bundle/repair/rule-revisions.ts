// The revision of each rule of a repair. A rule whose output for some archive changes gets the next number, and a test compares its
// output for one site with what the number stands for. Refuses nothing. Invariant: two programs with the same revision of a rule
// make the same content of an archive.

import type { RepairRuleName } from './rule-modes.ts';

export type RuleRevisions = Readonly<Record<RepairRuleName, number>>;

/** Raise the number of each rule whose digest in `rule-revisions.test.ts` changes. */
export const ruleRevisions: RuleRevisions = {
  'wrapping-folder': 1,
  launchers: 1,
  'folder-index': 1,
  canonical: 1,
  'search-box': 1,
  sitemap: 1,
};
