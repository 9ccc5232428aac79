// Replaces `src/operator/reconcile/spread.ts`: one hash for the same parts.

import {
  type ExportInputs,
  hashInputs as hashAnew,
  spreadOf as spreadAnew,
} from '#operator/reconcile/spread.ts';
import { byValue } from './memory.ts';

export { inputsInHand } from '#operator/reconcile/spread.ts';

const spread = byValue((text: string) => spreadAnew(text));
const hashes = byValue((parts: string) => hashAnew(JSON.parse(parts)));

/** The real function also joins the parts with newlines. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return spread(parts.join('\n'));
}

export function hashInputs({ domain, baseUrl, project }: ExportInputs): string {
  return hashes(JSON.stringify({ domain, baseUrl, project }));
}
