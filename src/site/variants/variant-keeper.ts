// Gives the active bundle its coded forms: a thread looks for them on disk or makes them, and the bundle serves
// them from then on. Owns the thread's life: one at a time, ended when another bundle becomes active.
// Invariant: whatever the thread does (fails, crashes, is too late), the site goes on with files as they are.

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { bundleFolder } from '../../bundle/store/store-layout.ts';
import { openPack } from '../../bundle/store/stored-bundle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { PublishableError, publishableCode, publishableMessage } from '../../wire/publishable-error.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import { readVariantTable, type VariantTable } from '../content/variant-table.ts';
import type { ContentCoding } from '../http/content-coding.ts';
import { variantPackName } from './variant-making.ts';
import { parseVariantReport, type VariantOrder, type VariantReport } from './variant-message.ts';

export interface VariantSettings {
  readonly storeDir: string;
  /** None: files are sent as they are. */
  readonly codings: readonly ContentCoding[];
  /** Share of one core, 1 to 100. */
  readonly cpuPercent: number;
  /** A bundle and its coded forms never take more than this on disk. */
  readonly maxBundleBytes: number;
}

/** Does one order. Resolves with its word; rejects when it ends without one, or with the signal's reason. */
export type MakeVariants = (order: VariantOrder, signal: AbortSignal) => Promise<VariantReport>;

export interface VariantKeeperPorts {
  readonly make: MakeVariants;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type VariantState = 'off' | 'idle' | 'making' | 'ready' | 'failed';

export interface VariantKeeper {
  /** Sees to the forms of the bundle that has just become active; gives up those of the former one. */
  readonly attend: (bundle: LiveBundle) => void;
  readonly state: () => VariantState;
  /** Resolves when the thread is gone. */
  readonly stop: () => Promise<void>;
}

export function createVariantKeeper(settings: VariantSettings, ports: VariantKeeperPorts): VariantKeeper {
  let state: VariantState = settings.codings.length === 0 ? 'off' : 'idle';
  let giveUp = new AbortController();
  let work: Promise<void> = Promise.resolve();

  const attend = (bundle: LiveBundle): void => {
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
      .then(() => equip(bundle, settings, ports, own.signal))
      .then((outcome) => {
        if (!own.signal.aborted) state = outcome;
      });
  };
  return {
    attend,
    state: () => state,
    stop: () => {
      giveUp.abort();
      return work;
    },
  };
}

/** Never rejects. */
async function equip(
  bundle: LiveBundle,
  { storeDir, codings, cpuPercent, maxBundleBytes }: VariantSettings,
  { make, clock, logger }: VariantKeeperPorts,
  signal: AbortSignal,
): Promise<'ready' | 'failed'> {
  const { digest } = bundle;
  const { index } = bundle.stored;
  const folder = bundleFolder(storeDir, digest);
  const maxBytes = Math.max(0, maxBundleBytes - index.sizeBytes);
  const began = clock.monotonic();
  try {
    signal.throwIfAborted();
    const report = await make({ folder, digest, codings, cpuPercent, maxBytes }, signal);
    if (report.type === 'failed') throw new VariantsMissing(report.code, report.message);
    const table = requireTable(readVariantTable(report.numbers, index.files));
    bundle.attach(table, await openPack(join(folder, variantPackName), index, undefined));
    const { isPartial, isFound } = report;
    const tookMs = Math.round(clock.monotonic() - began);
    logger.info(
      { digest, ...table.counts, sizeBytes: table.sizeBytes, isPartial, isFound, tookMs },
      'coded forms are served',
    );
    return 'ready';
  } catch (error) {
    if (!signal.aborted) {
      const reason = { code: publishableCode(error), reason: publishableMessage(error) };
      logger.warn({ digest, ...reason }, 'no coded forms; files are sent as they are');
    }
    return 'failed';
  }
}

class VariantsMissing extends PublishableError {}

function requireTable(table: VariantTable | undefined): VariantTable {
  if (table !== undefined) return table;
  throw new VariantsMissing(
    'VariantsForeign',
    'the coded forms belong to another bundle; they are left alone',
  );
}

/** Heap of the thread; the bodies it codes lie outside of it. */
const maxHeapMb = 96;

/** @param workerUrl program of the worker (`src/bin/variant-worker.ts`, or where the build put it) */
export function makeInWorker(workerUrl: URL): MakeVariants {
  return async (order, signal) => {
    const worker = new Worker(workerUrl, {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    const settled = new AbortController();
    try {
      return await new Promise((resolve, reject) => {
        const abort = (): void => reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true, signal: settled.signal });
        worker.on('message', (message: unknown) => {
          try {
            resolve(parseVariantReport(message));
          } catch (error) {
            reject(threadLost(error));
          }
        });
        worker.on('error', (error) => reject(threadLost(error)));
        worker.on('exit', () => reject(threadLost(undefined)));
      });
    } finally {
      settled.abort();
      await worker.terminate();
    }
  };
}

function threadLost(cause: unknown): VariantsMissing {
  return new VariantsMissing(
    'VariantThreadLost',
    'the thread that codes files ended unexpectedly (out of memory, or a defect); the next start tries again',
    { cause },
  );
}
