// All that a site needs for a search: the index of its pages, and the programs for its readers. Refuses a site that has the folder
// already only in so far as each path comes once: a bundle keeps its own files. Takes processor time, as `MakeFiles` says.

import type { MakeFiles } from '#bundle/made-files.ts';
import { makeSearchIndex } from '../search/search-files.ts';
import { ownSearchOf } from './own-search-files.ts';
import { searchProgramFiles } from './program-files.ts';

export const makeSearchFiles: MakeFiles = async function* (bundle, context) {
  yield* makeSearchIndex(bundle, context);
  yield* searchProgramFiles(ownSearchOf(bundle.index.files));
};
