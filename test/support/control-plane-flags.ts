// The flags of the control plane's programs, each seen to work. Pure: (places) → arguments.
// Without a node the API server announces no endpoint of its own; with one, pods reach it at the service address.

import { join } from 'node:path';

/** Pods and the API server's own certificate know this range. */
export const serviceRange = '10.96.0.0/16';
/** The address of the service `kubernetes.default`, first of the range. */
export const apiServiceAddress = '10.96.0.1';

export function etcdFlags(folder: string, clientUrl: string, peerUrl: string): readonly string[] {
  return [
    '--name=test',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export interface ApiServerPlace {
  readonly folder: string;
  readonly address: string;
  readonly port: number;
  readonly etcdUrl: string;
  /** Kubelets exist: announce an endpoint, and show them the administrator's certificate. */
  readonly hasNodes: boolean;
}

export function apiServerFlags(place: ApiServerPlace): readonly string[] {
  const { folder, address, port, etcdUrl, hasNodes } = place;
  const towardsNodes = [
    `--advertise-address=${address}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-client-certificate=${join(folder, 'admin.pem')}`,
    `--kubelet-client-key=${join(folder, 'admin.key')}`,
  ];
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${address}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${join(folder, 'server.pem')}`,
    `--tls-private-key-file=${join(folder, 'server.key')}`,
    `--client-ca-file=${join(folder, 'ca.pem')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'service-accounts.key')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    '--authorization-mode=Node,RBAC',
    `--service-cluster-ip-range=${serviceRange}`,
    `--cert-dir=${join(folder, 'certs')}`,
    ...(hasNodes ? towardsNodes : ['--endpoint-reconciler-type=none']),
  ];
}

export function controllerManagerFlags(folder: string, kubeconfig: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${join(folder, 'service-accounts.key')}`,
    `--root-ca-file=${join(folder, 'ca.pem')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
}

export function schedulerFlags(kubeconfig: string): readonly string[] {
  return [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
}
