// From an archive to a bundle that is ready to be served, against gunzip alone and against unpacking to disk; and
// from a disk that has it to the first page. `node test/bench/bundle/intake.ts [--rounds 9] [--seconds 70] [--site FOLDER]…`
// Data: the made site, and each folder given (Debian's python3-doc where it is installed). Ours is the built program.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildServer } from './built-server.ts';
import { type Archives, contestantsOf, type Field, names } from './intake-contestants.ts';
import { packEachWay, writeMadeSite } from './made-site.ts';
import { type Measured, measureByTurns, printMeasured } from './measure.ts';

const { values } = parseArgs({
  options: {
    /** At most; what does not fit into the time is left out, three at least are run. */
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '70' },
    site: { type: 'string', multiple: true, default: ['/usr/share/doc/python3/html'] },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'bench-intake-'));

try {
  const program = buildServer(join(folder, 'program'));
  await bench('made site', writeMadeSite(join(folder, 'made')), program);
  for (const site of values.site) {
    if (existsSync(site)) await bench(site, site, program);
    else console.log(`\n${site} is not here, and left out`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function bench(title: string, site: string, program: string): Promise<void> {
  const archives: Archives = packEachWay(site, join(folder, 'archive'));
  // From memory, as all contestants have it: what a disk adds is the same for each.
  for (const archive of Object.values(archives)) readFileSync(archive);
  const field: Field = { folder, program, archives };
  const measured = await measureByTurns(
    contestantsOf(field),
    Number(values.rounds),
    Number(values.seconds) * 1000,
  );
  printMeasured(`${title}: ${field.facts ?? ''}`, measured);
  printGoals(measured);
}

function printGoals(measured: readonly Measured[]): void {
  const clockOf = (name: string): number => measured.find((one) => one.name === name)?.clockMs ?? Number.NaN;
  const ready = clockOf(names.ready);
  const say = (goal: string, figure: number, isMet: boolean): void =>
    console.log(`  ${isMet ? 'met    ' : 'NOT MET'} ${goal}: ${figure.toFixed(2)}`);
  const [toGzip, toZlib] = [ready / clockOf(names.gzip), ready / clockOf(names.zlib)];
  const faster = clockOf(names.tar) / ready;
  const startMs = clockOf(names.start);
  const coldToGzip = clockOf(names.cold) / clockOf(names.gzip);
  say('archive → ready ≤ 1.3 × gzip -dc', toGzip, toGzip <= 1.3);
  say('archive → ready ≤ 1.3 × Node’s gunzip alone', toZlib, toZlib <= 1.3);
  say('archive → ready ≥ 3.5 × faster than tar xzf', faster, faster >= 3.5);
  say('start from disk to first 200 ≤ 250 ms', startMs, startMs <= 250);
  say('archive → first 200 ≤ 1.2 × gzip -dc', coldToGzip, coldToGzip <= 1.2);
}
