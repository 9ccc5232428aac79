// The resources of the large operator test, one for each success or failure, and the vendor's behaviour for each. A
// StaticExport `x` exports the domain `x.example.com`.

import { goodKey, type ScriptedVendor, wrongKey } from './scripted-vendor.ts';

export const namespace = 'team-a';

export const keySecret = (name: string, apiKey: string, where = namespace) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: where },
  stringData: { apiKey },
});

const staticExport = (name: string, spec: object = {}) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

export const valuesText =
  '# the site\nreplicas: 2\nstaticExport:\n  enabled: false # for now\n  version: none\n';
const valuesMap = (name: string, annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, annotations },
  data: { 'values.yaml': valuesText },
});
const valuesTarget = (name: string) => ({ name, type: 'Values', values: { kind: 'ConfigMap', name } });

export function scriptDomains(vendor: ScriptedVendor): void {
  vendor.script('failing.example.com', { status: () => 'failed' });
  vendor.script('endless.example.com', { status: () => 'running' });
  vendor.script('odd.example.com', { status: () => 'Reticulating' });
  vendor.script('html.example.com', { start: { status: 200, body: '<html>Sign in</html>' } });
  vendor.script('empty.example.com', { start: { status: 200, body: '' } });
  vendor.script('refreshed.example.com', { lifetimeMs: 30_000 });
  vendor.script('nodomain.example.com', {
    start: { status: 404, type: 'application/json', body: '{"error":"svc_echo-Kx81hT2mQ9: no such domain"}' },
  });
  vendor.script('garbage.example.com', { archive: Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]) });
  vendor.script('webpage.example.com', { archive: Buffer.from('<html>Down for maintenance</html>') });
  vendor.script('nopages.example.com', { content: { 'style.css': 'a{}' } });
  vendor.script('nohome.example.com', {
    content: { 'site/index.html': 'home', 'README.txt': 'beside', 'tags/.net/index.html': 'hidden' },
  });
  vendor.script('expiredlink.example.com', { isExpiredOnArrival: true });
}

/** Objects that exist before any StaticExport. */
export const surroundings: readonly object[] = [
  keySecret('export-api', goodKey),
  keySecret('wrong', wrongKey),
  valuesMap('granted', { 'staticexport.dev/allow-from': `${namespace}/docs` }),
  valuesMap('ungranted', { 'staticexport.dev/allow-from': `${namespace}/another` }),
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'foreign-bundle', namespace },
    stringData: { precious: 'yes' },
  },
];

/** @param latePort on which an export API answers later */
export const resources = (latePort: number): readonly object[] => [
  staticExport('docs', { targets: [valuesTarget('granted'), valuesTarget('ungranted')] }),
  staticExport('latekey', { api: { keySecretRef: { name: 'later' } } }),
  staticExport('wrongkey', { api: { keySecretRef: { name: 'wrong' } } }),
  staticExport('foreign'),
  staticExport('badcron', { schedule: '61 3 * * *' }),
  staticExport('failing'),
  staticExport('endless', { jobTimeout: '4s' }),
  staticExport('odd'),
  staticExport('html'),
  staticExport('empty'),
  staticExport('nodomain'),
  staticExport('garbage'),
  staticExport('webpage'),
  staticExport('nopages'),
  staticExport('nohome'),
  staticExport('expiredlink'),
  staticExport('down', {
    api: { baseUrl: `http://127.0.0.1:${latePort}/api`, keySecretRef: { name: 'export-api' } },
  }),
  staticExport('elsewhere', {
    api: { baseUrl: 'http://127.0.0.2:1', keySecretRef: { name: 'export-api' } },
  }),
  staticExport('refreshed', { linkRefresh: { atPercent: 50, minInterval: '1s' } }),
];
