// Manifests of a small site that the project's image serves on real pods: two archives in a ConfigMap, the published
// `bundle.json` in a Secret, two servers, a Service. Pure except for packing the archives.

import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { words } from '../support/words.ts';

export const namespace = 'smoke';
export const labels = { app: 'site' };

/** Admits only what the restricted profile of Pod Security admits. */
export function restrictedNamespace(): object {
  const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: enforce } };
}

/** A tar.gz with one page that says `greeting`. */
export async function packSite(greeting: string): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name: 'index.html' }, `<!doctype html><title>${greeting}</title>${greeting}\n`);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive.pipe(createGzip())) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param archives file name → bytes */
export function archives(byName: Readonly<Record<string, Buffer>>): object {
  const binaryData = Object.fromEntries(
    Object.entries(byName).map(([name, bytes]) => [name, bytes.toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'archives' }, binaryData };
}

export function published(version: string, archive: string): object {
  const document = JSON.stringify({ version, bundleUrl: `file:///archives/${archive}` });
  const stringData = { 'bundle.json': document };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'published' }, stringData };
}

export function service(): object {
  const ports = [{ port: 80, targetPort: 'http' }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'site' },
    spec: { selector: labels, ports },
  };
}

/** The strictest container of Pod Security, with a user id that no image contains. */
const restricted = {
  runAsUser: 1_234_567,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

export function servers(image: string, replicas: number): object {
  const args = words(`
    bundle-server --bundle-file=/published/bundle.json --store=/store --listen=0.0.0.0:8080
    --admin-listen=0.0.0.0:9090 --allow-file-links --poll-interval=1s
  `);
  const container = {
    name: 'bundle-server',
    image,
    imagePullPolicy: 'Never',
    args,
    ports: [
      { name: 'http', containerPort: 8080 },
      { name: 'admin', containerPort: 9090 },
    ],
    readinessProbe: { httpGet: { path: '/readyz', port: 'admin' }, periodSeconds: 1, timeoutSeconds: 5 },
    livenessProbe: { httpGet: { path: '/livez', port: 'admin' }, timeoutSeconds: 5 },
    resources: { limits: { memory: '256Mi' } },
    securityContext: restricted,
    volumeMounts: [
      { name: 'published', mountPath: '/published' },
      { name: 'archives', mountPath: '/archives' },
      { name: 'store', mountPath: '/store' },
    ],
  };
  const volumes = [
    { name: 'published', secret: { secretName: 'published' } },
    { name: 'archives', configMap: { name: 'archives' } },
    { name: 'store', emptyDir: {} },
  ];
  const spreading = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels },
  };
  const spec = {
    automountServiceAccountToken: false,
    topologySpreadConstraints: [spreading],
    terminationGracePeriodSeconds: 45,
    containers: [container],
    volumes,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'site' },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** A pod that runs to its end. */
export function oneShot(name: string, image: string, command: object): object {
  const container = { name, image, imagePullPolicy: 'Never', securityContext: restricted, ...command };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: { restartPolicy: 'Never', automountServiceAccountToken: false, containers: [container] },
  };
}
