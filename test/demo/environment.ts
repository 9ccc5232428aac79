// All programs of the demo, started in a user's order and stopped in reverse, also after a failure. Owns the data that
// the steps read: the resource's status and the server's own report.

import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Claims } from '../../src/cli/demo/claims.ts';
import { type Origin, startOrigin } from '../../src/cli/demo/origin.ts';
import { createVisitor, type Visitor } from '../../src/cli/demo/visitor.ts';
import type { Progress } from '../../src/cli/output/progress.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { findFreePort } from '../support/free-port.ts';
import { type MountedSecret, mountSecret } from '../support/mounted-secret.ts';
import { removeAfterUs } from '../support/reaper.ts';
import { type DemoCluster, namespace, startEmbeddedCluster, useContext } from './demo-cluster.ts';
import { buildDocsSite, type DocsSite } from './docs-site.ts';
import { type RunningProgram, startNode, waitReady } from './programs.ts';

export interface DemoOptions {
  readonly isOnce: boolean;
  readonly context: string | undefined;
  readonly origin: string | undefined;
}

/** Where steps are shown. */
export interface Shown {
  readonly claims: Claims;
  readonly progress: Progress;
}

export const resourceName = 'docs';
export const domain = 'docs.example.com';
export const linkLifetimeSeconds = 30;

const resourceStatus = z.looseObject({
  lastHandledRequest: z.string().optional(),
  job: z
    .looseObject({
      id: z.string().optional(),
      state: z.string().optional(),
      progress: z.number().optional(),
      pageCount: z.number().optional(),
      completionTime: z.string().optional(),
    })
    .optional(),
  active: z
    .looseObject({
      version: z.string(),
      digest: z.string().optional(),
      jobId: z.string(),
      pages: z.number().optional(),
      linkIssueTime: z.string().optional(),
      linkExpirationTime: z.string().optional(),
    })
    .optional(),
  conditions: z
    .array(
      z.looseObject({
        type: z.string(),
        status: z.string(),
        reason: z.string().optional(),
        message: z.string().optional(),
      }),
    )
    .optional(),
});
export type ResourceStatus = z.infer<typeof resourceStatus>;

export interface DemoEnvironment {
  readonly folder: string;
  readonly apiKey: string;
  readonly cluster: DemoCluster;
  /** Absent when --origin names an external site. */
  readonly site: (DocsSite & { readonly origin: Origin }) | undefined;
  readonly originUrl: string;
  readonly visitor: Visitor;
  readonly siteUrl: string;
  readonly bundleServerAdminUrl: string;
  readonly operatorAdminUrl: string;
  readonly mount: MountedSecret;
  readonly programs: Map<string, RunningProgram>;
  /** The resource's status as last seen by the watch. */
  readonly status: () => ResourceStatus | undefined;
  /** Called on every change of the resource. */
  onStatus(listen: (status: ResourceStatus) => void): void;
  startBundleServer(): Promise<RunningProgram>;
  stop(): Promise<void>;
}

export async function startEnvironment(options: DemoOptions, shown: Shown): Promise<DemoEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'static-export-demo-'));
  removeAfterUs(folder);
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 3 })];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one().catch(() => {});
  };
  try {
    return await start(options, shown, folder, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: DemoOptions,
  { claims, progress }: Shown,
  folder: string,
  stops: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<DemoEnvironment> {
  const logs = join(folder, 'logs');
  await mkdir(logs);
  const building = startSite(options, folder, claims);
  // A failure of the cluster must not leave the build's rejection unhandled.
  building.catch(() => {});
  const cluster = await claims.check(
    'starting the control plane',
    () =>
      options.context === undefined
        ? startEmbeddedCluster((built, all) =>
            progress.advance((built / all) * 100, `building it (once): ${built} of about ${all} packages`),
          )
        : useContext(options.context),
    ({ title }) => title,
  );
  stops.push(cluster.stop);
  const { site, originUrl, stopOrigin } = await building;
  stops.push(stopOrigin);
  const visitor = createVisitor(systemClock);
  stops.push(async () => visitor.close());

  const apiKey = `svc_${randomBytes(24).toString('hex')}`;
  const ports = {
    api: await findFreePort(),
    apiAdmin: await findFreePort(),
    admin: await findFreePort(),
    site: await findFreePort(),
    siteAdmin: await findFreePort(),
  };
  const apiUrl = `http://127.0.0.1:${ports.api}`;
  const programs = new Map<string, RunningProgram>();
  stops.push(async () => {
    await Promise.all([...programs.values()].map((program) => program.stop()));
  });
  const run = (name: string, flags: readonly string[]): RunningProgram => {
    const program = startNode(name, flags, logs);
    programs.set(name, program);
    return program;
  };
  const siteUrl = `http://127.0.0.1:${ports.site}`;
  const bundleServerAdminUrl = `http://127.0.0.1:${ports.siteAdmin}`;
  const operatorAdminUrl = `http://127.0.0.1:${ports.admin}`;
  const mountFolder = join(folder, 'mount');
  await mkdir(mountFolder);
  await writeFile(join(folder, 'keys'), `${apiKey}\n`, { mode: 0o600 });

  const startBundleServer = async (): Promise<RunningProgram> => {
    const server = run('bundle-server', [
      `--bundle-file=${join(mountFolder, 'bundle.json')}`,
      `--store=${join(folder, 'store')}`,
      `--listen=127.0.0.1:${ports.site}`,
      `--admin-listen=127.0.0.1:${ports.siteAdmin}`,
      '--allow-private-links',
      '--drain-linger=0s',
    ]);
    await waitReady(server, `${bundleServerAdminUrl}/livez`);
    return server;
  };
  await claims.check(
    'starting export service, operator and bundle server',
    async () => {
      const service = run('export-service', [
        `--origin=${domain}=${originUrl}`,
        `--keys-file=${join(folder, 'keys')}`,
        `--data=${join(folder, 'export-service')}`,
        `--listen=127.0.0.1:${ports.api}`,
        `--public-url=${apiUrl}`,
        `--link-lifetime=${linkLifetimeSeconds}s`,
        `--admin-listen=127.0.0.1:${ports.apiAdmin}`,
      ]);
      const operator = run('operator', [
        `--api-base-url=${apiUrl}`,
        `--watch-namespaces=${namespace}`,
        `--admin-listen=127.0.0.1:${ports.admin}`,
        '--allow-private-links',
        ...cluster.operatorFlags,
      ]);
      await Promise.all([
        waitReady(service, `http://127.0.0.1:${ports.apiAdmin}/readyz`),
        waitReady(operator, `${operatorAdminUrl}/readyz`),
        startBundleServer(),
      ]);
    },
    () => 'export service, operator and bundle server are running',
  );
  const mount = await mountSecret(
    cluster.watch,
    { namespace, name: `${resourceName}-bundle`, key: 'bundle.json' },
    mountFolder,
  );
  stops.push(mount.stop);
  const watched = watchStatus(cluster);
  stops.push(watched.stop);
  return {
    folder,
    apiKey,
    cluster,
    site,
    originUrl,
    visitor,
    siteUrl,
    bundleServerAdminUrl,
    operatorAdminUrl,
    mount,
    programs,
    status: watched.status,
    onStatus: watched.onStatus,
    startBundleServer,
    stop,
  };
}

interface StartedSite {
  readonly site: DemoEnvironment['site'];
  readonly originUrl: string;
  readonly stopOrigin: () => Promise<void>;
}

async function startSite(options: DemoOptions, folder: string, claims: Claims): Promise<StartedSite> {
  if (options.origin !== undefined)
    return { site: undefined, originUrl: options.origin, stopOrigin: async () => {} };
  const source = join(folder, 'docs');
  await mkdir(source);
  const site = await claims.check(
    'building the docs site',
    () => buildDocsSite(source),
    () => 'docs site built with VitePress from the Markdown of undici, pino and this project',
  );
  const origin = await startOrigin(site.first, systemClock);
  return { site: { ...site, origin }, originUrl: origin.url, stopOrigin: origin.close };
}

function watchStatus(cluster: DemoCluster) {
  let last: ResourceStatus | undefined;
  const listeners: ((status: ResourceStatus) => void)[] = [];
  const watcher = cluster.watch(
    [
      'get',
      'staticexports.staticexport.dev',
      `--namespace=${namespace}`,
      `--field-selector=metadata.name=${resourceName}`,
      '--output=jsonpath={.status}{"\\n"}',
    ],
    (line) => {
      if (!line.startsWith('{')) return;
      const parsed = resourceStatus.safeParse(JSON.parse(line));
      if (!parsed.success) return;
      last = parsed.data;
      for (const listen of listeners) listen(parsed.data);
    },
  );
  return {
    status: () => last,
    onStatus: (listen: (status: ResourceStatus) => void): void => {
      listeners.push(listen);
    },
    stop: () => watcher.stop(),
  };
}

/** `bundle.json` as mounted right now; holds the link, so it is only ever compared and searched for. */
export async function readMountedLink(environment: DemoEnvironment): Promise<URL> {
  const document: unknown = JSON.parse(await readFile(join(environment.mount.folder, 'bundle.json'), 'utf8'));
  return new URL(z.looseObject({ bundleUrl: z.string() }).parse(document).bundleUrl);
}

/** All that a user, a scraper or a GitOps tool can read: logs of the programs, and objects of the cluster. */
export async function readOutputs({
  programs,
  cluster,
}: DemoEnvironment): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { name, logFile } of programs.values())
    texts.set(`log of ${name}`, await readFile(logFile, 'utf8'));
  const inNamespace = `--namespace=${namespace}`;
  for (const kind of [
    'staticexports.staticexport.dev',
    'configmaps',
    'events',
    'events.events.k8s.io',
    'leases',
  ])
    texts.set(
      kind,
      await cluster.kubectl(['get', kind, inNamespace, '--output=yaml', '--show-managed-fields']),
    );
  return texts.set(
    'describe',
    await cluster.kubectl(['describe', 'staticexports.staticexport.dev', inNamespace]),
  );
}
