// What a command of the command line gets from outside, as plain values: no terminal, no output, workers of the sources.

import type { CliContext } from '#cli/context.ts';
import { silentProgress } from '#cli/output/progress.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';

const worker = (name: string): URL => new URL(`../../src/bin/${name}.ts`, import.meta.url);

export const cliContext: CliContext = {
  clock: systemClock,
  random: systemRandom,
  signal: new AbortController().signal,
  called: 'static-export',
  output: 'text',
  env: {},
  progress: silentProgress,
  isWatched: false,
  confirm: async () => undefined,
  print: () => {},
  writeOut: async () => {},
  readStdin: async () => '',
  bundleWorker: worker('bundle-worker'),
  siteWorker: worker('site-worker'),
  listingWorker: worker('listing-worker'),
  mirrorWorker: worker('mirror-worker'),
  gitWorker: worker('git-worker'),
  valuesWorker: worker('values-worker'),
  demoWorker: worker('demo-worker'),
  serve: async () => {},
};
