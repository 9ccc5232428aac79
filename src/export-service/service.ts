// Assembles the export service: store, keys, jobs, HTTP, admin port. Owns the order of starting (no port listens before
// the state is recovered) and of stopping (requests first, then jobs, then the store).

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { type HttpListener, listenHttp } from '#platform/runtime/http/http-listener.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { type ConversationFeed, feedConversations } from './conversations/feed.ts';
import { createConversationStore } from './conversations/store.ts';
import type { AnswerCounts } from './crawler/contract.ts';
import { exportServiceApp } from './http/app.ts';
import { createJobRunner, type JobRunner, type JobRunnerOptions } from './job-runner.ts';
import { readKeyRing } from './key-ring.ts';
import { readOrigins } from './origins.ts';
import { readProjects } from './projects.ts';
import { loadLinkSecret, openJobDatabase } from './store/database.ts';
import { createJobStore, type JobStore } from './store/jobs.ts';
import { createKeptCrawlStore } from './store/kept-crawls.ts';
import { watchFile } from './watched-file.ts';

export interface ExportServiceOptions
  extends Omit<ProgramContext, 'shutdown'>,
    Omit<JobRunnerOptions, 'store' | 'keptCrawls' | 'origins' | 'keepUsedMs' | 'onFinished' | 'onAnswers'> {
  /** Each `domain=URL`. */
  readonly originMappings: readonly string[];
  /** Each `domain=Name: value`, of a domain that a mapping names. */
  readonly originHeaders?: readonly string[] | undefined;
  /** Domains, of those that a mapping names. */
  readonly ignoredRobots?: readonly string[] | undefined;
  /** Each `ID=DOMAIN`. */
  readonly projectMappings: readonly string[];
  /** Starts of the project-scoped form. Default: no limit. */
  readonly projectStartsPerHour?: number | undefined;
  readonly keysFile: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly adminListen?: { readonly host: string; readonly port: number } | undefined;
  /** Default: the address that is listened on. No trailing slash. */
  readonly publicUrl?: string | undefined;
  readonly linkLifetimeMs: number;
  readonly maxQueued: number;
  readonly conversations?: string | undefined;
  /** Program of the thread that indexes conversations. */
  readonly conversationsProgram: URL;
  readonly defaultProject: string;
}

export interface ExportService {
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** @param lingerMs go on accepting this long first */
  stop(lingerMs: number): Promise<void>;
}

/** How long requests under way may take once the service stops. */
const graceMs = 10_000;

/** Resolves when the service listens. @throws {PublishableError} whatever keeps it from starting */
export async function startExportService(options: ExportServiceOptions): Promise<ExportService> {
  const { clock, random, logger, directory } = options;
  const origins = readOrigins(options.originMappings, options.originHeaders, options.ignoredRobots);
  const projects = readProjects(options.projectMappings, origins);
  const ring = watchFile(options.keysFile, 'keys file', readKeyRing, logger);
  const database = await openJobDatabase(directory);
  const conversations = createConversationStore(directory);
  const listeners: HttpListener[] = [];
  let started: JobRunner | undefined;
  let fed: ConversationFeed | undefined;
  try {
    const linkSecret = loadLinkSecret(database, random);
    const store = createJobStore(database);
    const { conversations: path, defaultProject, conversationsProgram: program } = options;
    const source = path === undefined ? undefined : { path, defaultProject, program };
    const feed = await feedConversations(conversations, source, options);
    fed = feed;
    const metrics = createMetrics(store, () => runner.runningCount());
    const runner: JobRunner = createJobRunner({
      ...options,
      store,
      keptCrawls: createKeptCrawlStore(database),
      origins,
      keepUsedMs: options.linkLifetimeMs,
      onFinished: metrics.onFinished,
      onAnswers: metrics.onAnswers,
    });
    const app = exportServiceApp({
      ...options,
      store,
      runner,
      origins,
      projects,
      conversations,
      linkSecret,
      ring,
      refresh: feed.refresh,
      prefix: options.publicUrl === undefined ? '' : new URL(options.publicUrl).pathname.replace(/\/+$/, ''),
      publicUrl: () => options.publicUrl ?? listener.url,
      onAnswered: metrics.onAnswered,
    });
    started = runner;
    await runner.start();
    const listener = await listenHttp(options.listen, app, clock, {}, { keepsUnused: true });
    listeners.push(listener);
    const admin = await listenAdmin(options, listener, metrics.registry);
    if (admin !== undefined) listeners.push(admin);
    const served = { domains: [...origins.keys()], projects: [...projects.keys()] };
    logger.info({ address: listener.url, admin: admin?.url, ...served }, 'listening');
    return {
      url: listener.url,
      adminUrl: admin?.url,
      stop: async (lingerMs) => {
        await listener.close({ lingerMs, graceMs });
        await Promise.all([runner.stop(), feed.stop()]);
        await admin?.close({ lingerMs: 0, graceMs });
        conversations.close();
        database.close();
      },
    };
  } catch (error) {
    for (const listener of listeners) await listener.close({ lingerMs: 0, graceMs: 0 });
    await started?.stop();
    await fed?.stop();
    conversations.close();
    database.close();
    throw error;
  }
}

function listenAdmin(
  { adminListen, clock, logger }: ExportServiceOptions,
  listener: HttpListener,
  registry: Registry,
): Promise<HttpListener | undefined> {
  if (adminListen === undefined) return Promise.resolve(undefined);
  const readiness = () => (listener.isDraining() ? 'stopping' : undefined);
  return listenHttp(adminListen, adminApp({ readiness, registry, logger }), clock);
}

function createMetrics(store: JobStore, runningCount: () => number) {
  const registry = new Registry();
  const answers = new Counter({
    name: 'export_service_answers_total',
    help: 'Answers by endpoint and status',
    labelNames: ['endpoint', 'status'] as const,
    registers: [registry],
  });
  const jobSeconds = new Histogram({
    name: 'export_service_job_seconds',
    help: 'How long finished jobs took, by outcome',
    labelNames: ['outcome'] as const,
    buckets: [1, 3, 10, 30, 100, 300, 1000, 3000],
    registers: [registry],
  });
  const crawlAnswers = new Counter({
    name: 'export_service_crawl_answers_total',
    help: 'Answers that completed jobs used, by source: origin (a body or another answer), not-modified (the body of the last crawl), journal (of an interrupted start)',
    labelNames: ['source'] as const,
    registers: [registry],
  });
  new Gauge({
    name: 'export_service_jobs',
    help: 'Jobs that are not finished, by status',
    labelNames: ['status'] as const,
    registers: [registry],
    collect() {
      this.set({ status: 'queued' }, store.queuedCount());
      this.set({ status: 'running' }, runningCount());
    },
  });
  return {
    registry,
    onAnswered: (endpoint: string, status: number): void => answers.inc({ endpoint, status: String(status) }),
    onFinished: (outcome: 'completed' | 'failed', seconds: number): void =>
      jobSeconds.observe({ outcome }, seconds),
    onAnswers: ({ fromOrigin, notModified, fromJournal }: AnswerCounts): void => {
      crawlAnswers.inc({ source: 'origin' }, fromOrigin);
      crawlAnswers.inc({ source: 'not-modified' }, notModified);
      crawlAnswers.inc({ source: 'journal' }, fromJournal);
    },
  };
}
