// The kubelet of one node: its configuration, and its start. Everything it keeps is in the node's folder.
// Pure but for `startKubelet`.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../child-program.ts';
import type { Command } from '../control-plane-binary.ts';

export interface KubeletPlace {
  readonly name: string;
  readonly address: string;
  readonly folder: string;
  readonly kubeconfig: string;
  /** File of the authority whose clients the kubelet's own port accepts. */
  readonly caFile: string;
  readonly cgroupRoot: string;
  readonly runtimeEndpoint: string;
  /** Where pods ask for names. */
  readonly dnsAddress: string;
}

export async function startKubelet(
  enter: readonly string[],
  command: Command,
  place: KubeletPlace,
): Promise<ChildProgram> {
  const config = join(place.folder, 'kubelet.json');
  await mkdir(join(place.folder, 'kubelet'), { recursive: true });
  // The machine's own resolver configuration must not leak into pods.
  await writeFile(join(place.folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  await writeFile(config, JSON.stringify(configOf(place)));
  const flags = [
    `--config=${config}`,
    `--kubeconfig=${place.kubeconfig}`,
    `--hostname-override=${place.name}`,
    `--node-ip=${place.address}`,
    `--root-dir=${join(place.folder, 'kubelet')}`,
    `--cert-dir=${join(place.folder, 'kubelet', 'pki')}`,
  ];
  const [file = '', ...args] = [...enter, command.file, ...command.args, ...flags];
  return startProgram(file, { args, logFile: join(place.folder, 'kubelet.log') });
}

function configOf(place: KubeletPlace): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: place.address,
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: place.caFile },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: place.runtimeEndpoint,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${place.cgroupRoot}`,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    podLogsDir: join(place.folder, 'pod-logs'),
    volumePluginDir: join(place.folder, 'volume-plugins'),
    resolvConf: join(place.folder, 'resolv.conf'),
    clusterDomain: 'cluster.local',
    clusterDNS: [place.dnsAddress],
    // A changed Secret reaches its pods within this time, not within the usual minute.
    syncFrequency: '10s',
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    maxPods: 50,
  };
}
