// All that the demo runs: the site, the export service and the bundle server in processes of their own, and what exports:
// the work of `static-export run` in this process, or an operator (test/demo). Owns the key. Invariant: when it is closed, no
// process of it is left.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { defaultLimits } from '#bundle/limits.ts';
import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import type { HostPort } from '#platform/runtime/http/http-listener.ts';
import { readJson } from '#platform/wire/json-text.ts';
import type { CliContext } from '../context.ts';
import { runManifest } from '../folder/run-command.ts';
import type { Progress } from '../output/progress.ts';
import { type ChildServer, type ServerName, startChildServer } from './child-server.ts';
import type { DemoSite } from './origin.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const domain = 'docs.example.com';
const manifest = `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec:
  domain: ${domain}
  api: { keySecretRef: { name: export-api } }
  linkRefresh: { atPercent: 25, minInterval: 1s }
`;

/** What the bundle server reports at `/status`. */
const serverStatus = z.object({
  active: z.nullable(z.object({ version: z.string(), digest: z.string() })),
  swaps: z.number(),
  source: z.object({
    state: z.string(),
    kind: z.nullable(z.string()),
    published: z.nullable(z.object({ linkIssuedAt: z.nullable(z.string()) })),
  }),
});
export type DemoServerStatus = z.infer<typeof serverStatus>;

interface RunOptions {
  readonly once: boolean;
  readonly request: boolean;
}

/** What exports, publishes and refreshes the link. */
export interface DemoLoop {
  readonly linkLifetime: string;
  /** Further flags of the export service. Default: none. */
  readonly serviceFlags?: readonly string[];
  /** `bundle.json`, as the bundle server reads it. */
  readonly bundleFile: string;
  /** One export, or refreshes until the signal ends it. @throws {CliError} why an export was not published; the signal's reason */
  run(options: RunOptions, apiBaseUrl: string, progress: Progress, signal: AbortSignal): Promise<unknown>;
  /** The resource and what it publishes, as everyone with permissions to read them sees them. */
  readObjects(): Promise<ReadonlyMap<string, string>>;
  /** All that it wrote so far. */
  written(): ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** What differs between a demo on this machine and one with a cluster. */
export interface DemoParts {
  readonly site: DemoSite;
  /** @param keyFile holds the key of the export API */
  startLoop(folder: string, keyFile: string): Promise<DemoLoop>;
}

type EnvironmentContext = Pick<CliContext, 'clock' | 'random' | 'env' | 'demoWorker' | 'signal'>;

export interface DemoEnvironment {
  readonly key: string;
  readonly site: DemoSite;
  readonly visitor: Visitor;
  /** Those that run. */
  readonly servers: ReadonlyMap<ServerName, ChildServer>;
  /** All that was written so far by servers that ran, and by what exports. */
  readonly written: () => ReadonlyMap<string, string>;
  /** Queries of all links that were seen. */
  readonly linkQueries: ReadonlySet<string>;
  /** Address of the site, without the last slash. */
  siteUrl(): string;
  start(name: ServerName): Promise<void>;
  kill(name: ServerName): Promise<void>;
  /** @throws as that of the loop */
  run(options: RunOptions, progress: Progress, signal: AbortSignal): Promise<unknown>;
  readObjects: DemoLoop['readObjects'];
  readPublished(): Promise<PublishedBundle>;
  readServerStatus(): Promise<DemoServerStatus>;
  /** Text of an admin page. */
  readAdminPage(name: ServerName, path: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * @param folder for all files of the demo; its caller removes it
 * @param listen address of the site; port 0 takes a free one
 */
export async function openEnvironment(
  folder: string,
  listen: HostPort,
  context: EnvironmentContext,
  { site, startLoop }: DemoParts,
): Promise<DemoEnvironment> {
  const { clock, random } = context;
  const inFolder = (name: string): string => join(folder, name);
  const key = `svc_${Buffer.from(random.bytes(24)).toString('hex')}`;
  const servers = new Map<ServerName, ChildServer>();
  const everStarted: ChildServer[] = [];
  const closing = new AbortController();
  const starts: Promise<ChildServer>[] = [];
  const linkQueries = new Set<string>();
  let address = listen;
  await writeFile(inFolder('key'), `${key}\n`, { mode: 0o600 });
  const visitor = createVisitor(clock);
  const loop = await startLoop(folder, inFolder('key'));

  const flagsOf: Readonly<Record<ServerName, () => readonly string[]>> = {
    'export-service': () => [
      `--origin=${domain}=${site.url}`,
      `--keys-file=${inFolder('key')}`,
      `--data=${inFolder('export-service')}`,
      `--link-lifetime=${loop.linkLifetime}`,
      // The demo's pages are documents of a repository, and link to its files that are not pages.
      '--max-missing=100%',
      // A demo needs no network.
      '--allow-external=*',
      '--listen=127.0.0.1:0',
      '--admin-listen=127.0.0.1:0',
      ...(loop.serviceFlags ?? []),
    ],
    'bundle-server': () => [
      `--bundle-file=${loop.bundleFile}`,
      `--store=${inFolder('store')}`,
      `--listen=${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`,
      '--admin-listen=127.0.0.1:0',
      '--allow-private-links',
      '--poll-interval=200ms',
      '--drain-linger=0s',
      '--drain-grace=1s',
    ],
  };
  const find = (name: ServerName): ChildServer => {
    const server = servers.get(name);
    if (server === undefined) throw new Error(`the ${name} is not running`);
    return server;
  };
  const readAdminPage = async (name: ServerName, path: string): Promise<string> => {
    const { body } = await visitor.open(`${find(name).adminUrl}${path}`);
    return body.toString('utf8');
  };
  return {
    key,
    site,
    visitor,
    servers,
    linkQueries,
    written: () =>
      new Map([
        ...loop.written(),
        ...everStarted.map(({ name, pid, output }) => [`the log of ${name} ${pid}`, output()] as const),
      ]),
    siteUrl: () => find('bundle-server').url,
    start: async (name) => {
      const { env, demoWorker: program } = context;
      const signal = AbortSignal.any([context.signal, closing.signal]);
      const starting = startChildServer(name, flagsOf[name](), { program, env, clock, signal });
      starts.push(starting);
      const server = await starting;
      everStarted.push(server);
      servers.set(name, server);
      // Readers find a restarted server where it was.
      if (name === 'bundle-server') address = { ...address, port: Number(new URL(server.url).port) };
    },
    kill: async (name) => {
      const server = find(name);
      servers.delete(name);
      await server.kill();
    },
    run: (options, progress, signal) => loop.run(options, find('export-service').url, progress, signal),
    readObjects: loop.readObjects,
    readPublished: async () => {
      const published = parsePublishedBundle(await readFile(loop.bundleFile, 'utf8'));
      const { link } = published;
      if (link !== undefined) linkQueries.add(new URL(link.url.reveal()).search.slice(1));
      return published;
    },
    readServerStatus: async () =>
      serverStatus.parse(readJson(await readAdminPage('bundle-server', '/status'))),
    readAdminPage,
    close: async () => {
      // A server that starts while another one fails is not in the map yet.
      closing.abort();
      await Promise.allSettled(starts);
      visitor.close();
      await Promise.all([
        site.close(),
        loop.close(),
        ...[...servers.values()].map((server) => server.stop()),
      ]);
    },
  };
}

/** `static-export run` in this process. */
export async function startFolderLoop(
  folder: string,
  keyFile: string,
  context: CliContext,
): Promise<DemoLoop> {
  const inFolder = (name: string): string => join(folder, name);
  let printed = '';
  await writeFile(inFolder('docs.yaml'), manifest);
  return {
    // Long enough for a download on a busy machine. A quarter of it passes before the refresh that the demo waits for.
    linkLifetime: '12s',
    bundleFile: inFolder('bundle.json'),
    run: (options, apiBaseUrl, progress, signal) => {
      const note = (text: string): void => {
        printed += `${text}\n`;
      };
      const phase = (text: string): void => progress.advance(undefined, `(${text.toLowerCase()})`);
      const values = {
        ...options,
        file: inFolder('docs.yaml'),
        state: inFolder('state'),
        linkFile: inFolder('bundle.json'),
        secret: [{ name: 'export-api', path: keyFile }],
        apiBaseUrl,
        allowPrivateLinks: true,
        publish: [],
        values: undefined,
        allowedApiHosts: [],
        allowedGitHosts: [],
        allowedMirrorHosts: [],
        allowPrivateMirrorHosts: false,
        extraCaFile: undefined,
        timeout: 60_000,
        requestTimeout: 10_000,
        inspectTimeout: 60_000,
        startsPerHour: 0,
        maxArchiveSize: defaultLimits.maxArchiveBytes,
        maxBundleSize: defaultLimits.maxTotalBytes,
      };
      const own = { ...progress, phase, note, end: () => {} };
      return runManifest(values, [], { ...context, env: {}, progress: own, signal });
    },
    readObjects: () => readObjects(inFolder('state')),
    written: () => new Map([['the output of run', printed]]),
    close: async () => {},
  };
}

/** The resource and its ConfigMap, as everyone with rights to read them sees them. The output Secret is the link's place. */
async function readObjects(stateFolder: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(stateFolder, 'objects');
  const names = (await readdir(folder)).filter((name) => !name.startsWith('Secret.'));
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}
