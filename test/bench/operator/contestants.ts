// The two programs that are compared: ours as it ships, bundled, and the peer built from Go modules. Started with
// the same connection, the same API and the same number of workers; asked for the same metrics.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { findGoProgram } from '../../support/go-program.ts';
import { removeAfterUs } from '../../support/reaper.ts';

export interface Contestant {
  readonly name: string;
  start(kubeconfig: string, apiBaseUrl: string): Promise<Running>;
}

export interface Running {
  readonly child: ChildProgram;
  /** Sum of a metric over all its lines that hold every one of the labels. */
  sum(metric: string, ...labels: readonly string[]): Promise<number>;
  /** All of its metrics, as a monitoring system asks for them. */
  scrape(): Promise<void>;
  rssMegabytes(): Promise<number>;
  /** The most it ever was. */
  peakRssMegabytes(): Promise<number>;
  /** Seconds of the processor so far, all threads. */
  processorSeconds(): Promise<number>;
}

export const leaseNamespace = 'default';
const root = join(import.meta.dirname, '../../..');

export interface ContestantOptions {
  /** Passes at the same time, of either. */
  readonly workers: number;
  /** What Node is started with beside the program, to profile it. */
  readonly nodeFlags: readonly string[];
}

/** Builds what has to be built. */
export async function findContestants({
  workers,
  nodeFlags,
}: ContestantOptions): Promise<readonly Contestant[]> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root });
  const compiled = await mkdtemp(join(tmpdir(), 'static-export-compiled-'));
  removeAfterUs(compiled);
  await promisify(execFile)(process.execPath, [join(root, 'dist/operator.mjs'), '--version'], {
    env: { NODE_COMPILE_CACHE: compiled },
  });
  const peer = await findGoProgram({ folder: join(import.meta.dirname, 'peer'), standardPackages: 200 });
  return [
    {
      name: 'ours',
      start: async (kubeconfig, apiBaseUrl) => {
        const port = await findFreePort();
        // As the image has it: what V8 compiled is kept for the next start, and one arena serves all threads.
        const env = { NODE_COMPILE_CACHE: compiled, MALLOC_ARENA_MAX: '1' };
        return watchProgram(port, env, process.execPath, [
          ...nodeFlags,
          join(root, 'dist/operator.mjs'),
          `--kubeconfig=${kubeconfig}`,
          `--api-base-url=${apiBaseUrl}`,
          `--lease-namespace=${leaseNamespace}`,
          `--admin-listen=127.0.0.1:${port}`,
          `--workers=${workers}`,
          '--allow-private-links',
          '--log-level=warn',
        ]);
      },
    },
    {
      name: 'peer',
      start: async (kubeconfig, apiBaseUrl) => {
        const port = await findFreePort();
        return watchProgram(port, {}, peer, [
          `--config=${kubeconfig}`,
          `--api-base-url=${apiBaseUrl}`,
          `--lease-namespace=${leaseNamespace}`,
          `--metrics-listen=127.0.0.1:${port}`,
          `--workers=${workers}`,
        ]);
      },
    },
  ];
}

async function watchProgram(
  port: number,
  env: Readonly<Record<string, string>>,
  file: string,
  args: readonly string[],
): Promise<Running> {
  const child = startProgram(file, { args, env: { ...env, NODE_ENV: 'production' } });
  const scrape = async (query = ''): Promise<string> => {
    assert.equal(child.hasExited(), false, child.tail());
    return (await fetch(`http://127.0.0.1:${port}/metrics${query}`)).text();
  };
  const statusField = async (name: string): Promise<number> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  };
  await eventually('metrics', () => scrape(), { timeoutMs: 60_000, everyMs: 20 });
  return {
    child,
    sum: async (metric, ...labels) =>
      (await scrape(`?name[]=${metric}`))
        .split('\n')
        .filter((line) => line.startsWith(`${metric}{`) && labels.every((label) => line.includes(label)))
        .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0),
    scrape: async () => {
      await scrape();
    },
    rssMegabytes: () => statusField('VmRSS'),
    peakRssMegabytes: () => statusField('VmHWM'),
    processorSeconds: async () => {
      const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
      // proc(5): utime and stime, in 10 ms.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
  };
}
