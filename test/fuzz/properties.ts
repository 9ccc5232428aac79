// Searches for counterexamples of all properties, on demand: `npm run fuzz:properties -- [--seed N] [--times-runs 20]
// [FILE …]`. A seed that is not given is drawn and printed. What it finds becomes an example in the table of its property.

import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
    'times-runs': { type: 'string', default: '20' },
  },
});
const files =
  positionals.length > 0
    ? positionals
    : globSync('test/{unit,charts,simulation}/**/*.test.ts').filter((file) =>
        /support\/properties\.ts'/.test(readFileSync(file, 'utf8')),
      );
const [seed, timesRuns] = [values.seed, values['times-runs']];
process.stdout.write(`${files.length} files, ${timesRuns} times the usual runs, --seed ${seed}\n`);
const { status } = spawnSync(
  process.execPath,
  ['test/support/run-tests.ts', '--share-processes', '--timeout-seconds', '3600', ...files],
  { stdio: 'inherit', env: { ...process.env, PROPERTY_SEED: seed, PROPERTY_TIMES_RUNS: timesRuns } },
);
if (status !== 0) process.stdout.write(`To repeat: npm run fuzz:properties -- --seed ${seed}\n`);
process.exitCode = status ?? 1;
