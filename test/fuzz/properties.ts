// Searches for counterexamples of all properties, on demand: `npm run fuzz:properties -- [--seed N] [--times-runs 20]
// [FILE …]`. A seed that is not given is drawn and printed. What it finds becomes an example in the table of its property.

import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filesLoadedBy } from '../support/import-graph.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
    'times-runs': { type: 'string', default: '20' },
  },
});
const [seed, timesRuns] = [values.seed, values['times-runs']];
if (!/^\d+$/.test(seed) || !/^[1-9]\d*$/.test(timesRuns)) {
  process.stderr.write('--seed takes a whole number, and --times-runs one from 1 on.\n');
  process.exit(2);
}
const properties = join(import.meta.dirname, '../support/properties.ts');
const files =
  positionals.length > 0
    ? positionals
    : globSync('test/{unit,charts,simulation,integration}/**/*.test.ts').filter((file) =>
        filesLoadedBy([file]).has(properties),
      );
process.stdout.write(`${files.length} files, ${timesRuns} times the usual runs, --seed ${seed}\n`);
const { status } = spawnSync(
  process.execPath,
  [
    ...['test/support/run-tests.ts', '--share-processes', '--timeout-seconds', '3600', '--programs', 'dist'],
    ...files,
  ],
  { stdio: 'inherit', env: { ...process.env, PROPERTY_SEED: seed, PROPERTY_TIMES_RUNS: timesRuns } },
);
if (status !== 0) {
  const again = ['--seed', seed, '--times-runs', timesRuns, ...positionals].join(' ');
  process.stdout.write(`To repeat: npm run fuzz:properties -- ${again}\n`);
}
process.exitCode = status ?? 1;
