// Names of the cluster's Services, and of the pods behind headless ones: CoreDNS on a node's address, which every
// pod is told to ask. No other name exists, so that a pod which asks for one fails at once and not by time.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventuallyInCluster } from '../eventually.ts';
import { findGoProgram } from '../go-program.ts';
import type { TestNodes } from './node.ts';

export interface NameServerPlace {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly address: string;
}

const module = { folder: join(import.meta.dirname, '../cluster-dns'), standardPackages: 200 };

/** The path of CoreDNS, built if it is not cached. */
export function findNameServer(): Promise<string> {
  return findGoProgram(module);
}

export async function startNameServer(
  start: TestNodes['start'],
  { folder, kubeconfig, address }: NameServerPlace,
): Promise<void> {
  const file = await findNameServer();
  const config = join(folder, 'Corefile');
  // A short life for answers: a server that has gone must not be asked for long.
  const zone = `kubernetes cluster.local { \n kubeconfig ${kubeconfig} \n ttl 2 \n }`;
  const rest = 'template ANY ANY . { \n rcode NXDOMAIN \n }';
  await writeFile(config, `. { \n bind ${address} \n errors \n ${zone} \n ${rest} \n }\n`);
  const program = start([file, '-conf', config], { logFile: join(folder, 'name-server.log') });
  await eventuallyInCluster('the name server answering', () => {
    if (program.hasExited()) throw new Error(`the name server ended:\n${program.tail()}`);
    return program.tail().includes('CoreDNS-') || undefined;
  });
}
