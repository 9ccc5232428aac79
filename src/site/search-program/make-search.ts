// All that a site needs for a search: the index of its pages, and the programs for its readers. Refuses a site that has the folder
// already only in so far as each path comes once: a bundle keeps its own files. Takes processor time, as `MakeFiles` says. Invariant: a site
// without a page that a search may find gets no file, because its readers would only find an empty panel.

import type { MakeFiles } from '#bundle/made-files.ts';
import { makeSearchIndex } from '../search/search-files.ts';
import { manifestPath } from '../search/search-format.ts';
import { ownSearchOf } from './own-search-files.ts';
import { searchProgramFiles } from './program-files.ts';

export const makeSearchFiles: MakeFiles = async function* (bundle, context) {
  let isEmpty = true;
  for await (const file of makeSearchIndex(bundle, context)) {
    // The manifest comes last, and alone where there is no page to find.
    if (isEmpty && file.path === manifestPath) return;
    isEmpty = false;
    yield file;
  }
  yield* searchProgramFiles(ownSearchOf(bundle.index.files));
};
