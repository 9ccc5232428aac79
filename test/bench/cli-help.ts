// How long `static-export --help` takes as it is shipped, compared with Node alone, which runs an empty file. All run in
// turn, so that a busy moment slows all. Needs bash, which times them. To be run alone on a quiet machine:
//   node test/bench/cli-help.ts [--rounds 41] [--program FILE]     without --program it builds one
// Prints the median of each and its difference to Node alone, by the clock and in CPU time. Judges nothing; the goal is
// 60 ms.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildServer } from './bundle/built-server.ts';
import { quantile } from './operator/quantile.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '41' }, program: { type: 'string' } },
});

/** @returns ms by the clock, and of CPU time */
function time(args: readonly string[]): readonly [clockMs: number, cpuMs: number] {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" >/dev/null';
  const { status, stderr } = spawnSync('bash', ['-c', script, '-', process.execPath, ...args], {
    encoding: 'utf8',
  });
  const [clock = Number.NaN, user = 0, system = 0] = stderr.trim().split(/\s+/).map(Number);
  if (status !== 0 || Number.isNaN(clock)) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return [clock * 1000, (user + system) * 1000];
}

const folder = mkdtempSync(join(tmpdir(), 'cli-help-'));
try {
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, '');
  if (values.program === undefined) buildServer(folder);
  const program = resolve(values.program ?? join(folder, 'static-export.mjs'));
  const contestants = [
    { name: 'node alone', args: [empty] },
    { name: '--help', args: [program, '--help'] },
    { name: 'get --help', args: [program, 'get', '--help'] },
  ].map((one) => ({ ...one, clock: [] as number[], cpu: [] as number[] }));
  // The first round fills the caches of the disk and of compiled code.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const { args, clock, cpu } of contestants) {
      const [clockMs, cpuMs] = time(args);
      if (round === 0) continue;
      clock.push(clockMs);
      cpu.push(cpuMs);
    }
  }
  const medians = contestants.map(({ name, clock, cpu }) => ({
    name,
    clockMs: quantile(clock, 0.5),
    cpuMs: quantile(cpu, 0.5),
  }));
  const [bare = { clockMs: 0, cpuMs: 0 }] = medians;
  process.stdout.write('program     clock ms  more   CPU ms  more\n');
  for (const { name, clockMs, cpuMs } of medians) {
    const cells = [clockMs, clockMs - bare.clockMs, cpuMs, cpuMs - bare.cpuMs];
    const shown = cells.map((ms, at) => ms.toFixed(0).padStart(at % 2 === 0 ? 9 : 6)).join('');
    process.stdout.write(`${name.padEnd(11)}${shown}\n`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
