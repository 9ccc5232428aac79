// A program that makes the files of a search for a stored bundle, and kills itself with -9 at a given file operation. Arguments:
// folder of the bundle, digest, steps to let through, the moment of the kill. Prints how many a run takes.

import { countPromises, stepsTaken } from './kill-steps.ts';

countPromises();
const [folder = '', digest = ''] = process.argv.slice(2);
const { prepareFiles } = await import('#server/made/made-making.ts');
const { systemClock } = await import('#platform/runtime/clock.ts');
const { madeByLists } = await import('../../support/list-pages.ts');

await prepareFiles(
  { folder, digest, features: ['search'], basePath: '', cpuPercent: 100, maxBytes: 2 ** 30 },
  madeByLists,
  systemClock,
);
console.log(stepsTaken());
