// A second release of the site chart whose servers keep their store on volumes, so that a server of the other version opens what
// the one before it left. Without peers: what is not on the volume has to be downloaded, and the server's status says so.

import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { TestNodes } from '../../support/node/node.ts';
import { applyObjects, kubectl, listPods } from '../../support/node/pods.ts';
import { full, siteSpace, storageClassName, volume } from '../two-charts.ts';

export const keptRelease = 'kept';
export const keptService = `${keptRelease}-static-export-site`;
const keptServers = `app.kubernetes.io/instance=${keptRelease},app.kubernetes.io/component=server`;
const replicas = 2;

/** @param server values of that name */
export const keptValues = (server: object): object => ({
  staticExport: { existingSecret: `${full}-bundle` },
  persistence: { enabled: true, storageClass: storageClassName },
  peers: { enabled: false },
  server: { ...server, replicas },
});

/** Creates the volumes that a storage class would. Claims of other charts must have theirs: any claim may take one. */
export async function createKeptVolumes(nodes: TestNodes): Promise<void> {
  for (let at = 0; at < replicas; at += 1) {
    const folder = join(nodes.folder, `kept-${at}`);
    await mkdir(folder);
    await chmod(folder, 0o777);
    await applyObjects(nodes, [volume(`kept-${at}`, folder)]);
  }
}

const statusShape = z.object({
  active: z.object({ digest: z.string() }),
  source: z.object({ kind: z.string() }),
});

/** Every server has this content, and the bytes come from its volume: it has downloaded nothing since it started. */
export async function assertFromVolume(nodes: TestNodes, digest: string): Promise<void> {
  const pods = await listPods(nodes, siteSpace, keptServers);
  assert.equal(pods.length, replicas);
  for (const pod of pods) {
    const path = `/api/v1/namespaces/${siteSpace}/pods/${pod}:9090/proxy/status`;
    const { active, source } = statusShape.parse(JSON.parse(await kubectl(nodes, ['get', '--raw', path])));
    assert.deepEqual([active.digest, source.kind], [digest, 'disk'], pod);
  }
}
