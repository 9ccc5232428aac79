// The program's flags and its main function: from the command line to a running service and an orderly shutdown. Owns
// the defaults; only --keys-file and --data are required.

import { once } from 'node:events';
import * as kind from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '#platform/runtime/flags/flags.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { readAllowedHost } from '#site/allowed-hosts.ts';
import { requireBrowserLibrary } from '#site/browser/browser-library.ts';
import { defaultCrawlLimits, readMissingLimit, siteProfiles } from './crawler/contract.ts';
import { exportInThread } from './export-thread.ts';
import { startExportService } from './service.ts';

const missingLimit = kind.kind('COUNT|PERCENT%', (value) => {
  const limit = readMissingLimit(value);
  if (limit === undefined) throw new kind.FlagValueError('must be such as 20, 1% or 20/1%');
  return limit;
});

const flags = {
  keysFile: kind.path.required(
    'File with the API keys, one a line; "#" comments; "read:KEY" may only read. Re-read when it changes',
  ),
  data: kind.path.required(
    'Folder for state, archives and the secret that signs links. One process at a time',
  ),
  origin: kind.list(
    'DOMAIN=URL',
    'Where a domain is crawled. Given once or more, no other domain is exported. Without it: https://DOMAIN/',
  ),
  originHeader: kind.listOf(
    'DOMAIN=NAME: VALUE',
    // A value may have commas.
    '\n',
    (item) => item,
    'Header of each request to the origin of a domain that --origin names. The value is never logged',
  ),
  ignoreRobots: kind.list(
    'DOMAIN',
    'Domain of --origin whose robots.txt refuses nothing. For sites of your own; the log counts what it would refuse',
  ),
  listen: kind.hostPort.withDefault('127.0.0.1:8480', 'Address of the export API and of downloads'),
  adminListen: kind.hostPort.optional('Address of /livez, /readyz and /metrics. Not served when absent'),
  publicUrl: kind.httpUrl.optional(
    'Base URL of the download links; may have a path. Default: the --listen address, if it is one address',
  ),
  linkLifetime: kind.duration.withDefault('15m', 'How long a link is valid'),
  conversations: kind.path.optional('NDJSON file of assistant conversations. Re-read when it changes'),
  conversationsProject: kind.text.withDefault('default', 'Project id of conversations that name none'),
  project: kind.list(
    'ID=DOMAIN',
    'Project that the project-scoped form of the API exports, and its domain. Each has one job at a time',
  ),
  projectStartsPerHour: kind.positiveCount.optional(
    'Maximum starts of that form in an hour, for all projects together. Above it, a start returns 429. Default: no limit',
  ),
  concurrency: kind.positiveCount.withDefault('1', 'Jobs that run at once'),
  maxQueued: kind.positiveCount.withDefault('100', 'Maximum queued jobs. Above it, a start returns 429'),
  keepJobs: kind.positiveCount.withDefault('20', 'Finished jobs kept per domain, most recently used first'),
  keepBytes: kind.bytes.withDefault(
    '20GiB',
    'Limit for all archives. Above it, the least recently used archives of all domains are deleted, except those with a valid link',
  ),
  maxPages: kind.positiveCount.withDefault(
    String(defaultCrawlLimits.maxPages),
    'Maximum pages of a crawl. A crawl with more fails',
  ),
  maxMissing: missingLimit.withDefault(
    '20/1%',
    'Maximum pages and files that the site asks for and its origin does not have: a count, a share, or the larger of both. A crawl with more fails',
  ),
  allowMissingHomePage: kind.toggle('Export a site whose home page does not answer'),
  allowExternal: kind.listOf(
    'HOST',
    ',',
    (text) => {
      const host = readAllowedHost(text);
      if (host === undefined)
        throw new kind.FlagValueError('must be a host such as cdn.example.com or *.example.com');
      return host;
    },
    'Host whose scripts, styles, fonts and pictures stay there, such as cdn.example.com or *.example.com; "*" is every host. Those of other hosts are copied into the archive',
  ),
  allowPrivateAssets: kind.toggle('Copy scripts, styles, fonts and pictures from internal addresses too'),
  profile: kind
    .oneOf(siteProfiles)
    .withDefault(
      'rooted',
      'Form of the site in its archive: links from the root of a host, or relative links to files for file:// and any path',
    ),
  verifyInBrowser: kind.path.optional(
    'Chromium that opens every page of an export, without a network. The report counts its requests to other hosts and its errors. Needs the package playwright-core',
  ),
  crawlTimeout: kind.duration.withDefault('1h', 'Maximum duration of a crawl. A longer crawl fails'),
  maxBytes: kind.bytes.withDefault('2GiB', 'Maximum size of all files of a crawl. A crawl with more fails'),
  drainLinger: kind.duration.withDefault('0s', 'After SIGTERM, how long to keep accepting requests'),
};

export const exportServiceProgram: ProgramDescription<typeof flags> = {
  name: 'export-service',
  summary: 'crawls documentation sites and serves their static export through the export API',
  flags,
  examples: [
    'export-service --keys-file keys.txt --data ./data \\\n    --origin docs.example.com=http://127.0.0.1:4000',
    'curl -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n    -d \'{"domain":"docs.example.com"}\' \\\n    http://127.0.0.1:8480/v1/static-export/jobs',
    'export-service --keys-file keys.txt --data ./data \\\n    --origin docs.example.com=http://127.0.0.1:4000 \\\n    --project 5f0c9a7e1d=docs.example.com',
  ],
  check: ({ listen, publicUrl }) =>
    publicUrl === undefined && isUnspecified(listen.host)
      ? '--listen on every address needs --public-url: links would lead to no host'
      : undefined,
};

/** Every address at once (none, `0.0.0.0`, `::`, in any spelling): good to listen on, nothing to connect to. */
function isUnspecified(host: string): boolean {
  if (host === '') return true;
  const url = `http://${host.includes(':') ? `[${host}]` : host}`;
  const plain = URL.canParse(url) ? new URL(url).hostname : host;
  return plain === '0.0.0.0' || plain === '[::]' || plain === '[::ffff:0:0]';
}

/**
 * Runs until `context.shutdown` aborts.
 * @param workers programs of the threads (`src/bin/crawl-worker.ts` and so on, or where the build put them)
 * @param onListening gets the addresses of the export API and of the admin port
 */
export async function runExportService(
  values: FlagValues<typeof flags>,
  context: ProgramContext,
  workers: { readonly crawl: URL; readonly conversations: URL },
  onListening: (url: string, adminUrl: string | undefined) => void = () => {},
): Promise<void> {
  if (values.verifyInBrowser !== undefined) requireBrowserLibrary();
  const service = await startExportService({
    ...context,
    ...values,
    exportSite: exportInThread(workers.crawl),
    conversationsProgram: workers.conversations,
    originMappings: values.origin,
    originHeaders: values.originHeader,
    ignoredRobots: values.ignoreRobots,
    browser: values.verifyInBrowser,
    directory: values.data,
    linkLifetimeMs: values.linkLifetime,
    projectMappings: values.project,
    defaultProject: values.conversationsProject,
    limits: {
      ...defaultCrawlLimits,
      maxPages: values.maxPages,
      timeoutMs: values.crawlTimeout,
      maxBytes: values.maxBytes,
      maxMissing: values.maxMissing,
      requiresHomePage: !values.allowMissingHomePage,
      assets: {
        allowedHosts: values.allowExternal,
        allowsPrivate: values.allowPrivateAssets,
      },
    },
  });
  onListening(service.url, service.adminUrl);
  if (!context.shutdown.aborted) await once(context.shutdown, 'abort');
  await service.stop(values.drainLinger);
}
