// The program's flags and its main function: from the command line to a running service and an orderly shutdown. Owns
// the defaults; only --keys-file and --data are required.

import { once } from 'node:events';
import * as kind from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues, ProgramDescription } from '#platform/runtime/flags/flags.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { defaultCrawlLimits } from './crawler/contract.ts';
import { exportInThread } from './export-thread.ts';
import { startExportService } from './service.ts';

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
  const service = await startExportService({
    ...context,
    ...values,
    exportSite: exportInThread(workers.crawl),
    conversationsProgram: workers.conversations,
    originMappings: values.origin,
    directory: values.data,
    linkLifetimeMs: values.linkLifetime,
    projectMappings: values.project,
    defaultProject: values.conversationsProject,
    limits: {
      ...defaultCrawlLimits,
      maxPages: values.maxPages,
      timeoutMs: values.crawlTimeout,
      maxBytes: values.maxBytes,
    },
  });
  onListening(service.url, service.adminUrl);
  if (!context.shutdown.aborted) await once(context.shutdown, 'abort');
  await service.stop(values.drainLinger);
}
