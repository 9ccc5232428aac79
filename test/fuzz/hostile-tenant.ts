// Runs one operator with two tenants, one of them hostile:
// `node test/fuzz/hostile-tenant.ts --seed 1 --minutes 10 --inputs 100000 [--program dist/operator.mjs]`.
// Exits with 1 when a rule was broken. To make one input again: `--seed S --from INPUT --inputs 1 --without-worst`.

import { parseArgs } from 'node:util';
import { runTenantCampaign } from './tenant/campaign.ts';
import { reportLines } from './tenant/report.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    inputs: { type: 'string', default: '1000000' },
    from: { type: 'string', default: '0' },
    /** Only what the dice give. */
    'without-worst': { type: 'boolean', default: false },
    /** Kinds of input, as a regular expression. */
    'leave-out': { type: 'string' },
    /** Exports with slow archives, which fill the queue for inspections. */
    'slow-archives': { type: 'string' },
    /** A built operator instead of the sources. */
    program: { type: 'string' },
  },
});
const report = await runTenantCampaign({
  seed: Number(values.seed),
  from: Number(values.from),
  inputs: Number(values.inputs),
  withoutWorst: values['without-worst'],
  maxMs: Number(values.minutes) * 60_000,
  settleMs: 30_000,
  kits: 100,
  minRefreshes: 2,
  ...(values['leave-out'] !== undefined && { leaveOut: new RegExp(values['leave-out']) }),
  ...(values['slow-archives'] !== undefined && { slowArchives: Number(values['slow-archives']) }),
  ...(values.program !== undefined && { program: values.program }),
  onProgress: (line) => console.log(line),
});
for (const line of reportLines(report)) console.log(line);
console.log(
  report.broken.length === 0 ? 'nothing wrong' : `WRONG, seed ${values.seed}:\n${report.broken.join('\n')}`,
);
process.exit(report.broken.length === 0 ? 0 : 1);
