// Gives the active bundle its precompressed variants: a thread finds them on disk or makes them, and the bundle serves
// them from then on. Owns the thread: one at a time, ended when another bundle becomes active.
// Invariant: whatever the thread does (fails, crashes, is too late), the site goes on with files as they are.

import { join } from 'node:path';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { runTask } from '#platform/runtime/task.ts';
import { unlessAborted } from '#platform/runtime/time-limit.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import { readVariantTable } from '../content/variant-table.ts';
import type { BundleServerFlags } from '../server-flags.ts';
import { type PreparedVariants, type VariantTask, variantPackName } from './variant-task.ts';

export type VariantSettings = Pick<
  BundleServerFlags,
  'store' | 'encodings' | 'encodingCpu' | 'maxBundleSize'
>;

/** Rejects with what the thread threw, or with the signal's reason. */
export type MakeVariants = (task: VariantTask, signal: AbortSignal) => Promise<PreparedVariants>;

export interface VariantKeeperPorts {
  readonly make: MakeVariants;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type VariantState = 'off' | 'idle' | 'making' | 'ready' | 'failed';

export interface VariantKeeper {
  /** Starts the variants of the bundle that has just become active; gives up those of the one before. */
  readonly prepareFor: (bundle: LiveBundle) => void;
  readonly state: () => VariantState;
  /** Resolves when the thread is gone. */
  readonly stop: () => Promise<void>;
}

export function createVariantKeeper(settings: VariantSettings, ports: VariantKeeperPorts): VariantKeeper {
  let state: VariantState = settings.encodings.length === 0 ? 'off' : 'idle';
  let giveUp = new AbortController();
  let work: Promise<void> = Promise.resolve();

  const prepareFor = (bundle: LiveBundle): void => {
    giveUp.abort();
    if (state === 'off') return;
    if (bundle.variants() !== undefined) {
      state = 'ready';
      return;
    }
    const own = new AbortController();
    giveUp = own;
    state = 'making';
    work = work
      .then(() => attachVariants(bundle, settings, ports, own.signal))
      .then((outcome) => {
        if (!own.signal.aborted) state = outcome;
      });
  };
  return {
    prepareFor,
    state: () => state,
    stop: () => {
      giveUp.abort();
      return work;
    },
  };
}

/** Never rejects. */
async function attachVariants(
  bundle: LiveBundle,
  { store, encodings, encodingCpu, maxBundleSize }: VariantSettings,
  { make, clock, logger }: VariantKeeperPorts,
  signal: AbortSignal,
): Promise<'ready' | 'failed'> {
  const { digest } = bundle;
  const { index } = bundle.stored;
  const folder = bundleFolder(store, digest);
  const maxBytes = Math.max(0, maxBundleSize - index.sizeBytes);
  const began = clock.monotonic();
  try {
    // The thread reads the files where they are stored.
    await bundle.committed;
    signal.throwIfAborted();
    // The check of its files comes first: it proves what large files wait for.
    await unlessAborted(bundle.stored.proven(), signal);
    const task = { folder, digest, encodings, cpuPercent: encodingCpu, maxBytes };
    const { numbers, isPartial, isFound } = await make(task, signal);
    const table = readVariantTable(numbers, index.files);
    if (table === undefined)
      throw new PublishableError('VariantsForeign', 'the variants are of another bundle');
    bundle.attach(table, await openPack(join(folder, variantPackName), index, undefined));
    const tookMs = Math.round(clock.monotonic() - began);
    logger.info(
      { digest, ...table.counts, sizeBytes: table.sizeBytes, isPartial, isFound, tookMs },
      'precompressed variants are served',
    );
    return 'ready';
  } catch (error) {
    if (!signal.aborted) {
      const reason = { code: publishableCode(error), reason: publishableMessage(error) };
      logger.warn({ digest, ...reason }, 'could not precompress files; they are sent uncompressed');
    }
    return 'failed';
  }
}

/** Heap of the thread; the bodies that it compresses lie outside of it. */
const limits = { maxOldGenerationSizeMb: 96 };

/** @param program of the thread (`src/bin/variant-worker.ts`, or where the build put it) */
export function makeInWorker(program: URL): MakeVariants {
  return (task, signal) => runTask<VariantTask, PreparedVariants>(program, task, { limits, signal });
}
