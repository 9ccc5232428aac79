// The bundle server: two ports, the store, the source watch, and their end.
// Owns the order of start and of stop. Start: ports first, so that probes are answered; then the thread that checks or
// fetches the bundle; then, while it works, the admin port's pages. Stop: readiness first, the site port later, the admin
// port last.

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { beginCheckInWorker, checkInWorker, rememberWritten } from '#bundle/store/checking.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { freeBytesOf } from '#bundle/store/store-disk.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { type Clock, othersTurn } from '#platform/runtime/clock.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import { createSocketMemory, readSocketQueues } from '#platform/runtime/http/socket-memory.ts';
import { createUnreadBytes, unreadLimit } from '#platform/runtime/http/unread-bytes.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { memoryLimit } from '#platform/runtime/memory-limit.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { version } from '#platform/runtime/version.ts';
import { siteHeaders } from './answer/reply.ts';
import { defaultStalledReaderMs, siteHandler } from './answer/site-handler.ts';
import { createBodyCache, defaultBodyBudget } from './content/body-cache.ts';
import { findContentWarnings } from './content/content-warnings.ts';
import type { LiveBundle } from './content/live-bundle.ts';
import { createLiveSite, type LiveSite, mayBeLast } from './content/live-site.ts';
import { isOfOneVersion } from './content/markdown-twins.ts';
import { createReadPace } from './content/read-pace.ts';
import { createRoutesAhead } from './content/routes-ahead.ts';
import { fastPath } from './fast-path/plain-answer.ts';
import { createSiteInsights } from './insights/site-insights.ts';
import { createMadeKeeper, prepareFilesInWorker } from './made/made-keeper.ts';
import type { Agents } from './mcp/agents.ts';
import { joinPeers } from './peers/peer-membership.ts';
import type { BundleServerFlags } from './server-flags.ts';
import { createSiteCounts } from './site-counts.ts';
import { diskSource, peerSource } from './source/bundle-source.ts';
import { linkSource, openPreparation } from './source/link-source.ts';
import { mirrorSource, openRestore } from './source/mirror-source.ts';
import {
  type PublishedContent,
  readFromFile,
  readFromFlags,
  readFromReference,
  withBasePath,
} from './source/published-content.ts';
import { createServedRecord } from './source/served-record.ts';
import { reasonOf, type SourceProgress, startingProgress } from './source/source-progress.ts';
import { createSourceWatch, type SourceWatch } from './source/source-watch.ts';
import { statusDocument } from './status-document.ts';
import { createVariantKeeper, makeInWorker } from './variants/variant-keeper.ts';

export const siteServerOptions = {
  optimizeEmptyRequests: true,
  // The handler refuses it, with the headers of every answer.
  requireHostHeader: false,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
};

const fastPathTimes = { stalledMs: defaultStalledReaderMs };

/** The programs of the threads: they check, prepare, bring from a mirror, answer agents, and make what is kept next to a bundle. */
export interface WorkerPrograms {
  readonly check: URL;
  readonly bundle: URL;
  readonly mcp: URL;
  readonly mirror: URL;
  readonly variant: URL;
}

/**
 * Runs until the shutdown signal, and through the drain.
 *
 * @param onListening gets the addresses of the site port and of the admin port
 * @param onServing gets the site's with its base path and no trailing slash, whenever a bundle has become active
 */
export async function runBundleServer(
  flags: BundleServerFlags,
  context: ProgramContext,
  workers: WorkerPrograms,
  onListening: (siteUrl: string, adminUrl: string) => void = () => {},
  onServing: (siteUrl: string) => void = () => {},
): Promise<void> {
  const { clock, logger, shutdown } = context;
  const content = withBasePath(contentOf(flags), flags.basePath);
  const routes = createRoutesAhead(othersTurn, flags.serveDotfiles);
  const written = rememberWritten(checkInWorker(workers.check, othersTurn, routes.begin));
  const reading = { workerUrl: workers.bundle, written, pause: othersTurn };
  const certificates = await openCaFile(flags.extraCaFile, (error) => {
    logger.warn({ error }, 'could not reload --extra-ca-file; keeping the loaded CA certificates');
  });
  const prepare = openPreparation(flags, certificates, reading);
  const restore = openRestore(flags, certificates, { ...reading, workerUrl: workers.mirror });
  const variants = createVariantKeeper(flags, { ...context, make: makeInWorker(workers.variant) });
  const onActive = (bundle: LiveBundle, basePath: string): void => {
    const making = made.prepareFor(bundle, basePath);
    variants.prepareFor(bundle, making);
    // One index of the pages is enough for readers and agents.
    agents?.useBundle(bundle, flags.search ? making.then(() => hasMadeSearch(bundle)) : undefined);
    void warnOfContent(bundle, basePath, logger);
    onServing(`${sitePort.url}${encodeURI(basePath)}`);
  };
  const ofOneVersion = flags.markdown ? isOfOneVersion : undefined;
  const site = createLiveSite(flags.keep, onActive, flags.basePath, ofOneVersion);
  const make = prepareFilesInWorker(workers.variant);
  const made = createMadeKeeper(flags, { ...context, make, site, pause: othersTurn });
  const memory = memoryLimit();
  const cache = createBodyCache(flags.memoryBudget ?? defaultBodyBudget(memory));
  const progress = (): SourceProgress => watch?.progress() ?? startingProgress;
  const counts = createSiteCounts();
  const insights = flags.insights === 'true' ? createSiteInsights(clock) : undefined;
  let watch: SourceWatch | undefined;
  let agents: Agents | undefined;

  const always = siteHeaders(flags.deploymentType, flags.header);
  const unread = createUnreadBytes(unreadLimit(memory), {
    socketMemory: createSocketMemory(),
    socketQueues: readSocketQueues,
    clock,
    onCut: counts.countCutReaders,
  });
  const forAll = {
    site,
    unread,
    always,
    countReply: counts.countReply,
    accessLog: flags.accessLog ? logger : undefined,
  };
  if (flags.mcp) {
    const { openAgents } = await import('./mcp/agents.ts');
    agents = await openAgents(flags, context, forAll, workers.mcp);
  }
  const serving = {
    ...forAll,
    ...{ cache, insights, clock, logger },
    pace: createReadPace(clock),
    isForAgents: agents?.isForAgents,
  };
  const siteOnly = siteHandler(serving);
  const handler = agents?.before(siteOnly) ?? siteOnly;
  // The access log needs Node's view of a request and of its end.
  const isFast = flags.fastPath === 'true' && !flags.accessLog;
  const serverOptions = { ...siteServerOptions, keepAliveTimeout: flags.keepAliveTimeout };
  const sitePort = await listenHttp(flags.listen, handler, clock, serverOptions, {
    first: isFast ? fastPath(serving, fastPathTimes) : undefined,
    keepsUnused: true,
    countRefusal: counts.countRefusal,
    readOnlyMethods: 'GET, HEAD',
    unread,
  });
  const admin = openLater(clock, async () => {
    const { adminPages } = await import('./site-metrics.ts');
    return adminPages({
      readiness: () => readinessOf(flags, content, site, progress(), shutdown),
      metrics: {
        ...{ site, counts, insights, progress, cachedBytes: cache.heldBytes },
        hasPeers: flags.peers.length > 0,
        agents: agents?.summary,
      },
      status: () => {
        const states = { variants: variants.state(), ...made.states(), agents: agents?.summary() };
        return statusDocument(site.view(), progress(), content.kind, site.swaps(), states, insights);
      },
      logger,
    });
  });
  const copying = { worker: workers.bundle, note: written.note, countCopy: counts.countPeerCopy };
  const membership = joinPeers(flags, context, copying);
  const adminPort = await listenHttp(flags.adminListen, membership.answer(admin), clock);
  const ports = { site: sitePort.url, admin: adminPort.url };
  logger.info({ ...ports, store: flags.store, source: content.kind, programVersion: version }, 'listening');
  onListening(sitePort.url, adminPort.url);

  const checking = new AbortController();
  const store = await openBundleStore(flags.store, {
    keep: flags.keep,
    check: written.check,
    begin: beginCheckInWorker(workers.check, othersTurn, routes.begin, checking.signal),
    isNeeded: (digest) => mayBeLast(site, digest),
    onLeftover: (error) => {
      logger.warn({ error }, 'could not remove leftovers of an earlier run from the store; check its volume');
    },
    onBadCopy: (digest, outcome) => {
      counts.countDamagedCopy();
      logger.warn({ digest }, badCopyMessages[outcome]);
    },
  });
  const { peers } = membership;
  const sources = [
    diskSource,
    ...(peers === undefined ? [] : [peerSource(peers)]),
    mirrorSource(restore, logger),
    linkSource(prepare, counts.countDownload),
  ];
  const times = { pollMs: flags.pollInterval, startupTimeoutMs: flags.startupTimeout };
  const record = createServedRecord(store, site, context);
  watch = createSourceWatch({
    ...{ freeBytes: () => freeBytesOf(flags.store) },
    ...context,
    ...times,
    content,
    sources,
    store,
    record,
    site,
    routes,
    fixedBasePath: flags.basePath,
  });
  const watching = watch.run(shutdown);
  if (!shutdown.aborted) await once(shutdown, 'abort');
  const drained = sitePort.close({ lingerMs: flags.drainLinger, graceMs: flags.drainGrace });
  await Promise.all([watching, drained, made.stop(), variants.stop(), agents?.stop()]);
  checking.abort();
  await membership.close();
  await adminPort.close({ lingerMs: 0, graceMs: 1000 });
}

const badCopyMessages = {
  kept: 'set a damaged bundle of the store aside, because it may be the last one; check the volume of the store',
  stuck: 'cannot move a damaged bundle out of the store; check whether its volume can be written',
  removed: 'removed a damaged bundle from the store; check the volume of the store',
};

/**
 * The library of metrics takes this thread longer than all that comes before the store's thread has its task, which then
 * works alone.
 */
const adminPagesAfterMs = 30;

/** A handler that is opened a little later; requests that come before wait for it. */
function openLater(clock: Pick<Clock, 'after'>, open: () => Promise<RequestListener>): RequestListener {
  const opened = clock.after(adminPagesAfterMs).then(open);
  return (request, response) => void opened.then((answer) => answer(request, response));
}

function contentOf({
  bundleFile = '',
  bundleUrl,
  bundleRef,
  digest,
  version,
}: BundleServerFlags): PublishedContent {
  if (bundleRef !== undefined) return readFromReference(bundleRef, digest, version);
  return bundleUrl === undefined ? readFromFile(bundleFile) : readFromFlags(bundleUrl, version);
}

const hasMadeSearch = (bundle: LiveBundle): boolean =>
  bundle.extension()?.features.includes('search') ?? false;

async function warnOfContent(bundle: LiveBundle, basePath: string, logger: Logger): Promise<void> {
  for (const message of await findContentWarnings(bundle, basePath)) {
    logger.warn({ digest: bundle.digest }, message);
  }
}

function readinessOf(
  flags: BundleServerFlags,
  content: PublishedContent,
  site: LiveSite,
  progress: SourceProgress,
  shutdown: AbortSignal,
): string | undefined {
  if (shutdown.aborted) return 'stopping';
  if (flags.readiness === 'always' || site.view() !== undefined) return undefined;
  const { lastError } = progress;
  const why = lastError === undefined ? '' : ` (last error: ${lastError.code}: ${lastError.message})`;
  return `no bundle served yet: ${reasonOf(progress.state, content.kind)}${why}`;
}
