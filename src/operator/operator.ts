// Assembles the operator: connections, watches, queue, election, admin port, and the order in which they stop. Decides
// nothing about resources. Invariant: SIGTERM ends readiness first, then the queue, then the reconciles, then the
// lease, then the process.

import { hostname } from 'node:os';
import { createLeaseStore } from '#operator/kube/objects/lease-store.ts';
import {
  ConnectionError,
  type ConnectionSource,
  openConnection,
} from '#operator/kube/transport/connection.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { allowedHosts } from '#operator/loop/allowed-host.ts';
import { InspectionSlots } from '#operator/loop/inspection/inspection-slots.ts';
import { type ExternalServicesOptions, openExternalServices } from '#operator/services/external-services.ts';
import { createGitPusher, gitSettings } from '#operator/services/git-pusher.ts';
import type { GitSettings } from '#operator/services/git-targets.ts';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { version } from '#platform/runtime/version.ts';
import { watchSkew } from './controller/clock-skew.ts';
import { createReports } from './controller/reports.ts';
import { type ElectionTimes, runElection } from './election/election.ts';
import { selectorOf } from './election/instance.ts';
import { type OperatorValues, reconcileTimeoutOf } from './flags.ts';
import { livenessOf, readinessOf } from './health.ts';
import { queueSlotsOf, runLeader, totalWorkers } from './leader.ts';
import { createMetrics, type OperatorMetrics } from './metrics.ts';
import { mirrorHostsOf } from './mirror-flags.ts';
import { hostQueueOf } from './queue/api-host.ts';
import { WorkQueue } from './queue/work-queue.ts';
import { createFeed } from './watch/feed.ts';
import { createWatches, logIgnoredObject } from './watch/watches.ts';

/** What only `bin` can read from the process. */
export interface OperatorEnvironment
  extends Pick<ExternalServicesOptions, 'bundleWorker' | 'valuesWorker' | 'mirrorWorker' | 'proxy'> {
  readonly gitWorker: URL;
  readonly source: ConnectionSource;
}

/** Runs until shutdown. @throws {PublishableError} on loss of leadership, or when it cannot start */
export async function runOperator(
  values: OperatorValues,
  context: ProgramContext,
  environment: OperatorEnvironment,
): Promise<void> {
  const { clock, random, logger, shutdown } = context;
  const connection = openConnection(environment.source);
  const server = new URL(connection.server).host;
  const lease = { namespace: leaseNamespace(values, connection.namespace), name: values.leaseName };
  const operatorLease = `${lease.namespace}/${lease.name}`;
  const identity = `${hostname()}_${random.uuid()}`;
  const callsAtOnce = totalWorkers(values);
  const inspections = new InspectionSlots(values.inspectConcurrency);
  const metrics: OperatorMetrics = createMetrics({
    workers: callsAtOnce,
    host: server,
    queue: () => queue.figures(),
    reports: () => reports.list(),
    inspections,
    watch: () => watches.figures(),
  });
  const queue = new WorkQueue({
    clock,
    slots: queueSlotsOf(values),
    hostOf: (key) => hostQueueOf(watches.get(key)?.apiHost ?? '', values),
    observer: metrics.queue,
  });
  const transportOptions = {
    clock,
    timeoutMs: values.clusterTimeout,
    observe: metrics.request,
    onLeftOut: (resource: string) => logIgnoredObject(logger, resource),
  };
  const transport = createTransport(connection, { ...transportOptions, callsAtOnce });
  // A connection of its own: no call may delay a renewal.
  const leaseTransport = createTransport(connection, transportOptions);
  const feed = createFeed(queue);
  const watches = createWatches({
    ...context,
    transport,
    namespaces: values.watchNamespaces,
    labelSelector: selectorOf(values.instance),
    wake: feed.wake,
    operatorLease,
    onOverlap: feed.recheckOverlap,
  });
  const reports = createReports(watches, clock);
  const opened = await openExternalServices(servicesOptions(values, environment), context);
  const pusher = createGitPusher(environment.gitWorker, clock);
  const settings = async (): Promise<GitSettings> =>
    gitSettings(values.allowPrivateGitHosts, await opened.extraCaPem());
  const services = {
    ...opened,
    exportApi: watchSkew(opened.exportApi, clock, metrics.skew),
    git: { pusher, settings },
  };
  const admin = await listenHttp(
    values.adminListen,
    adminApp({
      readiness: readinessOf(watches, shutdown),
      liveness: livenessOf(() => queue.figures().longestActiveMs, reconcileTimeoutOf(values)),
      registry: metrics.registry,
      logger,
    }),
    clock,
  );
  logger.info(
    { version, identity, lease: operatorLease, server, adminPort: admin.port, ...scopeOf(values) },
    'operator started',
  );

  const stopWatches = new AbortController();
  const watching = watches.run(AbortSignal.any([shutdown, stopWatches.signal]));
  try {
    const times = leaseTimes(values);
    const store = createLeaseStore(leaseTransport, lease, times.renewDeadlineMs / 2);
    const parts = {
      values,
      context,
      queue,
      transport,
      operatorLease,
      services,
      inspections,
      identity,
      metrics,
      reports,
      watches,
    };
    const election = { ...context, store, identity, times, observe: metrics.leading };
    await runElection(election, shutdown, (term) => {
      feed.open(watches.keys());
      return runLeader(parts, term);
    });
  } finally {
    stopWatches.abort();
    await watching;
    await admin.close({ lingerMs: 0, graceMs: 1_000 });
    await Promise.all([transport.close(), leaseTransport.close(), services.close(), pusher.close()]);
  }
  logger.info({ identity }, 'stopped');
}

/** The external services as the flags set them. */
export function servicesOptions(
  values: OperatorValues,
  { bundleWorker, valuesWorker, mirrorWorker, proxy }: Omit<OperatorEnvironment, 'source' | 'gitWorker'>,
): ExternalServicesOptions {
  return {
    bundleWorker,
    valuesWorker,
    mirrorWorker,
    mirrors: mirrorHostsOf(values),
    proxy,
    callsAtOnce: totalWorkers(values),
    extraCaFile: values.extraCaFile,
    allowPrivateLinks: values.allowPrivateLinks,
    requestTimeoutMs: values.requestTimeout,
    maxArchiveBytes: values.maxArchiveSize,
    maxBundleBytes: values.maxBundleSize,
  };
}

/** The managed scope and the allowed APIs, to compare where two operators overlap. */
function scopeOf(values: OperatorValues): object {
  const { watchNamespaces, instance, apiBaseUrl, allowedApiHosts, context } = values;
  return {
    namespaces: watchNamespaces.length === 0 ? 'all' : watchNamespaces,
    instance: instance ?? 'none: resources without the label',
    apiBaseUrl: apiBaseUrl ?? 'none',
    allowedApiHosts: allowedHosts({ apiBaseUrl, allowedApiHosts }),
    context,
  };
}

/** In the proportions of client-go: 15 s, 10 s, 2 s. */
function leaseTimes({ leaseDuration }: OperatorValues): ElectionTimes {
  return {
    leaseMs: leaseDuration,
    renewDeadlineMs: (leaseDuration * 2) / 3,
    retryMs: (leaseDuration * 2) / 15,
  };
}

/** @throws {ConnectionError} when neither a flag nor the connection names one */
function leaseNamespace(values: OperatorValues, own: string | undefined): string {
  const namespace = values.leaseNamespace ?? own;
  if (namespace !== undefined) return namespace;
  throw new ConnectionError(
    'NoLeaseNamespace',
    'no namespace for the lease; set --lease-namespace, or a namespace in the context of the kubeconfig',
  );
}
