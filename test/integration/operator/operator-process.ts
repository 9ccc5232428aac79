// The operator as its users run it: a separate process with its flags, log and admin port.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { fastEnvironment } from '../../support/fast-clock.ts';
import { findFreePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';
import type { ChartedCluster } from './charted-cluster.ts';

export interface OperatorProcess {
  readonly child: ChildProgram;
  /** Of its admin port. */
  readonly port: number;
  /** All lines it wrote so far. */
  readonly log: readonly string[];
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

type World = Pick<ChartedCluster, 'kubeconfig' | 'operatorNamespace' | 'leaseName' | 'judgeStatuses'>;

export interface LaunchOptions {
  /** Path of the program; by default that of `programFile`. */
  readonly program?: string;
  /** Of Node itself. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly logLevel?: string;
  /** On the fast clock of this test file. */
  readonly isFast?: boolean;
}

const fastProgram = join(import.meta.dirname, '../../support/fast-operator.ts');

/** Resolves once it is ready. */
export async function startOperator(
  world: World,
  flags: readonly string[],
  options: LaunchOptions = {},
): Promise<OperatorProcess> {
  const operator = await launchOperator(world, flags, options);
  await eventually(
    'a ready operator',
    async () => {
      assert.equal(operator.child.hasExited(), false, operator.child.tail());
      return (await operator.get('/readyz')).status === 200 ? true : undefined;
    },
    { timeoutMs: 120_000 },
  );
  return operator;
}

/** Resolves at once, before the process is ready. */
export async function launchOperator(
  world: World,
  flags: readonly string[],
  options: LaunchOptions = {},
): Promise<OperatorProcess> {
  world.judgeStatuses();
  const port = await findFreePort();
  const log: string[] = [];
  const child = startProgram(process.execPath, {
    args: [
      ...(options.nodeFlags ?? []),
      options.program ?? (options.isFast === true ? fastProgram : programFile('operator')),
      `--kubeconfig=${world.kubeconfig}`,
      `--lease-namespace=${world.operatorNamespace}`,
      `--lease-name=${world.leaseName}`,
      `--admin-listen=127.0.0.1:${port}`,
      `--log-level=${options.logLevel ?? 'debug'}`,
      ...flags,
    ],
    env: { ...(options.isFast === true ? fastEnvironment : {}), ...options.env },
    onLine: (line) => log.push(line),
  });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const text = await response.text();
    seeText(`${path} of the operator`, text);
    return { status: response.status, text };
  };
  return { child, port, log, get };
}

/** Whether it holds the lease, by its own metrics. */
export async function leads(operator: OperatorProcess): Promise<boolean> {
  const { text } = await operator.get('/metrics');
  return /^leader_election_master_status\{name="staticexport"\} 1$/m.test(text);
}
