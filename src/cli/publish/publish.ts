// Brings folders, archives, a values file and a link file to one published version: obtains its content once where
// anything lacks it, and writes each destination. `--link-file` follows each link, and waits for no archive. Refuses: the
// content of a version for destinations that cannot be written anyway.

import { resolve } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { CliContext } from '../context.ts';
import { admitDestination } from './admit.ts';
import {
  type DestinationWrite,
  isPlaced,
  type Place,
  placeOf,
  writeAll,
  writePlace,
} from './destinations.ts';
import { placeIndex } from './published.ts';
import type { Publishing } from './publisher.ts';
import { placedFiles } from './site-writer.ts';
import type { StateFolder } from './state-folder.ts';
import { admitLinkFile, admitValues, holdsVersion, writeLinkFile, writeValues } from './values-file.ts';

/** What published versions are brought to, as the user wrote it. */
export interface Destinations {
  /** Folders and archives. */
  readonly places: readonly PublishedPlace[];
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
}

export interface PublishedPlace {
  readonly to: string;
  /** As results name it. */
  readonly flag: string;
  /** As messages name it, with its path: `--to site`. */
  readonly name: string;
  /** As for `placeOf`. */
  readonly isReplaced: boolean | undefined;
}

/** Files of the command that no link may be written over, by flag. */
type OtherFiles = Readonly<Record<string, string | undefined>>;

/** Each destination, before a job is started. @throws {CliError} of usage */
export async function admitAll(
  destinations: Destinations,
  others: OtherFiles,
  state: StateFolder,
): Promise<void> {
  const { places, values, linkFile } = destinations;
  for (const place of places) await admitPlace(place, destinations, state);
  if (values !== undefined) await admitValues(values);
  if (linkFile !== undefined) await admitLinkFile(linkFile, { [valuesFlag]: values, ...others });
}

async function admitPlace(
  { to, name, isReplaced }: PublishedPlace,
  { places, values, linkFile }: Destinations,
  state: StateFolder,
): Promise<Place> {
  const place = placeOf(state, resolve(to), name, isReplaced);
  const others = places.map((one) => one.to).filter((one) => resolve(one) !== place.path);
  await admitDestination(to, place, [state.path, '.', values, linkFile, ...others]);
  return place;
}

/** Where the content of a version comes from. */
export interface ContentSource {
  /** Holds what `obtain` kept. */
  readonly workDir: string;
  /** The whole content of the version in the work folder. @throws {PublishableError} {CliError} */
  obtain(bundle: PublishedBundle, signal: AbortSignal): Promise<BundleIndex>;
  /** After each attempt. */
  release(): Promise<void>;
  /** Before the destinations of these names are written. @throws {CliError} where they must stay as they are */
  admit(bundle: PublishedBundle, names: readonly string[]): void;
}

/**
 * Writes what does not hold the version yet, or was changed since.
 *
 * @throws {PublishableError} {CliError} as `writeAll`, and of `obtain`; the signal's reason
 */
async function publish(
  bundle: PublishedBundle,
  destinations: Destinations,
  source: ContentSource,
  state: StateFolder,
  context: CliContext,
  signal: AbortSignal,
): Promise<void> {
  const { workDir } = source;
  const writes: DestinationWrite[] = [];
  const places: { readonly flag: string; readonly place: Place }[] = [];
  for (const one of destinations.places) {
    const { to, flag } = one;
    if (await isPlaced(state, resolve(to), markOf(bundle), signal)) {
      writes.push({ name: flag, write: async () => {} });
      continue;
    }
    try {
      places.push({ flag, place: await admitPlace(one, destinations, state) });
    } catch (error) {
      writes.push({ name: flag, write: () => Promise.reject(error) });
    }
  }
  const { values } = destinations;
  const isValuesDue = values !== undefined && !(await holdsVersion(values, bundle.version));
  const due = [...places.map(({ flag }) => flag), ...(isValuesDue ? [valuesFlag] : [])];
  if (due.length > 0) source.admit(bundle, due);
  try {
    if (places.length > 0) {
      const index = await source.obtain(bundle, signal);
      context.progress.phase('Writing');
      for (const { flag, place } of places) {
        const write = () => placeIndex(index, place, workDir, context, signal);
        const content = { digest: markOf(bundle), files: placedFiles(index, place.path) };
        writes.push({ name: flag, write: () => writePlace(state, place, content, write, signal) });
      }
    }
    if (values !== undefined)
      writes.push({ name: valuesFlag, write: () => writeValues(values, bundle.version) });
    await writeAll(writes, { version: bundle.version, next: again }, signal);
  } finally {
    await source.release();
  }
}

/** Without an inspection there is no digest; the version names the content then. */
const markOf = ({ digest, version }: PublishedBundle): string => digest ?? version;

/** Writes `bundle.json` for a bundle server. @throws {CliError} as `writeAll` */
async function publishLink(
  bundle: PublishedBundle,
  { linkFile }: Destinations,
  source: ContentSource,
  signal: AbortSignal,
): Promise<void> {
  if (linkFile === undefined) return;
  source.admit(bundle, [linkFlag]);
  const write = { name: linkFlag, write: () => writeLinkFile(linkFile, bundle) };
  await writeAll([write], { version: bundle.version, next: again }, signal);
}

/**
 * The link file waits for no archive: servers need each new link soon.
 *
 * @param timeoutMs of one attempt
 */
export function publishingsOf(
  destinations: Destinations,
  source: ContentSource,
  timeoutMs: number,
  state: StateFolder,
  context: CliContext,
): readonly Publishing[] {
  const { places, values, linkFile } = destinations;
  return [
    {
      names: linkFile === undefined ? [] : [linkFlag],
      publish: (bundle, signal) => publishLink(bundle, destinations, source, signal),
      goalOf: ({ version, link }) => `${version} ${link?.issuedAt ?? ''}`,
      timeoutMs,
    },
    {
      names: [...places.map(({ flag }) => flag), ...(values === undefined ? [] : [valuesFlag])],
      publish: (bundle, signal) => publish(bundle, destinations, source, state, context, signal),
      goalOf: ({ version, digest }) => `${version} ${digest ?? ''}`,
      timeoutMs,
    },
  ];
}

const linkFlag = '--link-file';
const valuesFlag = '--values';
const again = ['Run the same command again to write what is missing.'];
