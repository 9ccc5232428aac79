// The webhook receiver as its users run it: a separate process with the permissions of its own ServiceAccount, its log and
// its admin port.

import assert from 'node:assert/strict';
import { type ChildProgram, startProgram } from '../../../support/child-program.ts';
import { eventually } from '../../../support/eventually.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { programFile } from '../../../support/program-file.ts';
import { seeText } from '../../../support/secret-watch.ts';
import type { ChartedCluster } from '../charted-cluster.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Without the date. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface ReceiverProcess {
  readonly child: ChildProgram;
  readonly url: string;
  readonly log: readonly string[];
  post(path: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Promise<Answer>;
  metrics(): Promise<string>;
}

/** The name of its Deployment and ServiceAccount. */
export const receiverAccount = ({ leaseName }: Pick<ChartedCluster, 'leaseName'>): string =>
  `${leaseName}-webhook`;

/** A kubeconfig with exactly the permissions of the receiver's ServiceAccount. */
export async function receiverKubeconfig(world: ChartedCluster): Promise<string> {
  const token = await world.api.createToken(receiverAccount(world), world.operatorNamespace);
  return world.controlPlane.writeKubeconfig('receiver', token);
}

/** Resolves once it is ready. */
export async function startReceiver(
  kubeconfig: string,
  flags: readonly string[] = [],
): Promise<ReceiverProcess> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const log: string[] = [];
  const child = startProgram(process.execPath, {
    args: [
      programFile('webhook-receiver'),
      `--kubeconfig=${kubeconfig}`,
      `--listen=127.0.0.1:${port}`,
      `--admin-listen=127.0.0.1:${adminPort}`,
      '--log-level=debug',
      // A call that times out on a busy machine would be a 503.
      '--cluster-timeout=60s',
      ...flags,
    ],
    onLine: (line) => log.push(line),
  });
  const url = `http://127.0.0.1:${port}`;
  const admin = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${adminPort}${path}`);
  await eventually('a ready receiver', async () => {
    assert.equal(child.hasExited(), false, child.tail());
    return (await admin('/readyz')).status === 200 || undefined;
  });
  return {
    child,
    url,
    log,
    post: async (path, headers, body) => {
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: Buffer.from(body) });
      const fields = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
      return { status: answer.status, text: await answer.text(), fields };
    },
    metrics: async () => {
      const text = await (await admin('/metrics')).text();
      seeText('the metrics of the receiver', text);
      return text;
    },
  };
}
