// The loop's port of mirrors: starts a thread for each copy, and one thread for all looks. Owns what a thread may use, and what
// its end means. Refuses a place that the flags do not allow, before any thread starts. Invariants: no answer of a mirror is
// read in the main thread; a thread gets the Secret of a resource or the operator's own credentials, never both.

import { tmpdir } from 'node:os';
import { type BundleProgress, runThreadTask } from '#bundle/bundle-task.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { type FolderWork, inWorkFolder, type PrepareTask, sentLink } from '#bundle/prepare/preparation.ts';
import { readTransform, type Transform } from '#bundle/transform.ts';
import type { MirrorError, MirrorErrorCode } from '#mirror/mirror-error.ts';
import { type MirrorSecret, readMirrorSecret } from '#mirror/mirror-secret.ts';
import type {
  CopyAnswer,
  CopyReport,
  Inspected,
  LookAnswer,
  LookTask,
  MirrorCopyTask,
  SentPlace,
  VerifyTask,
} from '#mirror/task/mirror-task.ts';
import type {
  CopiedInspection,
  CopyOrder,
  Inspection,
  MirrorPlace,
  Mirrors,
  UnusableMirror,
} from '#operator/loop/ports.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { startTaskThread, taskErrorCode } from '#platform/runtime/task.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';
import { userAgent } from '#platform/runtime/version.ts';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode, publishableFailure } from '#platform/wire/publishable-error.ts';
import { type ArchiveSizes, archiveLimits, withLimit } from './archive-limits.ts';
import { isBucketAddress, type MirrorHosts, reachOf } from './mirror-hosts.ts';

export interface MirrorsOptions {
  /** Program of the thread (`src/bin/mirror-worker.ts`, or where the build put it). */
  readonly program: URL;
  readonly hosts: MirrorHosts;
  readonly sizes: ArchiveSizes;
  readonly allowPrivateLinks: boolean;
  readonly extraCaPem: () => Promise<string | undefined>;
  /** An inspection without a copy. */
  readonly inspect: (request: PlainInspection, signal: AbortSignal) => Promise<Inspection>;
  readonly clock: Clock;
  readonly random: Random;
}

export interface PlainInspection {
  readonly link: Link;
  readonly limits: BundleLimits;
  readonly expectedDigest: string | undefined;
}

export interface MirrorThreads extends Mirrors {
  close(): Promise<void>;
}

type CopyStage = Extract<CopyReport, { readonly stage: string }>['stage'];

const failure = { code: 'PreparationFailed', work: 'preparing the bundle' };
/** A look is a few small requests; removals end themselves after a minute, and the last one takes 5 minutes at most. */
const lookTimeoutMs = 10 * 60_000;
const lookLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 12 };
/**
 * Of the whole thread, as for the search that a server makes. An archive of 199,000 files leaves 50 MB of it for the
 * search.
 */
const searchLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
const stageNames: Readonly<Record<CopyStage, string>> = {
  inspecting: 'inspection',
  searching: 'search',
  copying: 'copy',
};
const idleMs = 30_000;
/** A bound of memory: each holds credentials. */
const maxWaitingPerOwner = 64;

export function createMirrors(options: MirrorsOptions): MirrorThreads {
  const { program, hosts, sizes, clock, random } = options;
  const looks = new TaskQueue<LookTask, LookAnswer>({
    start: () => startTaskThread(program, lookLimits),
    ...{ timeoutMs: lookTimeoutMs, idleMs, maxWaitingPerOwner, clock },
  });
  const sendable = (place: MirrorPlace): Promise<SentPlace> => sentPlace(place, options);

  const copyInThread = async (
    link: Link,
    order: CopyOrder,
    limits: BundleLimits,
    signal: AbortSignal,
  ): Promise<CopiedInspection | UnusableMirror> => {
    const { address } = order.place;
    const place = await sendable(order.place).catch(unusable);
    if ('copy' in place) return place;
    const { compression, versionStamp, expectedDigest } = order;
    const steps = order.repair === undefined ? undefined : stepsOf(order.repair);
    if (steps !== undefined && 'copy' in steps) return steps;
    const transform = steps && { ...steps, expectedDigest };
    const { extraCaPem } = place.access;
    const reached: { stage?: CopyStage; inspected?: Inspected } = {};
    const work = async ({ workDir, signal: deadline, onProgress }: FolderWork) => {
      const prepare: PrepareTask = {
        ...{ task: 'prepare', ...sentLink(link), allowFileLinks: false },
        ...{ storeDir: undefined, keepsHiddenFiles: true, wantsFiles: false, workDir, limits },
        // What is published is the digest after the steps, and not that of the archive.
        ...{ expectedDigest: transform === undefined ? expectedDigest : undefined },
        ...{ extraCaPem, userAgent, allowPrivateLinks: options.allowPrivateLinks },
      };
      const task: MirrorCopyTask = {
        ...{ task: 'copy-to-mirror', place, prepare, transform, compression, versionStamp },
      };
      const onReport = (report: CopyReport): void => {
        onProgress('stage' in report ? { receivedBytes: 0, files: 0 } : report);
        if (!('stage' in report)) return;
        reached.stage = report.stage;
        if (report.stage === 'copying') reached.inspected = report.inspected;
      };
      const heap = transform?.addsSearch === true ? searchLimits : {};
      const threadOptions = { failure, limits: heap, signal: deadline, onReport };
      return runThreadTask<MirrorCopyTask, CopyAnswer, CopyReport>(program, task, threadOptions);
    };
    try {
      const { inspected, copy } = await inWorkFolder(tmpdir(), { signal, clock, random }, work);
      // Without a copy, nothing holds the content after the steps.
      return transform !== undefined && copy.kind === 'failed' ? { copy } : { ...inspected, copy };
    } catch (error) {
      if (error === signal.reason) throw error;
      // Before the mirror has answered, a failure is the mirror's; between that and the copying, the archive's.
      const { stage, inspected } = reached;
      const limit =
        stage !== undefined && transform?.addsSearch === true ? limitOfSearch(stage, error) : undefined;
      if (limit !== undefined) throw tooLargeForSearch(limit, error);
      if (stage !== undefined && inspected === undefined) throw error;
      const failed = unusable(endOfMirror(error, address));
      return transform === undefined ? { ...inspected, ...failed } : failed;
    }
  };

  return {
    refuse: (place, hasSecret) => {
      try {
        reachOf(place, hasSecret, hosts);
        return undefined;
      } catch (error) {
        return unusable(error).copy.failure;
      }
    },
    copy: async (link, order, signal, maxBytes) => {
      const limits = archiveLimits(sizes, maxBytes);
      const copied = await copyInThread(link, order, limits, signal).catch((error: unknown) => {
        throw withLimit(error, limits);
      });
      if (order.isRequired || order.repair !== undefined || 'digest' in copied) return copied;
      const { expectedDigest } = order;
      return { ...copied, ...(await options.inspect({ link, limits, expectedDigest }, signal)) };
    },
    verify: async (place, ref, digest, signal) => {
      const sent = await sendable(place);
      const limits = archiveLimits(sizes);
      const work = ({ workDir, signal: deadline, onProgress }: FolderWork) => {
        const task: VerifyTask = { task: 'verify-copy', place: sent, ref, digest, limits, workDir };
        const threadOptions = { failure, signal: deadline, onReport: onProgress };
        return runThreadTask<VerifyTask, Inspected, BundleProgress>(program, task, threadOptions);
      };
      try {
        return await inWorkFolder(tmpdir(), { signal, clock, random }, work);
      } catch (error) {
        throw withLimit(endOfMirror(error, sent.address), limits);
      }
    },
    look: async (place, { ref, digest }, retention, signal) => {
      const sent = await sendable(place);
      const task: LookTask = { task: 'look-at-mirror', place: sent, ref, digest, ...retention };
      try {
        return await looks.run(task, place.owner.namespace, signal);
      } catch (error) {
        throw endOfMirror(error, sent.address);
      }
    },
    close: () => looks.close(),
  };
}

function stepsOf(repair: string): Transform | UnusableMirror {
  const steps = readTransform(repair);
  if (typeof steps !== 'string') return steps;
  const why = `This operator has no rule ${printable(steps, 64)}. Upgrade it, or remove the rule from spec.transform.`;
  return unusable(new PublishableError<MirrorErrorCode>('WorkFailed', why, { kind: 'retry' }));
}

/** What a limit of the search ended. @returns `undefined` where no limit did */
function limitOfSearch(stage: CopyStage, error: unknown): string | undefined {
  if (!(error instanceof PublishableError)) return undefined;
  if (error.code === 'SearchTooLarge') return 'its pages have too many different words';
  if (taskErrorCode(error.cause) !== 'TaskOutOfMemory') return undefined;
  return `its ${stageNames[stage]} needs more than ${searchLimits.maxOldGenerationSizeMb} MB of memory`;
}

/** Another download of the same archive would end the same way, so it is refused like other content. */
function tooLargeForSearch(why: string, cause: unknown): PublishableError {
  const message = `the site is too large for spec.transform.search: ${why}; remove the field, and let servers make the search with --search`;
  return new PublishableError('TooLargeForSearch', message, { kind: 'refused', cause });
}

/** @throws what says nothing about the mirror, such as a defect */
function unusable(error: unknown): UnusableMirror {
  if (!(error instanceof PublishableError)) throw error;
  return { copy: { kind: 'failed', failure: publishableFailure(error) } };
}

/** @throws {MirrorError} for a place that the flags do not allow, or credentials that cannot be read */
async function sentPlace(
  place: MirrorPlace,
  { hosts, extraCaPem }: Pick<MirrorsOptions, 'hosts' | 'extraCaPem'>,
): Promise<SentPlace> {
  const { address, endpoint, region, pathStyle } = place;
  const { namespace, name, uid, isExclusive } = place.owner;
  // Without a Secret it is the default mirror, or refused here.
  const reach = reachOf(place, place.secret !== undefined, hosts);
  const folder = hosts.defaultMirror?.credentialsFolder;
  const own = folder === undefined ? undefined : () => readMirrorSecret(folder);
  const secret = place.secret ?? (await own?.());
  return {
    address,
    access: {
      ...{ endpoint, region, pathStyle, ...reach, userAgent },
      secret: secret && ownBytes(secret),
      extraCaPem: await extraCaPem(),
    },
    usesIdentity: secret === undefined && isBucketAddress(address),
    owner: { namespace, name, uid },
    isExclusive,
  };
}

/** A clone of a view would take the whole of its memory with it, such as neighbours in Node's pool. */
function ownBytes({ name, data }: MirrorSecret): MirrorSecret {
  const entries = Object.entries(data).map(([key, bytes]) => [key, Uint8Array.from(bytes)]);
  return { name, data: Object.fromEntries(entries) };
}

/** What a thread's end means for work on a mirror. @returns the error of the work itself, or a stop, as it is */
function endOfMirror(error: unknown, address: string): unknown {
  const retried = (code: MirrorErrorCode, message: string): MirrorError =>
    new PublishableError(code, message, { kind: 'retry', cause: error });
  const isDeadline = error instanceof DOMException && error.name === 'TimeoutError';
  const code = error instanceof PublishableError ? error.code : undefined;
  if (isDeadline || code === 'PreparationTimeout' || code === 'TaskTimeout') {
    return retried(
      'Unreachable',
      `Work on ${address} took longer than allowed. Check the mirror and the network.`,
    );
  }
  if (code === 'TaskQueueFull') {
    return retried('Unreachable', 'Too many checks of mirrors of this namespace wait.');
  }
  if (code === failure.code || code === 'TaskFailed' || code === 'TaskOutOfMemory') {
    return retried('WorkFailed', `Work on ${address} failed unexpectedly (${publishableCode(error)}).`);
  }
  return error;
}
