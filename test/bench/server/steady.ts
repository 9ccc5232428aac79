// What a request takes at a constant rate: at 80 % of what the server can, against nginx; and at a low rate while our
// own swaps to another version, and while it codes one. Prints medians over rounds, and the worst of all.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import type { Contestant } from './contestants.ts';
import { type OwnBuild, startOurs } from './own-server.ts';
import { median, row } from './saturation.ts';
import type { SteadyResult } from './steady-client.ts';

const client = join(import.meta.dirname, 'steady-client.ts');

/** Each at 80 % of its own rate, and nginx at that of ours too. */
export function compareAtFourFifths(
  servers: readonly Contestant[],
  rates: ReadonlyMap<string, number>,
  paths: readonly string[],
  rounds: number,
  work: string,
): void {
  const pathsFile = join(work, 'steady-paths');
  writeFileSync(pathsFile, `${paths.join('\n')}\n`);
  const rateOf = (name: string): number => Math.floor((rates.get(name) ?? 0) * 0.8);
  const [ours, nginx] = ['ours', 'nginx'].map((wanted) => servers.find(({ name }) => name === wanted));
  if (ours === undefined || nginx === undefined) return;
  const plans = [
    { label: 'nginx, at its 80 %', server: nginx, rate: rateOf('nginx') },
    { label: 'ours, at its 80 %', server: ours, rate: rateOf('ours') },
    { label: 'nginx, at that', server: nginx, rate: rateOf('ours') },
  ];
  const all = plans.map((plan) => ({ ...plan, results: [] as SteadyResult[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { server, rate, results } of all) results.push(askSteadily(server.port, pathsFile, rate));
  }
  console.log(`\n${row(['at a constant rate', 'req/s', 'p50 ms', 'p99 ms', 'p99 ratio', 'waiting'])}`);
  const first = median(all[0]?.results.map(({ p99Ms }) => p99Ms) ?? []);
  for (const { label, rate, results } of all) {
    const p99 = median(results.map(({ p99Ms }) => p99Ms));
    const figures = [median(results.map(({ p50Ms }) => p50Ms)), p99, p99 / first].map((one) =>
      one.toFixed(2),
    );
    console.log(
      row([label, `${rate}`, ...figures, `${median(results.map(({ unanswered }) => unanswered))}`]),
    );
  }
}

function askSteadily(port: number, pathsFile: string, rate: number): SteadyResult {
  const args = ['-c', '1', process.execPath, client, `${port}`, pathsFile, `${rate}`, '3', '64'];
  return JSON.parse(execFileSync('taskset', args, { encoding: 'utf8' }));
}

/** 400 requests a second through nothing, a swap, and the encoding that follows it. */
export async function watchChanges(
  own: OwnBuild,
  archives: readonly [string, string],
  paths: readonly string[],
  work: string,
): Promise<void> {
  const document = join(work, 'bundle.json');
  const publish = (version: string, archive: string): void =>
    writeFileSync(document, JSON.stringify({ version, bundleUrl: pathToFileURL(archive).href }));
  publish('v1', archives[0]);
  const source = ['--bundle-file', document, '--allow-file-links', '--poll-interval', '100ms'];
  const server = await startOurs(own, [...source, '--memory-budget', '32MiB']);
  try {
    await server.untilCompressed();
    const pathsFile = join(work, 'change-paths');
    writeFileSync(pathsFile, `${paths.join('\n')}\n`);
    console.log(`\n${row(['400 requests a second', 'p50 ms', 'p99 ms', 'slowest', '> 30 ms', 'failed'])}`);
    await during(
      'nothing',
      server.port,
      pathsFile,
      () => new Promise((resolve) => setTimeout(resolve, 5000)),
    );
    await during('a swap', server.port, pathsFile, async () => {
      publish('v2', archives[1]);
      await eventually('the swap', async () => ((await server.swaps()) > 0 ? true : undefined), {
        everyMs: 20,
      });
      await new Promise((resolve) => setTimeout(resolve, 1000));
    });
    await during('encoding', server.port, pathsFile, () => server.untilCompressed(10_000).catch(() => {}));
  } finally {
    await server.program.stop('SIGKILL');
  }
}

async function during(
  what: string,
  port: number,
  pathsFile: string,
  change: () => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const program = startProgram(process.execPath, {
    args: [client, `${port}`, pathsFile, '400', '600', '16'],
    onLine: (line) => lines.push(line),
  });
  await new Promise((resolve) => setTimeout(resolve, 700));
  await change();
  await program.stop('SIGTERM');
  const result: SteadyResult = JSON.parse(lines.at(-1) ?? '{}');
  const { p50Ms, p99Ms, slowestMs, above30Ms, failures } = result;
  const figures = [p50Ms, p99Ms, slowestMs].map((one) => one.toFixed(2));
  console.log(row([what, ...figures, `${above30Ms}`, `${failures}`]));
}
