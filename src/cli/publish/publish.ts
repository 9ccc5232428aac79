// Brings what `--publish` and `--values` name to one published version: downloads its archive once where anything lacks
// it, checks it against the published digest, and writes each destination. `--link-file` follows each link, and waits for
// no archive. Refuses: a download for destinations that cannot be written anyway.

import { join, resolve } from 'node:path';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { isArchiveName } from '../bundle/archive-names.ts';
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
import { downloadInto, type KeptDownloadOptions, placeIndex } from './published.ts';
import { placedFiles } from './site-writer.ts';
import { type StateFolder, workFolderName } from './state-folder.ts';
import { admitLinkFile, admitValues, writeLinkFile, writeValues } from './values-file.ts';

export interface PublishOptions extends Omit<KeptDownloadOptions, 'workDir'> {
  /** Paths of folders and archives, as the user wrote them. */
  readonly publish: readonly string[];
  readonly values: string | undefined;
  readonly linkFile: string | undefined;
}

/** Each destination, before a job is started. @throws {CliError} of usage */
export async function admitAll(options: PublishOptions, state: StateFolder): Promise<void> {
  for (const to of options.publish) await admitPlace(to, options, state);
  if (options.values !== undefined) await admitValues(options.values);
  const { values, extraCaFile, linkFile } = options;
  if (linkFile !== undefined)
    await admitLinkFile(linkFile, { '--values': values, '--extra-ca-file': extraCaFile });
}

async function admitPlace(to: string, options: PublishOptions, state: StateFolder): Promise<Place> {
  const place = placeOf(state, resolve(to), publishFlag(to), undefined);
  const others = options.publish.filter((one) => resolve(one) !== place.path);
  await admitDestination(to, place, [state.path, '.', options.values, options.linkFile, ...others]);
  return place;
}

/**
 * Writes what does not hold the version yet, or was changed since.
 *
 * @throws {PublishableError} {CliError} as `writeAll`, and of the download; the signal's reason
 */
export async function publish(
  bundle: PublishedBundle,
  options: PublishOptions,
  state: StateFolder,
  context: CliContext,
  signal: AbortSignal,
): Promise<void> {
  // Without an inspection there is no digest; the version names the content then.
  const mark = bundle.digest ?? bundle.version;
  const workDir = join(state.path, workFolderName);
  const writes: DestinationWrite[] = [];
  const places: Place[] = [];
  for (const to of options.publish) {
    const name = publishFlag(to);
    if (await isPlaced(state, resolve(to), mark, signal)) {
      writes.push({ name, write: async () => {} });
      continue;
    }
    try {
      places.push(await admitPlace(to, options, state));
    } catch (error) {
      writes.push({ name, write: () => Promise.reject(error) });
    }
  }
  try {
    if (places.length > 0) {
      context.progress.phase('Downloading and checking');
      const download = { ...options, workDir };
      const index = await downloadInto(linkOf(bundle), bundle.digest, download, context, signal);
      context.progress.phase('Writing');
      for (const place of places) {
        const write = () => placeIndex(index, place, workDir, context, signal);
        const content = { digest: mark, files: placedFiles(index, place.path) };
        writes.push({ name: place.name, write: () => writePlace(state, place, content, write, signal) });
      }
    }
    const { values } = options;
    if (values !== undefined)
      writes.push({ name: valuesFlag, write: () => writeValues(values, bundle.version) });
    await writeAll(writes, { version: bundle.version, next: again }, signal);
  } finally {
    await removeQuietly(workDir);
  }
}

/** The manifest refuses to publish without links. */
function linkOf({ link }: PublishedBundle): Link {
  if (link === undefined) throw new TypeError('a run publishes a link');
  return link.url;
}

/** Writes `bundle.json` for a bundle server. @throws {CliError} as `writeAll` */
export async function publishLink(
  bundle: PublishedBundle,
  { linkFile }: Pick<PublishOptions, 'linkFile'>,
  signal: AbortSignal,
): Promise<void> {
  if (linkFile === undefined) return;
  const write = { name: linkFlag, write: () => writeLinkFile(linkFile, bundle) };
  await writeAll([write], { version: bundle.version, next: again }, signal);
}

/** The destinations as the user wrote them: those of each link, and those of the content. */
export function namesOf({ publish: paths, values, linkFile }: PublishOptions): {
  readonly links: readonly string[];
  readonly contents: readonly string[];
} {
  return {
    links: linkFile === undefined ? [] : [linkFlag],
    contents: [...paths.map(publishFlag), ...(values === undefined ? [] : [valuesFlag])],
  };
}

const linkFlag = '--link-file';
const valuesFlag = '--values';
const again = ['Run the same command again to write what is missing.'];

/** As the user wrote it. */
const publishFlag = (to: string): string =>
  `--publish ${isArchiveName(to) ? 'archive' : 'dir'}=${printable(to)}`;
