// Keeps the site on what is published: check, decide, act, sleep. Owns the memory between two checks: the failed attempt,
// the link whose content is served, and when lost content was obtained again.
// Invariant: the old version is served until the new one is whole, verified and open. A failure is kept as progress and
// retried; nothing here ends the process.

import { bundleErrorKind } from '#bundle/bundle-error.ts';
import { isFileMissing } from '#bundle/fetch/local-archive.ts';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import { isMissingOrUnreadable, isUnreadable } from '../content/live-site.ts';
import { activate, isStoreFull, makeRoom, relabel } from './activation.ts';
import {
  type BringIn,
  type BundleRequest,
  type BundleSourcesPorts,
  obtainBundle,
  obtainOffered,
} from './bundle-source.ts';
import {
  findLastGood,
  type LastGoodMemory,
  type LastGoodPorts,
  lastGoodOf,
  serveFormer,
  serveLastGood,
} from './last-good.ts';
import type { PublishedContent } from './published-content.ts';
import {
  decideSource,
  type FailedAttempt,
  isSameContent,
  noteSourceFailure,
  type SourceDecision,
  sourceFailureOf,
} from './source-decision.ts';
import {
  type LogProgress,
  progressAfter,
  progressLogger,
  type SourceProgress,
  startingProgress,
} from './source-progress.ts';

export interface SourceWatchPorts extends LastGoodPorts, BundleSourcesPorts {
  readonly content: PublishedContent;
  readonly random: Random;
  readonly pollMs: number;
  /** Of the store's disk, where it says so. */
  readonly freeBytes: () => Promise<number | undefined>;
  /** With nothing served, how long to wait for a download before serving the last good bundle meanwhile. */
  readonly startupTimeoutMs: number;
}

export interface SourceWatch {
  readonly progress: () => SourceProgress;
  /** Resolves once the signal has aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface Memory extends LastGoodMemory {
  progress: SourceProgress;
  readonly log: LogProgress;
  failed: FailedAttempt | undefined;
  settledLink: Link | undefined;
  /** Monotonic ms; when content that the disk had lost was obtained again. */
  renewedAt: number;
}

export function createSourceWatch(ports: SourceWatchPorts): SourceWatch {
  const memory: Memory = {
    progress: startingProgress,
    log: progressLogger(ports.logger, ports.content.kind),
    failed: undefined,
    settledLink: undefined,
    ...lastGoodOf(ports.store),
    renewedAt: Number.NEGATIVE_INFINITY,
  };
  return {
    progress: () => memory.progress,
    run: async (signal) => {
      await findLastGood(ports, memory);
      for (let immediate = 0; !signal.aborted; ) {
        const waitMs = await checkOnce(ports, memory, signal).catch((error: unknown) => {
          if (!signal.aborted) ports.logger.error({ error }, 'checking the source failed');
          return ports.pollMs;
        });
        immediate = waitMs > 0 ? 0 : immediate + 1;
        const pauseMs = immediate > maxImmediateChecks ? ports.pollMs : waitMs;
        await ports.clock.after(pauseMs, signal).catch(() => {});
      }
    },
  };
}

/** Each action is followed by another check at once; a file that is still being written must not cause a hot loop. */
const maxImmediateChecks = 5;

/** One check and its action. Returns how long to wait before the next. */
async function checkOnce(ports: SourceWatchPorts, memory: Memory, signal: AbortSignal): Promise<number> {
  await ports.record.retry();
  await findLastGood(ports, memory);
  const decision = await check(ports, memory);
  switch (decision.action) {
    case 'rest':
      if (decision.because === 'in-sync') memory.failed = undefined;
      return ports.pollMs;
    case 'wait':
      return (await obtainMeanwhile(ports, memory, signal)) ? 0 : Math.min(ports.pollMs, decision.waitMs);
    case 'relabel':
      await relabel(ports, decision.name);
      return 0;
    case 'serve-last-good':
      await serveLastGood(ports, memory, signal);
      return 0;
    case 'obtain':
      await obtain(ports, memory, decision.published, signal);
      return 0;
    default:
      return decision satisfies never;
  }
}

/**
 * While the link has expired or its archive is rejected, another source may offer what is published. The failure is
 * forgotten with a good copy only, because an offer may be wrong.
 */
async function obtainMeanwhile(
  ports: SourceWatchPorts,
  memory: Memory,
  signal: AbortSignal,
): Promise<boolean> {
  const { failed, progress } = memory;
  if (failed === undefined || failed.kind === 'no-room' || progress.published === undefined) return false;
  if (!ports.sources.some(({ obtainNow }) => obtainNow !== undefined)) return false;
  const published = { ...progress.published, link: failed.link };
  return bringIn(ports, memory, published, signal, async (whileWanted, onProgress) => {
    const request = { published, onProgress, isWantedUnstored: () => false, isRetry: true };
    const offered = await obtainOffered(ports, request, whileWanted);
    if (offered === undefined) return false;
    noteObtained(ports, memory);
    await activate(ports, offered, published);
    return true;
  });
}

async function check(ports: SourceWatchPorts, memory: Memory): Promise<SourceDecision> {
  const reading = await ports.content.read();
  const { lastGood } = memory;
  const active = isLost(ports, memory) ? undefined : ports.site.view()?.active;
  const decision = decideSource({
    reading,
    active: active && {
      digest: active.bundle.digest,
      version: active.version,
      basePath: active.basePath,
    },
    lastGood: lastGood && { digest: lastGood.index.digest, version: lastGood.activation?.version },
    settledLink: memory.settledLink,
    failed: memory.failed,
    freeBytes: memory.failed?.kind === 'no-room' ? await ports.freeBytes() : undefined,
    monotonicMs: ports.clock.monotonic(),
  });
  const before = memory.progress;
  memory.progress = progressAfter(before, reading, decision, ports.clock.now());
  memory.log(before, memory.progress);
  return decision;
}

/** Obtaining it checks or fetches all of the content, and a disk that fails may go on failing. */
const renewalPauseMs = 60_000;

/** The disk no longer gives what is served: it is obtained again while the old view answers what it still can. */
function isLost({ site, clock }: SourceWatchPorts, { renewedAt }: Memory): boolean {
  return isUnreadable(site) && clock.monotonic() - renewedAt >= renewalPauseMs;
}

function noteObtained({ site, clock }: SourceWatchPorts, memory: Memory): void {
  if (isUnreadable(site)) memory.renewedAt = clock.monotonic();
}

/** Meanwhile serves the last good bundle after the startup timeout, and stops when other content is published. */
async function bringIn(
  ports: SourceWatchPorts,
  memory: Memory,
  published: ServedBundle,
  signal: AbortSignal,
  work: BringIn,
): Promise<boolean> {
  const done = new AbortController();
  const superseded = new AbortController();
  const meanwhile = AbortSignal.any([signal, done.signal]);
  const ignore = (): void => {};
  const onTheSide = Promise.all([
    ports.clock
      .after(ports.startupTimeoutMs, meanwhile)
      .then(() => serveLastGood(ports, memory, signal), ignore),
    untilOtherIsWanted(ports, memory, published, meanwhile).then(() => superseded.abort(), ignore),
  ]);
  // It is awaited after the work, which may outlast its failure.
  onTheSide.catch(ignore);
  try {
    const noteProgress: BundleRequest['onProgress'] = (download) => {
      memory.progress = { ...memory.progress, download };
    };
    const isHere = await work(AbortSignal.any([signal, superseded.signal]), noteProgress, () => done.abort());
    if (!isHere) return false;
    await serveFormer(ports, memory, signal);
    memory.failed = undefined;
    memory.settledLink = published.link;
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    // What is served could not be stored: this attempt has a wait of its own.
    if (isUnreadable(ports.site)) memory.renewedAt = Number.NEGATIVE_INFINITY;
    if (!superseded.signal.aborted) {
      noteFailure(ports, memory, published, error);
      const isLastGoodKnown = memory.opening === undefined;
      if (isLastGoodKnown && isStoreFull(error) && (await makeRoom(ports, memory.lastGood, signal))) {
        memory.failed = undefined;
      }
    }
    return false;
  } finally {
    done.abort();
    await onTheSide;
    memory.progress = { ...memory.progress, download: undefined };
  }
}

/** Resolves when other content is published than is being obtained. Rejects once the signal has aborted. */
async function untilOtherIsWanted(
  ports: SourceWatchPorts,
  memory: Memory,
  published: ServedBundle,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await ports.clock.after(ports.pollMs, signal);
    const reading = await ports.content.read();
    signal.throwIfAborted();
    memory.progress = { ...memory.progress, lastCheckedAt: ports.clock.now() };
    if (reading.kind === 'published' && !isSameContent(reading.published, published)) return;
  }
}

function obtain(
  ports: SourceWatchPorts,
  memory: Memory,
  published: ServedBundle,
  signal: AbortSignal,
): Promise<boolean> {
  return bringIn(ports, memory, published, signal, async (whileWanted, onProgress, onVerified) => {
    const { active } = ports.site.view() ?? {};
    const [digest, lost] = isLost(ports, memory) ? [undefined, active] : [active?.bundle.digest, undefined];
    const isWanted = published.version !== undefined && lost?.version === published.version;
    const lostDigest = isWanted ? lost.bundle.digest : undefined;
    const isWantedUnstored = (): boolean => isMissingOrUnreadable(ports.site);
    const isRetry = sourceFailureOf(memory.failed, published) !== undefined;
    const request = { published, onProgress, lostDigest, isWantedUnstored, isRetry };
    const obtained = await obtainBundle(ports, request, digest, whileWanted);
    onVerified();
    noteObtained(ports, memory);
    // Content without a version keeps the one it had; a new version is recorded.
    const { version = active?.version, basePath } = published;
    if (obtained.kind === 'bundle') await activate(ports, obtained, published);
    else if (published.version !== undefined || active?.basePath !== basePath) {
      await relabel(ports, { version, basePath });
    }
    return true;
  });
}

function noteFailure(
  { clock, random, logger, pollMs }: SourceWatchPorts,
  memory: Memory,
  published: ServedBundle,
  error: unknown,
): void {
  const isMissing = isFileMissing(error);
  const kind = isMissing ? 'no-file' : isStoreFull(error) ? 'no-room' : bundleErrorKind(error);
  const now = clock.now();
  const wait = isMissing ? { retryAfterMs: pollMs } : error instanceof PublishableError ? error : {};
  const fraction = random.fraction();
  memory.failed = noteSourceFailure(memory.failed, published, kind, clock.monotonic(), fraction, wait);
  const code = publishableCode(error);
  const message = publishableMessage(error);
  const isRepeated = isMissing && memory.progress.lastError?.message === message;
  memory.progress = { ...memory.progress, lastError: { code, message, at: now } };
  // A file is checked at every poll, which would fill the log.
  if (isRepeated) return;
  logger.warn({ error, kind, version: published.version, attempts: memory.failed.count }, message);
}
