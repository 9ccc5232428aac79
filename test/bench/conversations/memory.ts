// Memory of the commands over a million turns: the built `conversations export` from a real export service, in each format,
// and the built `conversations gaps` over what that wrote. The kernel counts: the most resident memory of each.
//
//   node test/bench/conversations/memory.ts [--programs FOLDER] [--turns COUNT] [--formats ndjson,csv,…]

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sinkFormats } from '#conversations/sinks/open-sink.ts';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { writeTurns } from '../export-service/made-turns.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: join(import.meta.dirname, '../../../dist') },
    turns: { type: 'string', default: '1000000' },
    formats: { type: 'string', default: sinkFormats.join() },
  },
});
const turns = Number(values.turns);
const formats = values.formats.split(',');
/** What `gaps` reads. */
const gapsFormats = ['ndjson', 'sqlite'];

const work = mkdtempSync(join(tmpdir(), 'conversation-memory-'));
const key = join(work, 'keys.txt');
writeFileSync(key, 'svc_bench\n', { mode: 0o600 });
const turnsFile = join(work, 'turns.ndjson');
const bytes = writeTurns(turnsFile, turns, 'first');
console.log(`${turns} turns, ${(bytes / 1e6).toFixed(0)} MB`);

const [port, adminPort] = [await findFreePort(), await findFreePort()];
const service = startProgram(process.execPath, {
  args: [
    join(values.programs, 'export-service.mjs'),
    `--listen=127.0.0.1:${port}`,
    `--admin-listen=127.0.0.1:${adminPort}`,
    `--data=${join(work, 'data')}`,
    `--keys-file=${key}`,
    `--conversations=${turnsFile}`,
    '--log-level=warn',
  ],
  env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' },
  onLine: (line) => console.log(line),
});

/** Runs the command to its end; its standard output is a pipe that is read, or a file. */
function measure(name: string, args: readonly string[], output: string): void {
  const figures = join(work, 'figures');
  const began = performance.now();
  const { status, stderr } = spawnSync(
    '/bin/sh',
    [
      ...['-c', 'exec /usr/bin/time -f "%M %U %S" -o "$0" "$@" > "$OUTPUT"', figures],
      ...[process.execPath, join(values.programs, 'static-export.mjs'), 'conversations', ...args],
    ],
    {
      env: {
        ...process.env,
        MALLOC_ARENA_MAX: '1',
        OUTPUT: output,
        XDG_STATE_HOME: join(work, 'home'),
      },
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
  assert.equal(status, 0, `${name} ended with ${status}: ${stderr.slice(-2000)}`);
  const [kilobytes = 0, user = 0, system = 0] = readFileSync(figures, 'utf8').trim().split(' ').map(Number);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(
    `| ${name} | ${((kilobytes * 1024) / 1e6).toFixed(0)} MB | ${seconds} s | ${(user + system).toFixed(0)} s |`,
  );
}

try {
  const look = async (): Promise<boolean | undefined> => {
    if (service.hasExited()) return false;
    const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
    return answer?.ok === true ? true : undefined;
  };
  const isUp = await eventually('the export service has read its turns', look, { timeoutMs: 600_000 });
  assert.ok(isUp, `the export service ended:\n${service.tail()}`);
  console.log('| command | resident at most | by the clock | CPU time |\n|---|---|---|---|');
  mkdirSync(join(work, 'home'));
  const placeOf = (format: string): string =>
    ({ singer: '-', sqlite: join(work, 'turns.sqlite') })[format] ?? join(work, format);
  for (const format of formats) {
    const to = placeOf(format);
    const reading = [
      ...['--api-base-url', `http://127.0.0.1:${port}`, '--key-file', key, '--project', 'default'],
      ...['--since', '2024-12-01', '--budget', '1000000/h'],
      // Of Singer, the target has the state.
      ...(format === 'singer' ? [] : ['--state', join(work, `state-${format}`)]),
    ];
    measure(
      `export, ${format}`,
      ['export', ...reading, '--format', format, '--to', to],
      join(work, 'output'),
    );
  }
  for (const format of formats.filter((one) => gapsFormats.includes(one))) {
    measure(
      `gaps, from ${format}`,
      ['gaps', '--from', placeOf(format), '--format', 'json'],
      join(work, 'gaps.json'),
    );
  }
} finally {
  await service.stop('SIGTERM', 3000);
  rmSync(work, { recursive: true, force: true });
}
