// Requests a second over keep-alive, one core for the server and one for wrk: ours, nginx, Caddy and express.static in
// turn, medians over rounds, nginx = 1.00. `node test/bench/site/serving.ts [--rounds 3] [--seconds 3] [--site FOLDER]`
// Needs nginx, caddy and wrk (test/integration/install-packages.sh bench) and a machine with two idle cores.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packFolder, packMadeSite } from '../bundle/made-site.ts';
import { type Contestant, startAll } from './contestants.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    site: { type: 'string' },
  },
});

interface Scenario {
  readonly name: string;
  readonly paths: readonly string[];
  readonly headers: readonly string[];
}

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const browser = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language: en-US,en;q=0.9',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Referer: http://docs.example.com/',
  'Sec-Fetch-Dest: document',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Site: same-origin',
  'Upgrade-Insecure-Requests: 1',
];

function measure(server: Contestant, scenario: Scenario, work: string): Measured {
  const list = join(work, 'paths');
  writeFileSync(list, `${scenario.paths.join('\n')}\n`);
  const headers = scenario.headers.flatMap((header) => ['-H', header]);
  const wrk = ['wrk', '-t', '1', '-c', '64', '-d', `${values.seconds}s`, '--latency', ...headers];
  const script = ['-s', join(import.meta.dirname, 'requests.lua'), `http://127.0.0.1:${server.port}`];
  const env = { ...process.env, BENCH_PATHS: list };
  const text = execFileSync('taskset', ['-c', '1', ...wrk, ...script], { encoding: 'utf8', env });
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${server.name}, ${scenario.name}: ${text}`);
  return {
    perSecond: Number(/Requests\/sec: +([\d.]+)/.exec(text)?.[1]),
    p50Ms: percentile(text, 50),
    p99Ms: percentile(text, 99),
  };
}

function percentile(text: string, percent: number): number {
  const [, value = '', unit = ''] = new RegExp(` ${percent}% +([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function memoryMb(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return `${read('VmRSS')} MB now, ${read('VmHWM')} MB at most`;
}

/** A fixed order that no server's cache of open files likes. */
function shuffled(paths: readonly string[]): readonly string[] {
  return paths
    .map((path, at) => [(at * 2_654_435_761) % 4_294_967_296, path] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, path]) => path);
}

const work = mkdtempSync(join(tmpdir(), 'bench-site-'));
let servers: readonly Contestant[] = [];
try {
  const archive =
    values.site === undefined ? packMadeSite(work) : packFolder(values.site, join(work, 'site.tar.gz'));
  const root = values.site === undefined ? join(work, 'made') : join(work, 'files');
  if (values.site !== undefined) execFileSync('cp', ['-rL', values.site, root]);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(html|js|css)$/.test(name),
  );
  const paths = shuffled(files.filter((name) => name !== '404.html').map((name) => `/${encodeURI(name)}`));
  const isTypical = (path: string): boolean => {
    const { size } = statSync(join(root, decodeURI(path)));
    return path.endsWith('.html') && size > 15_000 && size < 25_000;
  };
  const page = paths.find(isTypical) ?? '/';
  servers = await startAll(work, root, archive);
  const scenarios: readonly Scenario[] = [
    { name: 'one page', paths: [page], headers: [] },
    { name: 'mixed, all files', paths, headers: [] },
    { name: 'one page, gzip', paths: [page], headers: ['Accept-Encoding: gzip'] },
    { name: 'mixed, a browser', paths, headers: browser },
  ];
  console.log(
    `${files.length} files; page ${page}; ${values.rounds} rounds of ${values.seconds} s, 64 connections`,
  );
  for (const scenario of scenarios) {
    const all = new Map(servers.map(({ name }): [string, Measured[]] => [name, []]));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const server of servers) all.get(server.name)?.push(measure(server, scenario, work));
    }
    const rate = (name: string): number => median((all.get(name) ?? []).map(({ perSecond }) => perSecond));
    console.log(
      `\n${scenario.name.padEnd(20)}${'req/s'.padStart(10)}${'ratio'.padStart(8)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}`,
    );
    for (const [name, measured] of all) {
      const ratio = rate(name) / rate('nginx');
      const [p50, p99] = [
        median(measured.map(({ p50Ms }) => p50Ms)),
        median(measured.map(({ p99Ms }) => p99Ms)),
      ];
      console.log(
        `${name.padEnd(20)}${rate(name).toFixed(0).padStart(10)}${ratio.toFixed(2).padStart(8)}${p50.toFixed(2).padStart(9)}${p99.toFixed(2).padStart(9)}`,
      );
    }
  }
  const ours = servers.find(({ name }) => name === 'ours');
  if (ours !== undefined)
    console.log(`\nours, resident with --memory-budget 32MiB: ${memoryMb(ours.program.pid)}`);
} finally {
  for (const { program } of servers) await program.stop('SIGKILL');
  rmSync(work, { recursive: true, force: true });
}
