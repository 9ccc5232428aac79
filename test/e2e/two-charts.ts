// The test environment: both charts as a user installs them, the export service by the operator's chart, and a docs
// site that it crawls. Owns names, values and manifests, and how results are read. The origin's site and the export
// service's data are folders of the machine, so that an edit is a write and jobs are counted.

import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventuallyInCluster } from '../support/eventually.ts';
import { productImage } from '../support/image/test-images.ts';
import { sandboxImage } from '../support/node/container-runtime.ts';
import type { TestNodes } from '../support/node/node.ts';
import { applyObjects, clusterIp, kubectl, listPods } from '../support/node/pods.ts';
import { countJobs } from './count-jobs.ts';

export const domain = 'docs.example.com';
/** Of the same site in the project-scoped form. */
const projectId = '5f0c9a7e1d';
export const operatorSpace = 'operator';
export const siteSpace = 'site';
const originSpace = 'origin';
export const largeSpace = 'large';
export const servers = 'app.kubernetes.io/name=static-export-site,app.kubernetes.io/component=server';
export const operators = 'app.kubernetes.io/name=static-export-operator';
export const exportServices = 'app.kubernetes.io/name=static-export-operator-export-service';
const exportService = 'operator-static-export-operator-export-service';
export const serviceDeployment = `deployment/${exportService}`;
/** Name of the site's objects, of its StaticExport too. */
export const full = 'docs-static-export-site';

/**
 * Seconds. Short, so that a link expires during the test. Refreshed after a seventh of it: with an earlier refresh some
 * links would not be fresher by the twentieth that the operator requires.
 */
const linkLifetime = 30;

const image = { ...productImage, pullPolicy: 'Never' };
export const storageClassName = 'of-this-machine';

export const operatorValues = {
  image,
  exportService: {
    enabled: true,
    keys: { existingSecret: 'export-service-keys' },
    origins: { [domain]: `http://origin.${originSpace}` },
    extraArgs: [`--project=${projectId}=${domain}`],
    linkLifetime: `${linkLifetime}s`,
    persistence: { storageClass: storageClassName },
  },
};

export const siteValues = {
  export: {
    create: true,
    domain,
    api: { keySecretRef: { name: 'export-api' } },
    linkRefresh: { atPercent: 15, minInterval: '1s' },
  },
  server: { image, allowPrivateLinks: true },
};

/** A separate server for an archive behind a plain link, with the chart's own limits. */
export const largeSiteValues = {
  staticExport: { bundleUrl: `http://origin.${originSpace}/made.tar.gz`, version: 'made' },
  server: { image, allowPrivateLinks: true, replicas: 1 },
};

/** A second resource, which exports the same site by its project. */
export const byProject = {
  ...{ apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport' },
  metadata: { name: 'by-project', namespace: siteSpace },
  spec: { api: { projectId, keySecretRef: siteValues.export.api.keySecretRef } },
};

export interface TwoCharts {
  /** The folder that the origin serves; a write here is an edit of the docs. */
  readonly originFolder: string;
  /** Runs helm. @returns its output @throws Error with its output */
  helm(args: readonly string[], values?: object): Promise<string>;
  kubectl(args: readonly string[]): Promise<string>;
  /** The key of the operator, and the keys that the export service accepts. */
  writeKeys(keys: { readonly used?: string; readonly accepted?: readonly string[] }): Promise<void>;
  /** Whether the export service accepts this key yet. */
  isAccepted(key: string): Promise<boolean>;
  /** Writes a docs site whose every page says `greeting`. */
  writeDocs(greeting: string): Promise<void>;
  /** As a user sees it. */
  look(): Promise<string>;
  /** A field of the StaticExport. */
  read(path: string): Promise<string>;
  /** Uids and restarts of the pods that serve: the same text, the same processes. */
  serverLives(): Promise<string>;
  /** The node of each pod that serves and is not going. */
  serverNodes(): Promise<readonly string[]>;
  /** How many calls the export service that runs now has answered with 401. */
  refusedCalls(): Promise<number>;
  /** The digests that the pods report to serve, each once. */
  servedDigests(): Promise<readonly string[]>;
  /** How many exports the export service was ever asked to start. */
  jobsStarted(): Promise<number>;
}

/** Creates the namespaces, the volume, the keys and the origin; installs nothing. */
export async function prepareTwoCharts(nodes: TestNodes): Promise<TwoCharts> {
  const originFolder = join(nodes.folder, 'origin');
  const serviceFolder = join(nodes.folder, 'export-service');
  await mkdir(originFolder);
  await mkdir(serviceFolder);
  // A hostPath volume belongs to root, and the kubelet does not change its group.
  await chmod(serviceFolder, 0o777);
  await applyObjects(nodes, [
    ...[operatorSpace, siteSpace, largeSpace].map((name) => namespace(name, 'restricted')),
    namespace(originSpace, 'privileged'),
    volume('export-service', serviceFolder),
    ...origin(originFolder),
  ]);
  const toOrigin = ['rollout', 'status', 'deployment/origin', `--namespace=${originSpace}`];
  await kubectl(nodes, [...toOrigin, '--timeout=480s']);

  const run = (args: readonly string[]): Promise<string> => kubectl(nodes, args);
  const read = (path: string): Promise<string> =>
    run(['get', 'staticexport', full, `--namespace=${siteSpace}`, `--output=jsonpath={${path}}`]);
  return {
    originFolder,
    helm: async (args, values) => {
      const more = values === undefined ? [] : ['--values=-'];
      const { code, stdout, stderr } = await nodes.helm([...args, ...more], {
        input: JSON.stringify(values ?? {}),
      });
      if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`);
      return stdout;
    },
    kubectl: run,
    writeKeys: ({ used, accepted }) =>
      applyObjects(nodes, [
        ...(used === undefined ? [] : [secret(siteSpace, 'export-api', { apiKey: used })]),
        ...(accepted === undefined
          ? []
          : [secret(operatorSpace, 'export-service-keys', { 'keys.txt': `${accepted.join('\n')}\n` })]),
      ]),
    isAccepted: async (key) => {
      const url = `http://${await clusterIp(nodes, operatorSpace, exportService)}/v1/static-export/jobs/none`;
      const ask = [
        'curl',
        '--silent',
        '--max-time',
        '5',
        '--output',
        '/dev/null',
        '--write-out',
        '%{http_code}',
      ];
      const { stdout } = await nodes.run([...ask, '--header', `Authorization: Bearer ${key}`, url]);
      return stdout === '404';
    },
    writeDocs: (greeting) => writePages(originFolder, greeting),
    look: () => run(['get', 'sx', `--namespace=${siteSpace}`]),
    read,
    serverLives: () => {
      const each = '{range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{"\\n"}{end}';
      const which = [`--namespace=${siteSpace}`, `--selector=${servers}`];
      return run(['get', 'pods', ...which, `--output=jsonpath=${each}`]);
    },
    serverNodes: async () => {
      const pods = await listPods(nodes, siteSpace, servers);
      const which = [...pods.map((pod) => `pod/${pod}`), `--namespace=${siteSpace}`];
      return (await run(['get', ...which, '--no-headers', '--output=custom-columns=NODE:.spec.nodeName']))
        .trim()
        .split(/\s+/);
    },
    refusedCalls: async () => {
      const [pod] = await listPods(nodes, operatorSpace, exportServices);
      const path = `/api/v1/namespaces/${operatorSpace}/pods/${pod}:8481/proxy/metrics`;
      const lines = (await run(['get', '--raw', path])).split('\n');
      const refused = lines.filter((line) => /^export_service_answers_total\{.*status="401"/.test(line));
      return refused.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    servedDigests: async () => {
      const pods = await listPods(nodes, siteSpace, servers);
      const digests = pods.map(async (pod) => {
        const path = `/api/v1/namespaces/${siteSpace}/pods/${pod}:9090/proxy/status`;
        return digestOf(JSON.parse(await run(['get', '--raw', path])));
      });
      return [...new Set(await Promise.all(digests))];
    },
    jobsStarted: () => countJobs(serviceFolder),
  };
}

/** Waits until the site behind a Service has the text. @returns its address */
export async function awaitPage(
  nodes: TestNodes,
  place: { readonly namespace: string; readonly service: string; readonly path: string },
  words: string,
): Promise<string> {
  const url = `http://${await clusterIp(nodes, place.namespace, place.service)}`;
  await eventuallyInCluster(`${place.path} says "${words}"`, async () => {
    const call = ['curl', '--silent', '--max-time', '5', `${url}${place.path}`];
    const { stdout } = await nodes.run(call);
    if (stdout.includes(words)) return true;
    throw new Error(stdout.slice(0, 300));
  });
  return url;
}

function digestOf(status: { readonly active: { readonly digest: string } | null }): string {
  assert.ok(status.active !== null, 'a server has nothing to serve');
  return status.active.digest;
}

async function writePages(folder: string, greeting: string): Promise<void> {
  const page = (body: string): string => `<!doctype html><title>Docs</title><body>${body}</body>\n`;
  const guides = Array.from({ length: 12 }, (_, at) => `guide-${at}`);
  const links = guides.map((name) => `<a href="/${name}.html">${name}</a>`).join(' ');
  await writeFile(join(folder, 'index.html'), page(`${greeting} ${links}`));
  for (const name of guides) await writeFile(join(folder, `${name}.html`), page(`${greeting} ${name}`));
}

/** @param profile of Pod Security that pods must satisfy */
function namespace(name: string, profile: 'restricted' | 'privileged'): object {
  const labels = { 'pod-security.kubernetes.io/enforce': profile };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function secret(space: string, name: string, stringData: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: space, name }, stringData };
}

/** The volume that a storage class would create for a chart's claim. */
export function volume(name: string, path: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName,
      hostPath: { path },
    },
  };
}

function origin(path: string): readonly object[] {
  const labels = { app: 'origin' };
  const metadata = { namespace: originSpace, name: 'origin' };
  const container = {
    name: 'origin',
    image: sandboxImage,
    imagePullPolicy: 'Never',
    command: ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', '/pages'],
    volumeMounts: [{ name: 'pages', mountPath: '/pages', readOnly: true }],
    readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1 },
  };
  const spec = { containers: [container], volumes: [{ name: 'pages', hostPath: { path } }] };
  const template = { metadata: { labels }, spec };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
  ];
}
