// Replaces `src/operator/targets/values.ts`: one edit for the same text and wanted values.

import { planValuesEdit as planAnew, type ValuesPlan, type WantedValues } from '#operator/targets/values.ts';
import { Link } from '#platform/wire/link.ts';
import { byValue, frozen } from './memory.ts';

export type { ValuesPlan, WantedValues } from '#operator/targets/values.ts';

const plans = byValue((text: string) =>
  byValue((wish: string): ValuesPlan => {
    const { link, ...wanted } = JSON.parse(wish);
    const bundleUrl = Link.parse(link);
    return frozen(planAnew(text, { ...wanted, ...(bundleUrl && { bundleUrl }) }));
  }),
);

export function planValuesEdit(text: string, { bundleUrl, ...wanted }: WantedValues): ValuesPlan {
  return plans(text)(JSON.stringify({ ...wanted, link: bundleUrl?.reveal() }));
}
