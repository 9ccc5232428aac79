// The two programs that are compared: ours as it ships, bundled, and the peer built from Go modules. Started with
// the same connection, the same API and the same number of workers; asked for the same metrics.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { findGoProgram } from '../../support/go-program.ts';

export interface Contestant {
  readonly name: string;
  start(kubeconfig: string, apiBaseUrl: string): Promise<Running>;
}

export interface Running {
  readonly child: ChildProgram;
  /** Sum of a metric over all its lines that hold every one of the labels. */
  sum(metric: string, ...labels: readonly string[]): Promise<number>;
  rssMegabytes(): Promise<number>;
}

export const leaseNamespace = 'default';
const root = join(import.meta.dirname, '../../..');
const workers = 4;

/** Builds what has to be built. */
export async function findContestants(): Promise<readonly Contestant[]> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root });
  const peer = await findGoProgram(
    { folder: join(import.meta.dirname, 'peer'), standardPackages: 200 },
    () => {},
  );
  return [
    {
      name: 'ours',
      start: async (kubeconfig, apiBaseUrl) => {
        const port = await findFreePort();
        return watchProgram(port, process.execPath, [
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
        return watchProgram(port, peer, [
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

async function watchProgram(port: number, file: string, args: readonly string[]): Promise<Running> {
  const child = startProgram(file, { args, env: { NODE_ENV: 'production' } });
  const scrape = async (): Promise<string> => {
    assert.equal(child.hasExited(), false, child.tail());
    return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  };
  await eventually('metrics', scrape, { timeoutMs: 60_000, everyMs: 20 });
  return {
    child,
    sum: async (metric, ...labels) =>
      (await scrape())
        .split('\n')
        .filter((line) => line.startsWith(`${metric}{`) && labels.every((label) => line.includes(label)))
        .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0),
    rssMegabytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    },
  };
}
