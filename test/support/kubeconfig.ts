// Kubeconfig files of a throw-away cluster: one cluster, one user, one context a file.
// Readable by the owner only, for each holds a key or a token.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertifiedKey } from './pki.ts';

export interface ClusterAddress {
  readonly server: string;
  readonly caPem: string;
}

/** Writes `<folder>/<name>.kubeconfig` and gives its path. */
export async function writeKubeconfig(
  folder: string,
  name: string,
  { server, caPem }: ClusterAddress,
  user: object,
): Promise<string> {
  const file = join(folder, `${name}.kubeconfig`);
  // JSON is YAML, and nothing here needs quoting rules of its own.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': encode(caPem) } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

/** The user entry of somebody who shows a client certificate. */
export function clientUser(client: CertifiedKey): object {
  return {
    'client-certificate-data': encode(client.certificatePem),
    'client-key-data': encode(client.keyPem),
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
