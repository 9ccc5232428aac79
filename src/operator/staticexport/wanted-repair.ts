// `spec.transform.repair` as one text: each rule as `--rule` of `bundle repair` writes it, in the order in which rules run. Pure.
// Invariant: rules that do the same have the same text, because another text is a change of inputs. Also the revision of such a text.

import { type RepairRuleName, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import type { SpecTransform } from './transform-schema.ts';

/** @returns `undefined` where nothing is repaired */
export function wantRepair(transform: SpecTransform | undefined): string | undefined {
  const rules = transform?.repair?.rules ?? [];
  const written = repairRuleNames.flatMap((name) => {
    const found = rules.find((rule) => rule.name === name);
    return found === undefined ? [] : [choiceText(name, found)];
  });
  return written.length === 0 ? undefined : written.join(' ');
}

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
 * The revision of each rule that a text names, such as `canonical:1 sitemap:2`.
 *
 * @param repair as `wantRepair` returns it
 */
export function revisionOfRules(repair: string, revisions: Readonly<Record<string, number>>): string {
  return revisionText(repair, (name) => (Object.hasOwn(revisions, name) ? revisions[name] : 0));
}

/** The first operators recorded no revision, and had the first one of each rule. */
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
  const names = repair.split(' ').map((choice) => choice.replace(/=.*$/, ''));
  return names.map((name) => `${name}:${revisionOf(name)}`).join(' ');
}
