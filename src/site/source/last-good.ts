// The last good bundle of the disk, until it is served or another one is: opened at a start, and again after what is
// served proved damaged. Refuses to replace what is served by a copy that is not proven.

import type { BundleStore } from '../../bundle/store/store.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { isMissingOrUnreadable } from '../content/live-site.ts';
import {
  type ActivationPorts,
  activateCurrent,
  bringUp,
  isProven,
  reopenFormer,
  reportUnproven,
} from './activation.ts';

export interface LastGoodMemory {
  /** On disk, open, and not served yet. Its files may still be in a check. */
  lastGood: StoredBundle | undefined;
  /** It is to be opened: at the start, after the disk could not be read, and after what is served proved damaged. */
  opening: { readonly find: () => Promise<StoredBundle | undefined>; readonly isRetry: boolean } | undefined;
  hasReopenedFormer: boolean;
}

/** At a start. */
export function lastGoodOf(store: BundleStore): LastGoodMemory {
  const opening = { find: () => store.lastGoodAtStart(), isRetry: false };
  return { lastGood: undefined, opening, hasReopenedFormer: false };
}

/** A disk that cannot be read now may hold the only version, so it is checked again. */
export async function findLastGood({ site, logger }: ActivationPorts, memory: LastGoodMemory): Promise<void> {
  const { opening } = memory;
  memory.opening = undefined;
  if (opening === undefined || !isMissingOrUnreadable(site)) return;
  try {
    memory.lastGood = await opening.find();
  } catch (error) {
    memory.opening = { ...opening, isRetry: true };
    if (opening.isRetry) return;
    logger.warn({ error }, 'could not open the stored bundle; retrying, or downloading it');
  }
}

/** What is served answers what it can, until the copy of the disk has proven better. */
export async function serveLastGood(
  ports: ActivationPorts,
  memory: LastGoodMemory,
  signal: AbortSignal,
): Promise<void> {
  const { lastGood } = memory;
  if (lastGood === undefined || !isMissingOrUnreadable(ports.site)) return;
  memory.lastGood = undefined;
  const replaces = ports.site.view() !== undefined;
  if (!replaces) await activateCurrent(ports, lastGood);
  const isGood = await isProven(ports, lastGood, signal);
  if (replaces && isGood) await activateCurrent(ports, lastGood);
  if (isGood) return serveFormer(ports, memory, signal);
  if (replaces) await lastGood.close();
  if (signal.aborted) return;
  reportUnproven(ports, lastGood);
  memory.opening = { find: () => ports.store.lastGood(), isRetry: false };
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
