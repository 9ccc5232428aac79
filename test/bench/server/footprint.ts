// What ours takes: memory of a process of its own with the site and `--memory-budget 32MiB`, and the time from a disk
// that has the site to the first page.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnBuild, startOurs } from './own-server.ts';
import { median, row } from './saturation.ts';

export async function printStart(own: OwnBuild, source: readonly string[], rounds: number): Promise<void> {
  const tookMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const { program } = await startOurs(own, source);
    tookMs.push(performance.now() - start);
    await program.stop();
  }
  console.log(`\nfrom disk to the first page: ${median(tookMs).toFixed(0)} ms (${rounds} starts)`);
}

export async function printMemory(
  own: OwnBuild,
  source: readonly string[],
  paths: readonly string[],
  work: string,
): Promise<void> {
  console.log(`\n${row(['resident, 32 MiB budget', 'MB', 'anonymous', 'peak'])}`);
  const fromDisk = await startOurs(own, [...source, '--memory-budget', '32MiB']);
  await fromDisk.untilCompressed();
  await sleep(12_000);
  printResident('idle', fromDisk.program.pid);
  for (let at = 0; at < paths.length; at += 8) {
    await Promise.all(
      paths.slice(at, at + 8).map(async (path) => {
        const answer = await fetch(`http://127.0.0.1:${fromDisk.port}${path}`);
        await answer.arrayBuffer();
      }),
    );
  }
  printResident('all asked for once', fromDisk.program.pid);
  const list = join(work, 'memory-paths');
  writeFileSync(list, `${paths.join('\n')}\n`);
  execFileSync(
    'wrk',
    [
      '-t',
      '1',
      '-c',
      '64',
      '-d',
      '5s',
      '-s',
      join(import.meta.dirname, 'requests.lua'),
      `http://127.0.0.1:${fromDisk.port}`,
    ],
    { env: { ...process.env, BENCH_PATHS: list } },
  );
  printResident('after 5 s of load', fromDisk.program.pid);
  await fromDisk.program.stop();

  const fresh = { ...own, store: join(work, 'fresh-store') };
  const fromArchive = await startOurs(fresh, [...source, '--encodings', 'none', '--memory-budget', '32MiB']);
  printResident('from the archive', fromArchive.program.pid);
  await sleep(12_000);
  printResident('then idle', fromArchive.program.pid);
  await fromArchive.program.stop();
  rmSync(fresh.store, { recursive: true, force: true });
}

function printResident(what: string, pid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string): string =>
    (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024).toFixed(0);
  console.log(row([what, megabytes('VmRSS'), megabytes('RssAnon'), megabytes('VmHWM')]));
}
