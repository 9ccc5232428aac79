// The steps that make the published content of an archive, as one text: rules of a repair as `--rule` names them, then `search`.
// Owns how that text is read, and the revision of each step. Refuses a step that this program does not have. Invariant: two programs
// with the same revision of a step make the same content of an archive.

import { type RuleModes, readRuleSet } from './repair/rule-modes.ts';
import { type RuleRevisions, ruleRevisions } from './repair/rule-revisions.ts';

/** Adds the files of a search, and to each page the line that loads it. The last step, so that it reads repaired pages. */
export const searchStep = 'search';

export interface Transform {
  /** `undefined`: nothing is repaired. */
  readonly modes: RuleModes | undefined;
  readonly addsSearch: boolean;
}

/**
 * By the name of the step. Raise that of the search when its digest in `search-revision.test.ts` changes. A change of the index, of the
 * programs for readers or of the line in pages changes it, and so may an update of Node: words are found with its `Intl.Segmenter`.
 */
export const stepRevisions: RuleRevisions & Readonly<Record<typeof searchStep, number>> = {
  ...ruleRevisions,
  search: 1,
};

/** Whether the text names a search, also next to a step that this program does not have. */
export const makesSearch = (text: string): boolean => text.split(' ').includes(searchStep);

/** @returns what the text asks for, or the first step that is not one of this program */
export function readTransform(text: string): Transform | string {
  const steps = text.split(' ');
  const rules = steps.filter((step) => step !== searchStep);
  const addsSearch = rules.length < steps.length;
  if (rules.length === 0) return { modes: undefined, addsSearch };
  const modes = readRuleSet(rules.join(' '));
  return typeof modes === 'string' ? modes : { modes, addsSearch };
}
