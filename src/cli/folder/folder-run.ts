// One run over a folder, of `run` and of `export`: the services of the reconcile, the loop (run-loop.ts), and their end.
// Refuses: reading a manifest or flags, and saying what the run's result is; its caller does. Invariant: events that the
// run's error repeats are not shown.

import { createMemory } from '#operator/loop/memory.ts';
import { noNotices } from '#operator/loop/ports.ts';
import { resendWaitMs } from '#operator/reconcile/adopt.ts';
import type { Baseline } from '#operator/reconcile/observation.ts';
import { openExternalServices } from '#operator/services/external-services.ts';
import { createGitPusher, gitSettings } from '#operator/services/git-pusher.ts';
import { createGitTargets } from '#operator/services/git-targets.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import type { EventNote, ObjectKey } from '#platform/wire/cluster.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import type { SizeLimits } from '../bundle/reading.ts';
import { failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Publishing } from '../publish/publisher.ts';
import { type FolderCluster, noObjects } from './folder-cluster.ts';
import { watchGitTargets } from './git-destination.ts';
import { createPlainLog } from './plain-log.ts';
import type { RunRules } from './run-end.ts';
import { createRunEvents } from './run-events.ts';
import { createWaker, type Keeping, type RunEnd, runLoop } from './run-loop.ts';

export interface RunHosts {
  readonly allowedApiHosts: readonly string[];
  readonly allowedGitHosts: readonly string[];
  readonly allowedMirrorHosts: readonly string[];
  readonly allowPrivateMirrorHosts: boolean;
}

export interface FolderRun extends RunRules, RunHosts, SizeLimits {
  readonly key: ObjectKey;
  readonly extraCaFile: string | undefined;
  readonly requestTimeout: number;
  readonly inspectTimeout: number;
  readonly startsPerHour: number;
  readonly publishings: readonly Publishing[];
  readonly baseline?: Baseline;
  /** False where the manifest is not a user's. */
  readonly namesKeySecret?: boolean;
  readonly keeping?: Keeping;
  /** Default: each event is. */
  readonly isEventShown?: (event: EventNote) => boolean;
}

/**
 * The process that sent a start has ended, and its lock with it: its answer is lost, and the same key may be sent again. The
 * record keeps its age.
 */
async function renewStart(
  { key, requestTimeout }: FolderRun,
  cluster: FolderCluster,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const object = await cluster.readStaticExport(key, signal);
  const { start, ...status } = parseStatus(object?.status);
  if (object === undefined || start === undefined) return;
  const sentAt = Math.min(readInstant(start.lastAttemptTime) ?? 0, now - resendWaitMs(requestTimeout));
  const renewed = { ...start, attempts: 0, lastAttemptTime: formatInstant(sentAt) };
  await cluster.writeStatus(object, { ...status, start: renewed }, signal);
}

/**
 * @param conclude what the run is, once nothing is left to do; may throw
 * @param signal ends the run: the user's stop, and with `once` the deadline, which began with the command
 * @returns with `once` alone
 * @throws {PublishableError} {CliError} as `runLoop`
 */
export async function runOverFolder<T>(
  run: FolderRun,
  cluster: FolderCluster,
  conclude: (end: RunEnd) => T | Promise<T>,
  context: CliContext,
  signal: AbortSignal,
): Promise<T> {
  const { clock, random, progress } = context;
  const events = createRunEvents((line, level) => progress.note(line, level), run.isEventShown);
  const logger = createPlainLog((line) => progress.note(line, 'warning'), events.recordRetry);
  const services = await openExternalServices(
    {
      ...run,
      requestTimeoutMs: run.requestTimeout,
      maxArchiveBytes: run.maxArchiveSize,
      maxBundleBytes: run.maxBundleSize,
      callsAtOnce: 2,
      proxy: requireProxySettings(context.env),
      bundleWorker: context.bundleWorker,
      valuesWorker: context.valuesWorker,
      mirrorWorker: context.mirrorWorker,
      mirrors: {
        allowedHosts: run.allowedMirrorHosts,
        allowPrivateHosts: run.allowPrivateMirrorHosts,
        defaultMirror: undefined,
      },
    },
    { clock, random, logger },
  );
  const waker = createWaker();
  // Repositories are read again minutes later, and an archive is downloaded, which no longer concerns a run that has ended.
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const pusher = createGitPusher(context.gitWorker, clock);
  const git = watchGitTargets(
    createGitTargets({
      ...{ clock, random, pusher },
      signal: running,
      settings: async () => gitSettings(run.allowPrivateLinks, await services.extraCaPem()),
      allowedHosts: run.allowedGitHosts,
      readSecret: cluster.readSecret,
      wake: () => waker.wake(),
      observe: () => {},
    }),
  );
  const reconcileContext = {
    ...services,
    ...{ cluster, clock, random, logger },
    bundles: { ...services.bundles, ...(run.keeping && { inspect: run.keeping.inspect }) },
    objects: noObjects,
    git: git.port,
    events: {
      record: (_object: unknown, event: EventNote) => events.record(event),
    },
    notices: noNotices,
    wake: () => waker.wake(),
    isKnown: () => true,
    // Its one resource has its own in its status.
    startTimesOf: () => new Map<string, readonly number[]>(),
    settings: {
      operatorLease: 'static-export/run',
      apiBaseUrl: run.apiBaseUrl,
      allowedApiHosts: run.allowedApiHosts,
      requestTimeoutMs: run.requestTimeout,
      inspectTimeoutMs: run.inspectTimeout,
      startsPerHour: run.startsPerHour,
      saysNext: false,
      isAwaited: run.once,
      namesKeySecret: run.namesKeySecret,
      baseline: run.baseline,
    },
    memory: createMemory(running),
  };
  const loop = {
    ...run,
    ...{ cluster, reconcileContext, waker, git },
    showEvents: () => events.show(),
  };
  try {
    await renewStart(run, cluster, clock.now(), signal);
    const result = await conclude(await runLoop(loop, context, signal));
    events.show();
    return result;
  } catch (error) {
    events.end(failureOf(error));
    throw error;
  } finally {
    ended.abort();
    await Promise.all([services.close(), pusher.close()]);
  }
}
