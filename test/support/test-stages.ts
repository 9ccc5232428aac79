// What `npm test` runs: check, then the tests, stage by stage. It ends with the first stage that fails. `--changed` and a
// revision go on to each stage of tests (run-tests.ts), which then runs only what a change since that revision reaches.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const stages = ['test:unit', 'test:simulation', 'test:integration'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean', default: false } },
});
const [revision = 'main', ...others] = positionals;
if (others.length > 0 || (positionals.length > 0 && !values.changed)) {
  process.stderr.write('usage: npm test [-- --changed [REVISION]]\n');
  process.exit(2);
}

function run(script: string, ...args: readonly string[]): void {
  const { status } = spawnSync('npm', ['run', script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('check');
for (const stage of stages) run(stage, ...(values.changed ? ['--', '--changed', revision] : []));
