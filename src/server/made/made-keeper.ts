// Gives the active bundle the files that are made from it, and its pages their line: a thread finds them on disk or makes them, and
// the site shows them from then on. Owns the thread: one at a time, ended when another bundle becomes active.
// Invariant: whatever the thread does (fails, crashes, is too late), the site goes on with the bundle as it is.

import { join } from 'node:path';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { runTask } from '#platform/runtime/task.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import { type Additions, extendIndex } from '../content/additions.ts';
import { createExtendedPack } from '../content/extended-pack.ts';
import type { Extension, LiveBundle } from '../content/live-bundle.ts';
import type { LiveSite } from '../content/live-site.ts';
import { buildRouteTableInSlices, pathsPerSlice } from '../content/route-table.ts';
import type { BundleServerFlags } from '../server-flags.ts';
import { createBundleWork, describeWork, untilProven } from './bundle-work.ts';
import type { MadeTask, PreparedFiles } from './made-task.ts';
import { madeNames } from './stored-addition.ts';

export type MadeSettings = Pick<
  BundleServerFlags,
  'store' | 'search' | 'encodingCpu' | 'maxBundleSize' | 'serveDotfiles'
>;

/** Rejects with what the thread threw, or with the signal's reason. */
export type PrepareFiles = (task: MadeTask, signal: AbortSignal) => Promise<PreparedFiles>;

export interface MadeKeeperPorts {
  readonly make: PrepareFiles;
  readonly site: Pick<LiveSite, 'refresh'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** After each slice of the work on this thread. */
  readonly pause: () => Promise<void>;
}

/** `own`: the bundle has a search of its own, which stays as it is. */
export type MadeState = 'off' | 'idle' | 'making' | 'ready' | 'own' | 'failed';

export interface MadeKeeper {
  /**
   * Starts the files of the bundle that has just become active, or is reached under another path; gives up those of the one
   * before.
   *
   * @returns a promise that resolves when they are served or will not be; it never rejects
   */
  readonly prepareFor: (bundle: LiveBundle, basePath: string) => Promise<void>;
  readonly state: () => MadeState;
  /** Resolves when the thread is gone. */
  readonly stop: () => Promise<void>;
}

export function createMadeKeeper(settings: MadeSettings, ports: MadeKeeperPorts): MadeKeeper {
  const work = createBundleWork<MadeState>(settings.search ? 'idle' : 'off');
  const prepareFor = async (bundle: LiveBundle, basePath: string): Promise<void> => {
    work.giveUp();
    if (work.state() === 'off') return;
    const known = bundle.extension();
    if (known?.basePath === basePath) {
      work.settle('ready');
      return;
    }
    if (known !== undefined) {
      bundle.extend(undefined);
      ports.site.refresh();
    }
    await work.begin('making', (signal) => attachFiles(bundle, basePath, settings, ports, signal));
  };
  return { prepareFor, state: work.state, stop: work.stop };
}

/** Never rejects. */
async function attachFiles(
  bundle: LiveBundle,
  basePath: string,
  settings: MadeSettings,
  { make, site, clock, logger, pause }: MadeKeeperPorts,
  signal: AbortSignal,
): Promise<'ready' | 'own' | 'failed'> {
  const { digest } = bundle;
  const described = describeWork(bundle, settings);
  const { folder } = described;
  const { serveDotfiles } = settings;
  const began = clock.monotonic();
  try {
    // Pages with lines are read without a check of their own.
    await untilProven(bundle, signal);
    const { additions, isFound } = await make({ ...described, basePath }, signal);
    if (additions === undefined) {
      logger.info({ digest }, 'the bundle has a search of its own; no other is added');
      return 'own';
    }
    const extension = await openExtension(bundle, additions, { folder, basePath, serveDotfiles, pause });
    if (signal.aborted) {
      await extension.pack.close();
      signal.throwIfAborted();
    }
    bundle.extend(extension);
    site.refresh();
    const tookMs = Math.round(clock.monotonic() - began);
    logger.info({ digest, ...extension.counts, isFound, tookMs }, 'the search of the site is served');
    return 'ready';
  } catch (error) {
    if (!signal.aborted) {
      const reason = { code: publishableCode(error), reason: publishableMessage(error) };
      logger.warn({ digest, ...reason }, 'could not make the search of the site; pages are sent without it');
    }
    return 'failed';
  }
}

interface ExtensionSource {
  readonly folder: string;
  readonly basePath: string;
  readonly serveDotfiles: readonly string[];
  readonly pause: () => Promise<void>;
}

async function openExtension(
  { stored }: LiveBundle,
  additions: Additions,
  { folder, basePath, serveDotfiles, pause }: ExtensionSource,
): Promise<Extension> {
  const extending = extendIndex(stored.index, additions);
  let step = extending.next();
  for (let handled = 1; step.done !== true; handled += 1) {
    if (handled % pathsPerSlice === 0) await pause();
    step = extending.next();
  }
  const extended = step.value;
  if (extended === undefined) {
    throw new PublishableError('MadeFilesForeign', 'the made files are of another bundle');
  }
  const routes = await buildRouteTableInSlices(extended.index, pause, serveDotfiles);
  const made = await openPack(join(folder, madeNames.pack), stored.index, undefined);
  const { starts } = extended.parts;
  const counts = {
    files: extended.index.files.length - stored.index.files.length,
    pages: starts.length - 1,
    sizeBytes: additions.packBytes,
  };
  return { routes, pack: createExtendedPack(stored, made, extended), additions, basePath, counts };
}

/** Heap of the thread. The pages that it reads, and the files that it makes, lie outside of it. */
const limits = { maxOldGenerationSizeMb: 256 };

/** @param program of the thread (`src/bin/variant-worker.ts`, or where the build put it) */
export function prepareFilesInWorker(program: URL): PrepareFiles {
  return (task, signal) => runTask<MadeTask, PreparedFiles>(program, task, { limits, signal });
}
