// Small makers of files, for tests of how made files are kept and served: one file that lists what is in the bundle, and one
// that a site may have of its own.

import type { MakeFiles } from '#bundle/made-files.ts';
import { twinNames } from '#bundle/markdown-twin.ts';

export const listPages: MakeFiles = async function* ({ index }) {
  yield { path: '_sx/search/index.js', bytes: Buffer.from(index.files.map(({ path }) => path).join()) };
  yield { path: 'llms.txt', bytes: Buffer.from('made') };
};

/** A twin for each page that has none. */
const twinPages: MakeFiles = async function* ({ index }, { onLeftOut, rest }) {
  for (const file of index.files) {
    const [twin = ''] = twinNames(file.path, () => false);
    if (file.path.startsWith('large')) onLeftOut?.(file);
    else if (twin !== '') yield { path: twin, bytes: Buffer.from(`# ${file.path}\n`) };
    await rest?.();
  }
};

export const madeByLists = { search: async () => listPages, markdown: async () => twinPages };
