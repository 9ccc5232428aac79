// The bundles that deltas are made of: from archives, kits, stores of servers and mirrors. Owns how each is opened. Refuses a
// kit that holds deltas alone, because it needs a base itself.

import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBundle } from '#bundle/store/store-check.ts';
import { removeQuietly, systemDisk } from '#bundle/store/store-disk.ts';
import { inStore } from '#bundle/store/store-fault.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { KitBundle } from '#mirror/kit/kit-document.ts';
import { kitBlobs } from '#mirror/kit/kit-reader.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { commandLimitsOf, openArchive, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { isKitName, openKit } from './kit-file.ts';
import { stageBundle } from './stage.ts';
import { checkKit } from './verify.ts';

const phase = 'Reading the base';

/**
 * All bundles of an archive or a kit.
 *
 * @param digest of the one that is wanted; `undefined`: all whole ones
 * @returns bundles that the caller closes
 * @throws {CliError} `BaseIsDelta` and what reading throws
 */
export async function openBase(
  path: string,
  digest: string | undefined,
  sizes: SizeLimits,
  context: CliContext,
): Promise<readonly StoredBundle[]> {
  if (!isKitName(path)) return [await openArchive(path, sizes, context, phase)];
  const kit = await openKit([path]);
  const opened: StoredBundle[] = [];
  try {
    const head = await checkKit(kit.source, undefined, context);
    const whole = head.document.bundles.filter(({ kind }) => kind === 'whole');
    if (whole.length === 0) {
      const message = `--base ${printable(path)} holds no whole bundle; name an archive or a kit with the whole bundle`;
      throw new CliError('usage', 'BaseIsDelta', message);
    }
    const blobs = kitBlobs(kit.source, head, 'the base');
    context.progress.phase(phase);
    for (const bundle of whole.filter((one) => digest === undefined || one.digest === digest)) {
      opened.push(await openStaged(bundle, blobs, sizes, context));
    }
    return opened;
  } catch (error) {
    for (const bundle of opened) await bundle.close();
    throw error;
  } finally {
    context.progress.end();
    await kit.close();
  }
}

async function openStaged(
  bundle: KitBundle,
  blobs: ReturnType<typeof kitBlobs>,
  sizes: SizeLimits,
  { random, signal }: Pick<CliContext, 'random' | 'signal'>,
): Promise<StoredBundle> {
  const workDir = join(tmpdir(), `static-export-${random.uuid()}`);
  const options = {
    limits: commandLimitsOf(sizes),
    base: undefined,
    keepsHiddenFiles: true,
    onProgress: () => {},
  };
  try {
    const { folder, index } = await stageBundle(bundle, blobs, workDir, options, signal);
    const opened = await openPack(join(folder, packName), index, undefined);
    const close = async (): Promise<void> => {
      await opened.close();
      await removeQuietly(workDir);
    };
    return { ...opened, close };
  } catch (error) {
    await removeQuietly(workDir);
    throw error;
  }
}

/** @returns `undefined` if the store does not hold it whole. @throws {PublishableError} `StoreUnavailable` */
export async function openFromStore(storeDir: string, digest: string): Promise<StoredBundle | undefined> {
  const folder = bundleFolder(storeDir, digest);
  const found = await inStore(checkBundle(folder, digest, systemDisk));
  return found && openPack(join(folder, packName), found.index, undefined);
}

/**
 * Looks for one base where the user said that it may be.
 *
 * @param places archives, kits and stores
 */
export async function findBase(
  digest: string,
  places: readonly string[],
  sizes: SizeLimits,
  context: CliContext,
): Promise<StoredBundle | undefined> {
  for (const place of places) {
    const isFolder = await stat(place).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    const found = isFolder
      ? [await openFromStore(place, digest)].filter((one) => one !== undefined)
      : await openBase(place, digest, sizes, context);
    for (const other of found.filter(({ index }) => index.digest !== digest)) await other.close();
    const base = found.find(({ index }) => index.digest === digest);
    if (base !== undefined) return base;
  }
  return undefined;
}
