// Manifests of the world around the two charts: a docs site behind a plain web server, and the export service that
// crawls it, in a namespace `vendor`. Pure.

import { productImage } from '../support/image/test-images.ts';
import { sandboxImage } from '../support/node/container-runtime.ts';

export const vendor = 'vendor';
export const domain = 'docs.example.com';
export const apiUrl = `http://export-service.${vendor}:8480`;
/** What the export service accepts, and the charts' key Secret holds. */
export const apiKey = 'svc_end_to_end';

/** The docs site's pages, by file name. Applied again, it is an edit. */
export function originPages(pages: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: vendor, name: 'pages' }, data: pages };
}

export function vendorObjects(): readonly object[] {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: vendor } };
  return [
    namespace,
    secret(vendor, 'keys', { 'keys.txt': `${apiKey}\n` }),
    ...program('origin', 80, {
      image: sandboxImage,
      command: ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', '/pages'],
      volumeMounts: [{ name: 'pages', mountPath: '/pages' }],
      readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1 },
    }),
    ...program('export-service', 8480, {
      image: `${productImage.repository}:${productImage.tag}`,
      args: [
        'export-service',
        '--keys-file=/keys/keys.txt',
        '--data=/data',
        '--listen=0.0.0.0:8480',
        `--public-url=${apiUrl}`,
        `--origin=${domain}=http://origin.${vendor}`,
      ],
      volumeMounts: [
        { name: 'keys', mountPath: '/keys' },
        { name: 'data', mountPath: '/data' },
      ],
      readinessProbe: { tcpSocket: { port: 8480 }, periodSeconds: 1 },
    }),
  ];
}

export function secret(
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData };
}

function program(name: string, port: number, container: object): readonly object[] {
  const labels = { app: name };
  const volumes = [
    { name: 'pages', configMap: { name: 'pages', optional: true } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'data', emptyDir: {} },
  ];
  // The image's user is nobody in particular, and an emptyDir belongs to root but for the group.
  const securityContext = { fsGroup: 65_532 };
  const containers = [{ name, imagePullPolicy: 'Never', ...container }];
  const template = { metadata: { labels }, spec: { securityContext, containers, volumes } };
  const spec = { replicas: 1, strategy: { type: 'Recreate' }, selector: { matchLabels: labels }, template };
  const metadata = { namespace: vendor, name };
  return [
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port }] } },
  ];
}
