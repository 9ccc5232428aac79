// Gives the active bundle the files that are made from it, a search or Markdown, and its pages their line: a thread finds them on disk or
// makes them, and the site shows them from then on. Owns the thread: one at a time, ended when another bundle becomes active.
// Invariant: whatever the thread does (fails, crashes, is too late), the site goes on with the bundle as it is.

import { join } from 'node:path';
import { nothingToFind, nothingToFindRemedy } from '#bundle/search-words.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { runTask } from '#platform/runtime/task.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import { extendIndex, type MadeFeature, madeFeatures } from '../content/additions.ts';
import { createExtendedPack } from '../content/extended-pack.ts';
import type { Extension, LiveBundle } from '../content/live-bundle.ts';
import type { LiveSite } from '../content/live-site.ts';
import { createMarkdownTwins } from '../content/markdown-twins.ts';
import { buildRouteTableInSlices, pathsPerSlice } from '../content/route-table.ts';
import type { BundleServerFlags } from '../server-flags.ts';
import { createBundleWork, describeWork, untilProven } from './bundle-work.ts';
import { featureWords, type MadeTask, type PreparedFiles } from './made-task.ts';
import { madeNames } from './stored-addition.ts';

export type MadeSettings = Pick<
  BundleServerFlags,
  'store' | MadeFeature | 'encodingCpu' | 'maxBundleSize' | 'serveDotfiles'
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
export type MadeStates = Readonly<Record<MadeFeature, MadeState>>;

export interface MadeKeeper {
  /**
   * Starts the files of the bundle that has just become active, or is reached under another path; gives up those of the one
   * before.
   *
   * @returns a promise that resolves when they are served or will not be; it never rejects
   */
  readonly prepareFor: (bundle: LiveBundle, basePath: string) => Promise<void>;
  readonly states: () => MadeStates;
  /** Resolves when the thread is gone. */
  readonly stop: () => Promise<void>;
}

export function createMadeKeeper(settings: MadeSettings, ports: MadeKeeperPorts): MadeKeeper {
  const features = madeFeatures.filter((one) => settings[one]);
  const work = createBundleWork<MadeStates>(statesOf(features, 'idle'));
  const prepareFor = async (bundle: LiveBundle, basePath: string): Promise<void> => {
    work.giveUp();
    if (features.length === 0) return;
    const known = bundle.extension();
    if (known?.basePath === basePath) {
      work.settle(statesOf(features, 'ready', known.features));
      return;
    }
    if (known !== undefined) {
      bundle.extend(undefined);
      ports.site.refresh();
    }
    await work.begin(statesOf(features, 'making'), (signal) =>
      attachFiles({ bundle, basePath, features }, settings, ports, signal),
    );
  };
  return { prepareFor, states: work.state, stop: work.stop };
}

/** @param served those that the bundle does not have of its own */
function statesOf(
  features: readonly MadeFeature[],
  state: MadeState,
  served: readonly MadeFeature[] = features,
): MadeStates {
  const stateOf = (feature: MadeFeature): MadeState => {
    if (!features.includes(feature)) return 'off';
    return served.includes(feature) ? state : 'own';
  };
  return { search: stateOf('search'), markdown: stateOf('markdown') };
}

interface Wanted {
  readonly bundle: LiveBundle;
  readonly basePath: string;
  readonly features: readonly MadeFeature[];
}

/** Never rejects. */
async function attachFiles(
  { bundle, basePath, features }: Wanted,
  settings: MadeSettings,
  { make, site, clock, logger, pause }: MadeKeeperPorts,
  signal: AbortSignal,
): Promise<MadeStates> {
  const { digest } = bundle;
  const described = describeWork(bundle, settings);
  const { folder } = described;
  const { serveDotfiles } = settings;
  const began = clock.monotonic();
  try {
    // Pages with lines are read without a check of their own.
    await untilProven(bundle, signal);
    const prepared = await make({ ...described, features, basePath }, signal);
    const { isFound, counts } = prepared;
    const states = statesOf(features, 'ready', prepared.features);
    if (states.search === 'own') {
      logger.info({ digest }, 'the bundle has a search of its own; no other is added');
    }
    if (prepared.additions === undefined) return states;
    const extension = await openExtension(bundle, prepared, { folder, basePath, serveDotfiles, pause });
    if (signal.aborted) {
      await extension.pack.close();
      signal.throwIfAborted();
    }
    bundle.extend(extension);
    site.refresh();
    const tookMs = Math.round(clock.monotonic() - began);
    const made = Object.fromEntries(prepared.features.map((one) => [one, counts[one]]));
    logger.info(
      { digest, ...made, isFound, tookMs },
      `${featureWords(prepared.features)} of the site ${areIs(prepared.features)} served`,
    );
    if (prepared.features.includes('search') && counts.search.files === 0) {
      logger.warn({ digest }, `${nothingToFind}. ${nothingToFindRemedy}`);
    }
    const { leftOutPages } = counts.markdown;
    if (leftOutPages > 0) {
      logger.warn({ digest, leftOutPages }, 'pages of more than 8 MiB have no Markdown; split them');
    }
    return states;
  } catch (error) {
    if (!signal.aborted) {
      const reason = { code: publishableCode(error), reason: publishableMessage(error) };
      logger.warn(
        { digest, ...reason },
        `could not make ${featureWords(features)} of the site; pages are sent without ${features.length === 1 ? 'it' : 'them'}`,
      );
    }
    return statesOf(features, 'failed');
  }
}

const areIs = ({ length }: readonly MadeFeature[]): string => (length === 1 ? 'is' : 'are');

interface ExtensionSource {
  readonly folder: string;
  readonly basePath: string;
  readonly serveDotfiles: readonly string[];
  readonly pause: () => Promise<void>;
}

async function openExtension(
  { stored }: LiveBundle,
  { additions, features, counts }: PreparedFiles,
  { folder, basePath, serveDotfiles, pause }: ExtensionSource,
): Promise<Extension> {
  const foreign = new PublishableError('MadeFilesForeign', 'the made files are of another bundle');
  if (additions === undefined) throw foreign;
  const extending = extendIndex(stored.index, additions);
  let step = extending.next();
  for (let handled = 1; step.done !== true; handled += 1) {
    if (handled % pathsPerSlice === 0) await pause();
    step = extending.next();
  }
  const extended = step.value;
  if (extended === undefined) throw foreign;
  const routes = await buildRouteTableInSlices(extended.index, pause, serveDotfiles);
  const made = await openPack(join(folder, madeNames.pack), stored.index, undefined);
  const pack = createExtendedPack(stored, made, extended);
  const twins = features.includes('markdown') ? createMarkdownTwins(routes, basePath) : undefined;
  return { routes, pack, additions, features, basePath, twins, counts };
}

/** Heap of the thread. The pages that it reads, and the files that it makes, lie outside of it. */
const limits = { maxOldGenerationSizeMb: 256 };

/** @param program of the thread (`src/bin/variant-worker.ts`, or where the build put it) */
export function prepareFilesInWorker(program: URL): PrepareFiles {
  return (task, signal) => runTask<MadeTask, PreparedFiles>(program, task, { limits, signal });
}
