// A registry without TLS and logins in the network of a cluster with nodes, for the nodes' containerd and for pods. It ends
// with the cluster.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeRegistryConfig } from '../docker-registry.ts';
import { eventuallyInCluster } from '../eventually.ts';
import type { TestNodes } from './node.ts';

/** @param host with its port; an address of a node. Resolves when it answers */
export async function startPlainRegistry(nodes: TestNodes, host: string): Promise<void> {
  const folder = join(nodes.folder, 'registry');
  await mkdir(folder);
  const server = nodes.start(['docker-registry', 'serve', await writeRegistryConfig(folder, host, {})]);
  await eventuallyInCluster('the registry listens', async () => {
    if (server.hasExited()) throw new Error(`docker-registry ended:\n${server.tail()}`);
    return (await nodes.run(['curl', '--silent', `http://${host}/v2/`])).code === 0 || undefined;
  });
}
