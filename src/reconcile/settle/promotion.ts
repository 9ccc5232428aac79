// The promotion gates between a complete export and the published site. A gate holds a candidate; it never
// withdraws anything. Pure. Inputs: the inspected archive, what is published, the spec, and whether a person
// promoted the candidate.

import type { Wanted } from '../../staticexport/wanted.ts';

export interface Content {
  readonly digest?: string | undefined;
  readonly pages?: number | undefined;
}

export type Judgement =
  | { readonly kind: 'promote' }
  /** The content is published already. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'hold'; readonly reason: 'TooFewPages' | 'PageCountDropped' | 'AwaitingPromotion' };

/** @param isReleased the promote annotation names this version */
export function judge(
  found: Content,
  published: Content | undefined,
  rules: Wanted['promotion'],
  isReleased: boolean,
): Judgement {
  if (found.digest !== undefined && found.digest === published?.digest) return { kind: 'unchanged' };
  if (isReleased) return { kind: 'promote' };
  if (found.pages !== undefined && found.pages < rules.minPages)
    return { kind: 'hold', reason: 'TooFewPages' };
  if (hasShrunk(found.pages, published?.pages, rules.maxShrinkPercent)) {
    return { kind: 'hold', reason: 'PageCountDropped' };
  }
  return rules.isManual ? { kind: 'hold', reason: 'AwaitingPromotion' } : { kind: 'promote' };
}

function hasShrunk(pages: number | undefined, before: number | undefined, maxShrinkPercent: number): boolean {
  if (pages === undefined || before === undefined || before === 0) return false;
  return (before - pages) * 100 > before * maxShrinkPercent;
}
