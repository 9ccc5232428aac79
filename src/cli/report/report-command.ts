// `report`: adds up what all servers of a site say of addresses and searches without a result, and finds the pages of the bundle that
// link to a missing address. Composes only. Refuses: a report without a server that was read, and exit code 0 where one was not.

import { findLinkingPages, type LinkingPagesByAddress } from '#site/links/linking-pages.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../output/amounts.ts';
import { type SiteContent, type SiteContentFlags, withSiteContent } from '../site/site-content.ts';
import type { InsightAnswer } from './documents.ts';
import { insightBlocks, otherContentFindings, unreadFindings } from './report-screen.ts';
import { addInsights, type ServerInsights } from './server-insights.ts';
import { readServersAt, readServersOf, type ServerReading, type SiteServers } from './servers-read.ts';

export interface ReportValues extends SiteContentFlags {
  readonly server: readonly string[];
  readonly domain: string | undefined;
}

export async function reportInsights(
  values: ReportValues,
  [name]: readonly string[],
  context: CliContext,
): Promise<InsightAnswer> {
  const { servers, domain } = await readServers(values, name, context);
  const insights = servers.flatMap(({ read }) => (isRead(read) ? [read] : []));
  const [first] = insights;
  if (first === undefined) throw noServer(servers, name, context);
  const missing = addInsights(insights.map(({ missingAddresses }) => missingAddresses));
  const empty = addInsights(insights.map(({ emptySearches }) => emptySearches));
  const hosts = [values.domain ?? domain].flatMap((host) => (host === undefined ? [] : [host.toLowerCase()]));
  const site = await withSiteContent(values, context, async (content) => {
    const addresses = missing.entries.map(({ text }) => text);
    const wanted = { addresses, basePath: first.basePath, hosts };
    return { ...content, linking: await findPages(content, wanted, context) };
  });
  const fields = {
    servers: servers.map(rowOf),
    ...(site !== undefined && {
      bundle: {
        ...(site.version !== undefined && { version: site.version }),
        digest: site.index.digest,
      },
    }),
    missingAddresses: {
      ...{ since: missing.since, requests: missing.requests, leftOut: missing.leftOut },
      entries: missing.entries.map(({ text, count, lastHour }) => ({
        ...{ address: text, count, lastHour },
        ...(site !== undefined && { linkingPages: site.linking.get(text) ?? { count: 0, examples: [] } }),
      })),
    },
    emptySearches: {
      ...{ since: empty.since, requests: empty.requests, leftOut: empty.leftOut },
      entries: empty.entries,
    },
  };
  const unread = unreadFindings(fields.servers);
  return {
    // The counts of a server that was not read are missing in every sum, which a schedule must not take for a whole report.
    outcome: unread.length === 0 ? 'done' : unreadOutcome(name),
    kind: 'InsightReport',
    fields,
    lines: insightBlocks(fields, name),
    findings: [...unread, ...otherContentFindings(fields)],
  };
}

/** @param name of the StaticExport, whose servers are read through the Kubernetes API server */
const unreadOutcome = (name: string | undefined): 'temporary' | 'cluster' =>
  name === undefined ? 'temporary' : 'cluster';

function readServers(
  values: ReportValues,
  name: string | undefined,
  context: CliContext,
): Promise<SiteServers> {
  if ((name === undefined) === (values.server.length === 0)) {
    const message =
      name === undefined
        ? 'name a StaticExport, or admin ports of servers with --server'
        : 'NAME and --server exclude each other; leave out one of them';
    throw new CliError('usage', 'WrongUsage', message);
  }
  return name === undefined ? readServersAt(values.server, context) : readServersOf(name, values, context);
}

const isRead = (read: ServerReading['read']): read is ServerInsights =>
  read !== 'off' && !('message' in read);

function rowOf({ server, read }: ServerReading): InsightAnswer['fields']['servers'][number] {
  if (read === 'off') return { server, state: 'Off' };
  if (!isRead(read)) return { server, state: 'NotReadable', message: read.message };
  return { server, state: 'Read', ...(read.digest !== undefined && { digest: read.digest }) };
}

/** @param name of the StaticExport */
function noServer(
  servers: readonly ServerReading[],
  name: string | undefined,
  { called }: CliContext,
): CliError {
  const unread = servers.find(({ read }) => read !== 'off');
  if (servers.length === 0) {
    const message = 'no pod with a bundle server uses the output or a target of this StaticExport';
    return new CliError('cluster', 'NoServer', message, {
      next: [`${called} report --server URL  # reads the admin port of a server elsewhere`],
    });
  }
  if (unread === undefined) {
    const message =
      'the servers do not count what readers do not find; set server.insights=true, or remove --insights=false';
    return new CliError('no', 'InsightsOff', message);
  }
  const why = typeof unread.read === 'object' && 'message' in unread.read ? unread.read.message : '';
  return new CliError(
    unreadOutcome(name),
    'NoServerRead',
    `no server could be read. ${unread.server}: ${why}`,
  );
}

async function findPages(
  { packPath, index }: SiteContent,
  wanted: {
    readonly addresses: readonly string[];
    readonly basePath: string;
    readonly hosts: readonly string[];
  },
  { siteWorker, progress, signal }: CliContext,
): Promise<LinkingPagesByAddress> {
  if (wanted.addresses.length === 0) return new Map();
  progress.phase('Reading the links of pages');
  try {
    const onProgress = ({ pages }: { readonly pages: number }): void =>
      progress.advance(undefined, counted(pages, 'page'));
    return await findLinkingPages(siteWorker, { packPath, index, ...wanted }, { signal, onProgress });
  } finally {
    progress.end();
  }
}
