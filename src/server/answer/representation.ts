// Which form of a page a request gets, the page or its Markdown (RFC 9110 §12.5.1), and what the answer says of the other one. Pure.
// Invariant: `Accept` counts only where there is a choice, so that no other answer varies by it.

import type { MarkdownTwins } from '../content/markdown-twins.ts';
import type { FileRoute } from '../content/route-table.ts';
import { prefersMarkdown } from '../http/media-type.ts';

export interface Representation {
  readonly route: FileRoute;
  /** Names and values in turns. */
  readonly fields: readonly string[];
  /** Whether another `Accept` may get something else. */
  readonly isChosen: boolean;
}

const none: readonly string[] = [];
/** A search engine finds the page. */
const notIndexed: readonly string[] = ['X-Robots-Tag', 'noindex'];

/**
 * @param accept as received
 * @param twins `undefined`: the site has no Markdown of its pages
 */
export function chooseRepresentation(
  route: FileRoute,
  accept: string | undefined,
  twins: MarkdownTwins | undefined,
): Representation {
  if (twins === undefined) return { route, fields: none, isChosen: false };
  const twin = twins.twinOf(route);
  if (twin === undefined) return { route, fields: twins.isTwin(route) ? notIndexed : none, isChosen: false };
  if (prefersMarkdown(accept)) return { route: twin.route, fields: notIndexed, isChosen: true };
  const link = `<${twin.address}>; rel="alternate"; type="text/markdown"`;
  return { route, fields: ['Link', link], isChosen: true };
}
