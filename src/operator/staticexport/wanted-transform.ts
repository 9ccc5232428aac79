// `spec.transform` as one text: each rule as `--rule` of `bundle repair` writes it, in the order in which rules run, then `search`. Pure.
// Versions keep it, and the revision of each of its steps, as `repair` and `repairRevision`. Invariant: steps that do the same have
// the same text, because another text is a change of inputs.

import { type RepairRuleName, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { nothingToFind, nothingToFindRemedy } from '#bundle/search-words.ts';
import { searchStep } from '#bundle/transform.ts';
import type { SpecTransform } from './transform-schema.ts';

/** @returns `undefined` where archives are published as they are */
export function wantTransform(transform: SpecTransform | undefined): string | undefined {
  const rules = transform?.repair?.rules ?? [];
  const written = repairRuleNames.flatMap((name) => {
    const found = rules.find((rule) => rule.name === name);
    return found === undefined ? [] : [choiceText(name, found)];
  });
  const steps = transform?.search === 'Enabled' ? [...written, searchStep] : written;
  return steps.length === 0 ? undefined : steps.join(' ');
}

/** @param step its name, as revisions have it */
export const isSearchStep = (step: string): boolean => step === searchStep;

/** Of a search that found no page; without the end of its last sentence. */
export const emptySearchWords = `${nothingToFind}. ${nothingToFindRemedy}`;

function choiceText(
  name: RepairRuleName,
  { mode, host }: NonNullable<SpecTransform['repair']>['rules'][number],
): string {
  switch (mode) {
    case undefined:
      return name;
    case 'Set':
      return `${name}=set=${host ?? ''}`;
    case 'Strip':
      return `${name}=strip`;
    case 'All':
      return `${name}=all`;
    default:
      return mode satisfies never;
  }
}

/**
 * The revision of each step that a text names, such as `canonical:1 search:2`.
 *
 * @param repair as `wantTransform` returns it
 */
export function revisionOfSteps(repair: string, revisions: Readonly<Record<string, number>>): string {
  return revisionText(repair, (name) => (Object.hasOwn(revisions, name) ? revisions[name] : 0));
}

/** The first operators recorded no revision, and had the first one of each step. */
export function recordedRevision({
  repair,
  repairRevision,
}: {
  readonly repair?: string | undefined;
  readonly repairRevision?: string | undefined;
}): string | undefined {
  return repairRevision ?? (repair && revisionText(repair, () => 1));
}

function revisionText(repair: string, revisionOf: (name: string) => number | undefined): string {
  const names = repair.split(' ').map((step) => step.replace(/=.*$/, ''));
  return names.map((name) => `${name}:${revisionOf(name)}`).join(' ');
}
