// The loop of `run`: one reconcile after another, and the destinations beside it, until the signal ends it or nothing is
// left to do (`--once`). Owns the waiting between reconciles. Refuses: deciding anything about an export; the reconcile
// decides. Invariant: a signal ends it with what was reached and what failed last.

import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import type { ReconcileContext } from '#operator/loop/context.ts';
import type { Bundles } from '#operator/loop/ports.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { ReconcileRefused } from '#operator/loop/refused-reconcile.ts';
import { defaultOutputName, outputKeys } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { createPublisher, type Publishing, type RunDestination } from '../publish/publisher.ts';
import { type RunOutcome, runOutcome } from '../run-outcome.ts';
import { createFirstAnswer } from './first-answer.ts';
import { type FolderCluster, stateUnusable } from './folder-cluster.ts';
import type { GitDestination } from './git-destination.ts';
import {
  addressSetting,
  isFinal,
  type RunRules,
  reachedBy,
  refusedCall,
  refusedUntil,
  stopOf,
} from './run-end.ts';
import { stageOf } from './run-stage.ts';

/** After a reconcile that failed; the folder's faults are rarely brief. */
const failedWaitMs = 10_000;
/** A schedule and a clock that is set are looked at again. */
const longestWaitMs = 3_600_000;

/** The progress decides which of these it prints. */
const showEveryMs = 1_000;

/** Inspects in place of the worker, and keeps what it downloaded. */
export interface Keeping extends Pick<Bundles, 'inspect'> {
  /** While it downloads, it shows its own progress. */
  isWorking(): boolean;
  /** What no other attempt of a run that ends would change. */
  fault(): CliError | undefined;
}

export interface RunLoop extends RunRules {
  readonly key: ObjectKey;
  /** Of the manifest. */
  readonly spec: unknown;
  readonly cluster: FolderCluster;
  /** `wake` of it must be that of the waker. */
  readonly reconcileContext: ReconcileContext;
  readonly waker: Waker;
  readonly publishings: readonly Publishing[];
  /** Shows the events since the last call. */
  showEvents(): void;
  readonly keeping?: Keeping | undefined;
  /** Its port is that of the reconcile. */
  readonly git: Pick<GitDestination, 'read'>;
}

/** How `run --once` ended. */
export interface RunEnd {
  readonly ended: RunOutcome;
  readonly status: Status;
  readonly published: PublishedBundle | undefined;
}

/** Between the loop and what runs beside it. */
export interface Waker {
  wake(): void;
  /** @returns a promise of the next call of `wake` */
  arm(): Promise<void>;
}

export function createWaker(): Waker {
  let woken = Promise.withResolvers<void>();
  return {
    wake: () => woken.resolve(),
    arm: () => {
      woken = Promise.withResolvers();
      return woken.promise;
    },
  };
}

/**
 * @param context its signal is that of the user's stop
 * @param signal ends the loop: the stop, and with `--once` the deadline
 * @returns with `--once` alone
 * @throws {CliError} of a destination that fails for good; after the signal, `stopOf`
 */
export async function runLoop(
  loop: RunLoop,
  context: Pick<CliContext, 'clock' | 'progress' | 'signal'>,
  signal: AbortSignal,
): Promise<RunEnd> {
  const { key, spec, cluster, reconcileContext, waker, git } = loop;
  const { clock, progress } = context;
  const manifest = parseStaticExport({ spec, status: {} }).spec;
  const outputName = manifest?.output?.name ?? defaultOutputName(key.name);
  const baseUrl = manifest?.api.baseUrl ?? loop.apiBaseUrl;
  const publishers = loop.publishings.map((one) =>
    createPublisher(
      one,
      (failure) => isFinal(failure, loop),
      { clock, progress, signal },
      () => waker.wake(),
    ),
  );
  const endsAt = clock.now() + loop.timeout;
  let status: Status = {};
  const firstAnswer = createFirstAnswer(addressSetting(loop), clock, () => {
    const { job } = status;
    // The manifest may name the job of a pin.
    return job !== undefined && job.cause !== 'Pin' && job.baseUrl === baseUrl;
  });
  const { exportApi } = reconcileContext;
  const observed: ReconcileContext = {
    ...reconcileContext,
    exportApi: { connect: (...address) => firstAnswer.watch(exportApi.connect(...address)) },
  };
  let published: PublishedBundle | undefined;
  let destinations: readonly RunDestination[] = publishers;
  try {
    for (;;) {
      const woken = waker.arm();
      const waitMs = await reconcileOnce(loop, observed, signal);
      published = await readPublished(cluster, { ...key, name: outputName });
      if (published !== undefined) for (const one of publishers) one.aim(published);
      const object = await cluster.readStaticExport(key, signal);
      status = parseStaticExport({ spec, status: object?.status }).status;
      const pushed = git.read(status);
      destinations = [...publishers, pushed];
      const isWorking = destinations.some((one) => one.isWorking());
      const ended = refusedCall(status, loop) ?? runOutcome(status, object?.metadata.generation ?? 0);
      // After a link that was due, a request still waits for its start.
      const isDue = waitMs === 0;
      // A repository that refuses the last version may take the one that is being exported.
      const final = ended === undefined || isDue ? publishers : destinations;
      const failure = final.map((one) => one.failure()).find((one) => one !== undefined);
      if (failure !== undefined && !isWorking && isFinal(failure, loop))
        throw failure.reaching(reachedBy(published, destinations));
      const isSought = loop.once && !isWorking && ended?.outcome !== 'done';
      const wrong = isSought ? (firstAnswer.fault() ?? loop.keeping?.fault()) : undefined;
      if (wrong !== undefined) throw wrong.reaching(reachedBy(published, destinations));
      const isPublished = published === undefined || destinations.every((one) => one.isDone());
      if (loop.once && isPublished && !isDue) {
        // The operator ends its attempts sooner than a service may start.
        const isAwaited = ended?.outcome === 'temporary' && firstAnswer.isUnreached();
        if (ended !== undefined && !isAwaited) return { ended, status, published };
        const refused = refusedUntil(endsAt, status, loop);
        if (refused !== undefined) throw refused.reaching(reachedBy(published, destinations));
      }
      const pauseMs = Math.min(
        waitMs ?? failedWaitMs,
        longestWaitMs,
        ...(loop.once ? [firstAnswer.waitMs()] : []),
        ...(published === undefined ? [] : publishers.map((one) => one.waitMs())),
      );
      // What is downloaded or written shows its own progress.
      const isShown = publishers.some((one) => one.isWorking()) || loop.keeping?.isWorking() === true;
      const stage = isShown ? undefined : stageOf(status, { ...loop, isPushing: pushed.isWorking() });
      if (stage !== undefined) progress.phase(stage.phase);
      const advance = stage?.advance;
      const show = advance && (() => progress.advance(...advance));
      loop.showEvents();
      await pause(woken, pauseMs, show, clock, signal);
    }
  } catch (error) {
    throw signal.aborted ? stopOf(error, { status, published, destinations }, loop, context.signal) : error;
  } finally {
    await Promise.all(publishers.map((one) => one.close()));
  }
}

/**
 * Waits for a wake-up, at most `pauseMs`.
 *
 * @param show is called meanwhile: hours may pass between two reconciles, and a pipeline ends what prints nothing
 * @throws the signal's reason
 */
async function pause(
  woken: Promise<void>,
  pauseMs: number,
  show: (() => void) | undefined,
  clock: CliContext['clock'],
  signal: AbortSignal,
): Promise<void> {
  const endsAt = clock.monotonic() + pauseMs;
  let isOver = false;
  const wake = woken.then(() => {
    isOver = true;
  });
  while (!isOver) {
    show?.();
    const leftMs = Math.max(0, endsAt - clock.monotonic());
    const waitMs = show === undefined ? leftMs : Math.min(leftMs, showEveryMs);
    const stop = new AbortController();
    await Promise.race([wake, clock.after(waitMs, AbortSignal.any([signal, stop.signal]))]);
    stop.abort();
    signal.throwIfAborted();
    isOver ||= clock.monotonic() >= endsAt;
  }
}

/** @returns ms until the next reconcile */
async function reconcileOnce(
  { key, once }: Pick<RunLoop, 'key' | 'once'>,
  context: ReconcileContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return (await reconcile(key, context, signal)).wakeAfterMs;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError || error instanceof ReconcileRefused)) throw error;
    if (once && error instanceof ClusterError && error.code === 'Unavailable') throw stateUnusable(error);
    context.logger.warn({ error }, 'reconcile failed');
    return failedWaitMs;
  }
}

async function readPublished(cluster: FolderCluster, key: ObjectKey): Promise<PublishedBundle | undefined> {
  const secret = await cluster.readSecret(key, new AbortController().signal);
  const bytes = secret?.data[outputKeys.bundle];
  return bytes === undefined ? undefined : parsePublishedBundle(Buffer.from(bytes).toString('utf8'));
}
