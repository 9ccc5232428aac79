// A program that makes the precompressed variants of a stored bundle, and kills itself with -9 at a given file operation.
// Arguments: folder of the bundle, digest, steps to let through, the moment of the kill. Prints how many a run takes.

import { countPromises, stepsTaken } from './kill-steps.ts';

countPromises();
const [folder = '', digest = ''] = process.argv.slice(2);
const { prepareVariants } = await import('#server/variants/variant-making.ts');
const { systemClock } = await import('#platform/runtime/clock.ts');

await prepareVariants(
  { folder, digest, encodings: ['br', 'gzip'], cpuPercent: 100, maxBytes: 2 ** 30 },
  systemClock,
);
console.log(stepsTaken());
