// The promotion gates between a complete export and the published site. A gate holds a candidate; it never
// withdraws anything. Pure. Inputs: the inspected archive, what is published, and the rules of the spec. A new gate is
// one function in the list.

import type { HoldReason } from '#operator/staticexport/reasons.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';

export interface JudgedContent {
  readonly digest?: string | undefined;
  readonly pages?: number | undefined;
  /** What visitors would miss; `undefined`: not inspected. */
  readonly notes?: readonly { readonly code: string }[] | undefined;
}

/** Candidates that a person rejected. */
type Rejections = readonly { readonly version: string; readonly digest?: string | undefined }[];

export type Judgement =
  | { readonly kind: 'promote' }
  /** The content is published already. */
  | { readonly kind: 'unchanged' }
  /** The content is that of a rejected candidate. */
  | { readonly kind: 'reject'; readonly version: string }
  | { readonly kind: 'hold'; readonly reason: HoldReason };

/** @returns why the candidate is held, or `undefined` to let it pass */
type Gate = (
  found: JudgedContent,
  published: JudgedContent | undefined,
  rules: Wanted['promotion'],
) => HoldReason | undefined;

/** In this order; the first gate that holds the candidate gives the reason. */
const gates: readonly Gate[] = [
  ({ pages }, _published, { minPages }) =>
    pages !== undefined && pages < minPages ? 'TooFewPages' : undefined,
  ({ notes = [] }, _published, { needsHomePage }) =>
    needsHomePage && notes.some(({ code }) => code === 'HomePageMissing') ? 'HomePageMissing' : undefined,
  ({ pages }, published, { maxShrinkPercent }) => {
    const before = published?.pages;
    if (pages === undefined || before === undefined || before === 0) return undefined;
    return (before - pages) * 100 > before * maxShrinkPercent ? 'PageCountDropped' : undefined;
  },
  (_found, _published, { isManual }) => (isManual ? 'AwaitingPromotion' : undefined),
];

/** @param isReleased the promote annotation names this version, which skips all gates */
export function judge(
  found: JudgedContent,
  published: JudgedContent | undefined,
  rules: Wanted['promotion'],
  isReleased: boolean,
  rejected: Rejections = [],
): Judgement {
  const { digest } = found;
  if (digest !== undefined && digest === published?.digest) return { kind: 'unchanged' };
  const rejection = rejected.find((one) => digest !== undefined && one.digest === digest);
  if (rejection !== undefined) return { kind: 'reject', version: rejection.version };
  if (isReleased) return { kind: 'promote' };
  const reason = gates.map((gate) => gate(found, published, rules)).find((held) => held !== undefined);
  return reason === undefined ? { kind: 'promote' } : { kind: 'hold', reason };
}
