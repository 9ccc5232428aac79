// All that the demo runs: the origin, the export service and the bundle server in processes of their own, and the work of
// `static-export run` in this one. Owns the key and what was printed. Invariant: when it is closed, no process of it is left.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { defaultLimits } from '../../bundle/limits.ts';
import { type PublishedBundle, parsePublishedBundle } from '../../bundle/published-bundle.ts';
import type { HostPort } from '../../runtime/http/http-listener.ts';
import { readJson } from '../../wire/json-text.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { runManifest } from '../folder/run-command.ts';
import type { Progress } from '../output/progress.ts';
import { type ChildServer, type ServerName, startChildServer } from './child-server.ts';
import { type Origin, startOrigin } from './origin.ts';
import { wholeSite } from './site-pages.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const domain = 'docs.example.com';
/** Long enough for a download on a busy machine. A quarter of it passes before the refresh that the demo waits for. */
const linkLifetime = '12s';
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
export type ServerStatus = z.infer<typeof serverStatus>;

export interface DemoEnvironment {
  readonly key: string;
  readonly folder: string;
  readonly origin: Origin;
  readonly visitor: Visitor;
  /** Those that run. */
  readonly servers: ReadonlyMap<ServerName, ChildServer>;
  /** All that was written so far by servers that ran, and by `run`. */
  readonly written: () => ReadonlyMap<string, string>;
  /** Queries of all links that were seen. */
  readonly linkQueries: ReadonlySet<string>;
  /** Address of the site, without the last slash. */
  siteUrl(): string;
  start(name: ServerName): Promise<void>;
  kill(name: ServerName): Promise<void>;
  /** `static-export run`. @throws as that command; the signal ends it */
  run(
    options: { readonly once: boolean; readonly request: boolean },
    progress: Progress,
    signal: AbortSignal,
  ): Promise<CommandResult>;
  /** `bundle.json`, as the bundle server reads it. */
  readPublished(): Promise<PublishedBundle>;
  readServerStatus(): Promise<ServerStatus>;
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
  context: CliContext,
): Promise<DemoEnvironment> {
  const { clock, random } = context;
  const inFolder = (name: string): string => join(folder, name);
  const key = `svc_${Buffer.from(random.bytes(24)).toString('hex')}`;
  const servers = new Map<ServerName, ChildServer>();
  const everStarted: ChildServer[] = [];
  const closing = new AbortController();
  const starts: Promise<ChildServer>[] = [];
  const linkQueries = new Set<string>();
  let printed = '';
  let site = listen;
  await writeFile(inFolder('key'), `${key}\n`, { mode: 0o600 });
  await writeFile(inFolder('docs.yaml'), manifest);
  const visitor = createVisitor(clock);
  const origin = await startOrigin(wholeSite(1), clock);

  const flagsOf: Readonly<Record<ServerName, () => readonly string[]>> = {
    'export-service': () => [
      `--origin=${domain}=${origin.url}`,
      `--keys-file=${inFolder('key')}`,
      `--data=${inFolder('export-service')}`,
      `--link-lifetime=${linkLifetime}`,
      '--listen=127.0.0.1:0',
      '--admin-listen=127.0.0.1:0',
    ],
    'bundle-server': () => [
      `--bundle-file=${inFolder('bundle.json')}`,
      `--store=${inFolder('store')}`,
      `--listen=${site.host.includes(':') ? `[${site.host}]` : site.host}:${site.port}`,
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
    folder,
    origin,
    visitor,
    servers,
    linkQueries,
    written: () =>
      new Map([
        ['the output of run', printed],
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
      if (name === 'bundle-server') site = { ...site, port: Number(new URL(server.url).port) };
    },
    kill: async (name) => {
      const server = find(name);
      servers.delete(name);
      await server.kill();
    },
    run: (options, progress, signal) => {
      const note = (text: string): void => {
        printed += `${text}\n`;
      };
      const phase = (text: string): void => progress.advance(undefined, `(${text.toLowerCase()})`);
      const values = {
        ...options,
        file: inFolder('docs.yaml'),
        state: inFolder('state'),
        linkFile: inFolder('bundle.json'),
        secret: [{ name: 'export-api', path: inFolder('key') }],
        apiBaseUrl: find('export-service').url,
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
        maxArchiveSize: defaultLimits.maxArchiveBytes,
        maxBundleSize: defaultLimits.maxTotalBytes,
      };
      const own = { ...progress, phase, note, end: () => {} };
      return runManifest(values, [], { ...context, env: {}, progress: own, signal });
    },
    readPublished: async () => {
      const published = parsePublishedBundle(await readFile(inFolder('bundle.json'), 'utf8'));
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
      await Promise.all([origin.close(), ...[...servers.values()].map((server) => server.stop())]);
    },
  };
}
