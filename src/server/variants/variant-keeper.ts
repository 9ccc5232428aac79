// Gives the active bundle its precompressed variants: a thread finds them on disk or makes them, and the bundle serves
// them from then on. Owns the thread: one at a time, ended when another bundle becomes active.
// Invariant: whatever the thread does (fails, crashes, is too late), the site goes on with files as they are.

import { join } from 'node:path';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { runTask } from '#platform/runtime/task.ts';
import { unlessAborted } from '#platform/runtime/time-limit.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import { readVariantTable } from '../content/variant-table.ts';
import { createBundleWork, describeWork, untilProven } from '../made/bundle-work.ts';
import { variantNames } from '../made/stored-addition.ts';
import type { BundleServerFlags } from '../server-flags.ts';
import type { PreparedVariants, VariantTask } from './variant-task.ts';

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
  /**
   * Starts the variants of the bundle that has just become active; gives up those of the one before.
   *
   * @param settled resolves when what is served of the bundle does not change any more; it never rejects
   */
  readonly prepareFor: (bundle: LiveBundle, settled?: Promise<void>) => void;
  readonly state: () => VariantState;
  /** Resolves when the thread is gone. */
  readonly stop: () => Promise<void>;
}

export function createVariantKeeper(settings: VariantSettings, ports: VariantKeeperPorts): VariantKeeper {
  const work = createBundleWork<VariantState>(settings.encodings.length === 0 ? 'off' : 'idle');
  const prepareFor = (bundle: LiveBundle, settled?: Promise<void>): void => {
    work.giveUp();
    if (work.state() === 'off') return;
    if (bundle.variants() !== undefined) {
      work.settle('ready');
      return;
    }
    void work.begin('making', (signal) => attachVariants(bundle, settled, settings, ports, signal));
  };
  return { prepareFor, state: work.state, stop: work.stop };
}

/** Never rejects. */
async function attachVariants(
  bundle: LiveBundle,
  settled: Promise<void> | undefined,
  settings: VariantSettings,
  { make, clock, logger }: VariantKeeperPorts,
  signal: AbortSignal,
): Promise<'ready' | 'failed'> {
  const { digest } = bundle;
  const { encodings } = settings;
  const described = describeWork(bundle, settings);
  const { folder } = described;
  const began = clock.monotonic();
  try {
    await untilProven(bundle, signal);
    if (settled !== undefined) await unlessAborted(settled, signal);
    const { index } = bundle;
    const additions = bundle.extension()?.additions;
    const task = { ...described, additions, encodings };
    const { numbers, isPartial, isFound } = await make(task, signal);
    const table = readVariantTable(numbers, index.files);
    if (table === undefined)
      throw new PublishableError('VariantsForeign', 'the variants are of another bundle');
    const pack = await openPack(join(folder, variantNames.pack), index, undefined);
    if (signal.aborted) {
      await pack.close();
      signal.throwIfAborted();
    }
    bundle.attach(table, pack);
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
