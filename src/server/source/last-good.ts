// The last good bundle of the disk, until it is served or another one is: opened at a start, and again after what is
// served proved damaged. Refuses to replace what is served by a copy that is not proven.

import type { BundleStore } from '#bundle/store/store.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { isMissingOrUnreadable, isUnreadable } from '../content/live-site.ts';
import {
  type ActivationPorts,
  activateCurrent,
  bringUp,
  isProven,
  reopenFormer,
  reportUnproven,
} from './activation.ts';
import { conflictOf } from './base-path-conflict.ts';

interface Search {
  readonly find: BundleStore['lastGood'];
  /** Monotonic ms; when it first met a fault of the disk, and when it may be tried again. */
  readonly failedAt: number | undefined;
  readonly retryAt: number;
}

/** A fault may pass. One that lasts must not hide the version behind it. */
const passingFaultMs = 10_000;
/** Each search may hash a copy, and report a bad one. */
const longestRetryMs = 30_000;

export interface LastGoodMemory {
  /** On disk, open, and not served yet. Its files may still be in a check. */
  lastGood: StoredBundle | undefined;
  /** It is to be opened: at the start, after the disk could not be read, and after what is served proved damaged. */
  opening: Search | undefined;
  hasReopenedFormer: boolean;
}

/** At a start. */
export function lastGoodOf(store: BundleStore): LastGoodMemory {
  const find: Search['find'] = (passesFaults) => store.lastGoodAtStart(passesFaults);
  return { lastGood: undefined, opening: firstSearch(find), hasReopenedFormer: false };
}

function searchIn(store: BundleStore): Search {
  return firstSearch((passesFaults) => store.lastGood(passesFaults));
}

function firstSearch(find: Search['find']): Search {
  return { find, failedAt: undefined, retryAt: Number.NEGATIVE_INFINITY };
}

export interface LastGoodPorts extends ActivationPorts {
  /** Of `--base-path`, `''` for the root. A copy that was published for another path is not served. */
  readonly fixedBasePath?: string | undefined;
}

/** A disk that cannot be read now may hold the only version, so it is checked again. */
export async function findLastGood(
  { site, clock, logger, fixedBasePath }: LastGoodPorts,
  memory: LastGoodMemory,
): Promise<void> {
  const { opening } = memory;
  const now = clock.monotonic();
  const isNeeded = opening !== undefined && isMissingOrUnreadable(site);
  if (isNeeded && now < opening.retryAt) return;
  memory.opening = undefined;
  if (!isNeeded) return;
  const { failedAt = now } = opening;
  const lastedMs = now - failedAt;
  const isPassed = lastedMs >= passingFaultMs;
  try {
    const found = await opening.find(isPassed);
    const conflict = conflictOf(found?.activation?.basePath, fixedBasePath);
    if (conflict === undefined) memory.lastGood = found;
    else {
      await found?.close();
      logger.warn({ code: conflict.code }, `not serving the stored bundle: ${conflict.message}`);
    }
  } catch (error) {
    const waitMs = isPassed ? Math.min(lastedMs / 4, longestRetryMs) : 0;
    memory.opening = { ...opening, failedAt, retryAt: now + waitMs };
    if (opening.failedAt !== undefined) return;
    logger.warn({ error }, 'could not open the stored bundle; retrying, or downloading it');
  }
}

export async function serveLastGood(
  ports: ActivationPorts,
  memory: LastGoodMemory,
  signal: AbortSignal,
): Promise<void> {
  const { lastGood } = memory;
  if (lastGood === undefined || !isMissingOrUnreadable(ports.site)) return;
  if (ports.site.view() !== undefined) return replaceUnreadable(ports, memory, lastGood, signal);
  memory.lastGood = undefined;
  await activateCurrent(ports, lastGood);
  if (await isProven(ports, lastGood, signal)) return serveFormer(ports, memory, signal);
  if (signal.aborted) return;
  reportUnproven(ports, lastGood);
  memory.opening = searchIn(ports.store);
}

/** What is served answers what it can, until the copy of the disk has proven better. */
async function replaceUnreadable(
  ports: ActivationPorts,
  memory: LastGoodMemory,
  lastGood: StoredBundle,
  signal: AbortSignal,
): Promise<void> {
  const isGood = await isProven(ports, lastGood, signal);
  // Meanwhile it stayed in memory, for those who make room. Another bundle may have come, and this one is behind it.
  if (signal.aborted || memory.lastGood !== lastGood || !isUnreadable(ports.site)) return;
  memory.lastGood = undefined;
  if (isGood) {
    await activateCurrent(ports, lastGood);
    return serveFormer(ports, memory, signal);
  }
  await lastGood.close();
  memory.opening = searchIn(ports.store);
}

/** After the first activation: adds what was served before this start, for the assets of open pages. */
export async function serveFormer(
  ports: ActivationPorts,
  memory: LastGoodMemory,
  signal: AbortSignal,
): Promise<void> {
  const { lastGood } = memory;
  memory.lastGood = undefined;
  if (lastGood !== undefined) {
    if (await isProven(ports, lastGood, signal)) ports.site.addPrevious(await bringUp(ports, lastGood));
    else await lastGood.close();
  }
  if (memory.hasReopenedFormer) return;
  memory.hasReopenedFormer = true;
  await reopenFormer(ports);
}
