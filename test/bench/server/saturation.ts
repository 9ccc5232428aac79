// As many requests as a server takes: wrk over 64 connections, the server on one core and wrk on the other. The
// processor's time a request is what a busy machine changes least. Owns the scenarios.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contestant } from './contestants.ts';

export interface Scenario {
  readonly name: string;
  readonly paths: readonly string[];
  readonly headers: readonly string[];
}

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly processorUs: number;
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

export function scenariosOf(page: string, paths: readonly string[]): readonly Scenario[] {
  return [
    { name: 'one page', paths: [page], headers: [] },
    { name: 'mixed, all files', paths, headers: [] },
    { name: 'one page, gzip', paths: [page], headers: ['Accept-Encoding: gzip'] },
    { name: 'mixed, a browser', paths, headers: browser },
  ];
}

/** Every server in turn in each round; prints medians and their ratio to nginx. @returns requests a second by name */
export function compareSaturated(
  servers: readonly Contestant[],
  scenario: Scenario,
  rounds: number,
  seconds: number,
  work: string,
): ReadonlyMap<string, number> {
  const all = new Map(servers.map(({ name }): [string, Measured[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const server of servers) all.get(server.name)?.push(saturate(server, scenario, seconds, work));
  }
  const medians = new Map([...all].map(([name, measured]) => [name, mediansOf(measured)]));
  const nginx = medians.get('nginx');
  console.log(`\n${row([scenario.name, 'req/s', 'ratio', 'p50 ms', 'p99 ms', 'cpu us', 'ratio'])}`);
  for (const [name, { perSecond, p50Ms, p99Ms, processorUs }] of medians) {
    const ratio = perSecond / (nginx?.perSecond ?? Number.NaN);
    const cost = (nginx?.processorUs ?? Number.NaN) / processorUs;
    const figures = [ratio, p50Ms, p99Ms, processorUs, cost].map((one) => one.toFixed(2));
    console.log(row([name, perSecond.toFixed(0), ...figures]));
  }
  return new Map([...medians].map(([name, { perSecond }]) => [name, perSecond]));
}

export function row([first = '', ...columns]: readonly string[]): string {
  return first.padEnd(20) + columns.map((column) => column.padStart(10)).join('');
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function mediansOf(measured: readonly Measured[]): Measured {
  return {
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
    processorUs: median(measured.map(({ processorUs }) => processorUs)),
  };
}

function saturate(server: Contestant, scenario: Scenario, seconds: number, work: string): Measured {
  const list = join(work, 'paths');
  writeFileSync(list, `${scenario.paths.join('\n')}\n`);
  const headers = scenario.headers.flatMap((header) => ['-H', header]);
  const wrk = ['wrk', '-t', '1', '-c', '64', '-d', `${seconds}s`, '--latency', ...headers];
  const script = ['-s', join(import.meta.dirname, 'requests.lua'), `http://127.0.0.1:${server.port}`];
  const env = { ...process.env, BENCH_PATHS: list };
  const before = processorMs(server.program.pid);
  const text = execFileSync('taskset', ['-c', '1', ...wrk, ...script], { encoding: 'utf8', env });
  const spentMs = processorMs(server.program.pid) - before;
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${server.name}, ${scenario.name}: ${text}`);
  return {
    perSecond: Number(/Requests\/sec: +([\d.]+)/.exec(text)?.[1]),
    p50Ms: percentile(text, 50),
    p99Ms: percentile(text, 99),
    processorUs: (spentMs * 1000) / Number(/(\d+) requests in/.exec(text)?.[1]),
  };
}

/** proc(5), fields 14 and 15, in 10 ms. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function percentile(text: string, percent: number): number {
  const [, value = '', unit = ''] = new RegExp(` ${percent}% +([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN);
}
