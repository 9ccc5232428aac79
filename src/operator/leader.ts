// Runs while the lease is held: the controller and what it needs. On shutdown the queue closes and reconciles get a grace
// period; when the lease is lost they are aborted at once.
// Invariant: once this has ended, nothing that it started writes to the cluster, or requests jobs and links.

import { createCluster } from '#operator/kube/cluster.ts';
import { createForeignObjects } from '#operator/kube/foreign-objects.ts';
import { createEventStore } from '#operator/kube/objects/event-store.ts';
import type { Transport } from '#operator/kube/transport/transport.ts';
import type { ReconcileContext } from '#operator/loop/context.ts';
import type { InspectionSlots } from '#operator/loop/inspection/inspection-slots.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { createNotifier } from '#operator/notify/notifier.ts';
import type { ExternalServices } from '#operator/services/external-services.ts';
import { createGitTargets, type GitTargetsOptions } from '#operator/services/git-targets.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { userAgent } from '#platform/runtime/version.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { watchClockSteps } from './controller/clock-steps.ts';
import { runController } from './controller/controller.ts';
import { createEventRecorder } from './controller/event-recorder.ts';
import type { Reports } from './controller/reports.ts';
import type { Term } from './election/election.ts';
import { fenceCalls, fenceWrites } from './election/fence.ts';
import { selectInstance } from './election/instance.ts';
import { type OperatorValues, reconcileTimeoutOf } from './flags.ts';
import type { OperatorMetrics } from './metrics.ts';
import { defaultMirrorOf } from './mirror-flags.ts';
import type { QueueSlots } from './queue/host-queues.ts';
import type { WorkQueue } from './queue/work-queue.ts';
import { isPresent, trustWatchedDeletions } from './watch/absence.ts';
import { linkRemainingMs, startTimesIn } from './watch/known-resource.ts';
import type { Watches } from './watch/watches.ts';

export interface LeaderParts {
  readonly values: OperatorValues;
  readonly context: ProgramContext;
  readonly queue: WorkQueue;
  readonly transport: Transport;
  /** The lease that is held, `<namespace>/<name>`. */
  readonly operatorLease: string;
  readonly services: Pick<
    ExternalServices,
    'exportApi' | 'bundles' | 'mirrors' | 'planner' | 'notifyAgent'
  > & {
    readonly git: Pick<GitTargetsOptions, 'pusher' | 'settings'>;
  };
  readonly inspections: InspectionSlots;
  /** This replica, in events. */
  readonly identity: string;
  readonly metrics: OperatorMetrics;
  readonly reports: Reports;
  readonly watches: Pick<Watches, 'get' | 'keys'>;
}

/** Reconciles get this long to end after SIGTERM. */
const drainMs = 25_000;
/**
 * Nothing watches Secrets, and a person waits for the event of a deleted one. Of many resources, three or four are reconciled in
 * a second.
 */
const resyncMs = (resources: number): number => Math.min(60 * 60_000, Math.max(5 * 60_000, resources * 300));

/** Export APIs that may hang at the same time before resources of another one have to wait. */
const hostsAtOnce = 4;

/** How many resources are reconciled at the same time. */
export function queueSlotsOf({ workers }: Pick<OperatorValues, 'workers'>): QueueSlots {
  return { perHost: workers, total: workers * hostsAtOnce, edits: Math.ceil(workers / 2) };
}

/** One for each slot. */
export function totalWorkers(values: Pick<OperatorValues, 'workers'>): number {
  const { total, edits } = queueSlotsOf(values);
  return total + edits;
}

/** Ends on shutdown (in order) or when the lease is lost (at once). */
export async function runLeader(parts: LeaderParts, { lost, isHeld }: Term): Promise<void> {
  const { values, context, queue, services, metrics, reports, watches } = parts;
  const transport = fenceWrites(parts.transport, isHeld);
  const { clock, logger, shutdown } = context;
  const ended = new AbortController();
  const stop = AbortSignal.any([lost, ended.signal]);
  const drain = closeInOrder(parts, lost, ended);
  const store = createEventStore(transport, parts.identity);
  const events = createEventRecorder({ ...context, store, signal: stop, dropped: metrics.eventDropped });
  const cluster = createCluster(transport);
  const isKnown = (key: string): boolean => isPresent(watches.get(key));
  const wake = ({ namespace, name }: ObjectKey): void => queue.add(`${namespace}/${name}`, 'due');
  const git = createGitTargets({
    ...context,
    ...services.git,
    allowedHosts: values.allowedGitHosts,
    readSecret: (key, signal) => cluster.readSecret(key, signal),
    wake,
    observe: metrics.gitTask,
    // A push that is cut off is made again by the next leader; nothing is lost or made twice.
    signal: AbortSignal.any([lost, shutdown]),
  });
  const notices = createNotifier({
    ...context,
    readSecret: (key, signal) => cluster.readSecret(key, signal),
    agent: services.notifyAgent,
    userAgent,
    allowedHosts: values.allowedNotifyHosts,
    signal: AbortSignal.any([stop, shutdown]),
    record: (object, note) => events.record(object, note),
    observe: metrics.notified,
  });
  const reconcileContext: ReconcileContext = {
    ...context,
    cluster: selectInstance(trustWatchedDeletions(cluster, isKnown), values.instance),
    git,
    exportApi: fenceCalls(services.exportApi, isHeld),
    bundles: services.bundles,
    mirrors: services.mirrors,
    planner: services.planner,
    objects: createForeignObjects(transport),
    events,
    notices,
    wake,
    startTimesOf: (budget) =>
      startTimesIn(
        watches.keys().map((key) => [key, watches.get(key)] as const),
        budget,
      ),
    isKnown: ({ namespace, name }) => isKnown(`${namespace}/${name}`),
    settings: {
      operatorLease: parts.operatorLease,
      apiBaseUrl: values.apiBaseUrl,
      allowedApiHosts: values.allowedApiHosts,
      requestTimeoutMs: values.requestTimeout,
      inspectTimeoutMs: values.inspectTimeout,
      startsPerHour: values.startsPerHour,
      defaultMirror: defaultMirrorOf(values),
    },
    // A process that stops does not finish reading archives; the next leader reads them again.
    memory: createMemory(AbortSignal.any([lost, shutdown]), parts.inspections),
  };
  const onStep = (stepMs: number): void => {
    logger.warn({ stepMs }, 'the clock was set, or the machine slept; reconciling every resource');
    queue.addDelayed();
  };
  const steps = watchClockSteps(clock, onStep, stop);
  try {
    await runController(
      {
        ...context,
        queue,
        reconcile: (key, signal) => reconcile(key, reconcileContext, signal),
        workers: totalWorkers(values),
        timeoutMs: reconcileTimeoutOf(values),
        resyncMs,
        isKnown,
        linkRemainingMs: (key) => linkRemainingMs(watches.get(key), clock.now()),
        observe: (key, result, tookMs, outcome, failed) => {
          metrics.reconciled(result, tookMs, outcome);
          reports.put(key, outcome, failed);
        },
      },
      stop,
    );
    await events.settled();
  } finally {
    ended.abort();
    await Promise.all([drain, steps]);
  }
}

/** Closes the queue when it is time to stop, and aborts reconciles after the grace period of a shutdown. */
async function closeInOrder(
  { queue, context }: LeaderParts,
  lost: AbortSignal,
  ended: AbortController,
): Promise<void> {
  const stop = AbortSignal.any([context.shutdown, lost, ended.signal]);
  if (!stop.aborted) {
    await new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  queue.close();
  await context.clock.after(drainMs, AbortSignal.any([lost, ended.signal])).catch(() => {});
  ended.abort();
}
