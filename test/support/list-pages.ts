// A small maker of files, for tests of how made files are kept and served: one file that lists what is in the bundle, and one
// that a site may have of its own.

import type { MakeFiles } from '#bundle/made-files.ts';

export const listPages: MakeFiles = async function* ({ index }) {
  yield { path: '_sx/search/index.js', bytes: Buffer.from(index.files.map(({ path }) => path).join()) };
  yield { path: 'llms.txt', bytes: Buffer.from('made') };
};
