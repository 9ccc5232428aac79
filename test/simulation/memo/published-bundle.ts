// Stands in for `src/bundle/published-bundle.ts`: the document of an output that did not change is read once, and
// written once from what was read.

import {
  formatPublishedBundle as formatAnew,
  parsePublishedBundle as parseAnew,
} from '../../../src/bundle/published-bundle.ts';
import { byIdentity, byValue, frozen } from './memory.ts';

export {
  type PublishedBundle,
  PublishedBundleError,
  parseServedBundle,
  type ServedBundle,
} from '../../../src/bundle/published-bundle.ts';

export const parsePublishedBundle = byValue((text: string) => frozen(parseAnew(text)));
export const formatPublishedBundle = byIdentity(formatAnew);
