// Replaces `src/bundle/published-bundle.ts`: the `bundle.json` of an unchanged output is parsed once, and written
// once from the parsed form.

import {
  formatPublishedBundle as formatAnew,
  parsePublishedBundle as parseAnew,
} from '#bundle/published-bundle.ts';
import { byIdentity, byValue, frozen } from './memory.ts';

export {
  type PublishedBundle,
  parseServedBundle,
  type ServedBundle,
} from '#bundle/published-bundle.ts';

export const parsePublishedBundle = byValue((text: string) => frozen(parseAnew(text)));
export const formatPublishedBundle = byIdentity(formatAnew);
