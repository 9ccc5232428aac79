// What a server keeps in a bundle's folder in addition to the bundle: made files, and precompressed variants. Owns their names, the
// order of writes, and their removal. Each is a pack and a sealed list that names the hash of the pack.
// Invariant: a list that can be read names a pack that was synced before it.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';

/** Names in the folder: of what is complete, and of what is being written. */
export interface AdditionNames {
  readonly pack: string;
  readonly list: string;
  readonly nextPack: string;
  readonly nextList: string;
}

const namesOf = (pack: string): AdditionNames => ({
  pack,
  list: `${pack}-index`,
  nextPack: `.${pack}-next`,
  nextList: `.${pack}-index-next`,
});

export const variantNames: AdditionNames = namesOf('variants');
export const madeNames: AdditionNames = namesOf('made');

/** The pack, which is synced, is named before its list: a kill in between costs making both again. */
export async function keepAddition(folder: string, names: AdditionNames, list: string): Promise<void> {
  await systemDisk.rename(join(folder, names.nextPack), join(folder, names.pack));
  await systemDisk.writeText(join(folder, names.nextList), list);
  await systemDisk.rename(join(folder, names.nextList), join(folder, names.list));
  await systemDisk.syncFolder(folder);
}

/** The list goes first, so that none names a pack that is gone. */
export async function removeAddition(folder: string, names: AdditionNames): Promise<void> {
  for (const name of [names.list, names.pack, names.nextPack, names.nextList]) {
    await systemDisk.remove(join(folder, name));
  }
}

const pieceBytes = 1024 * 1024;

/** @returns the SHA-256 of the pack in lower-case hex; `undefined` where it cannot be read */
export async function hashOfPack(folder: string, { pack }: AdditionNames): Promise<string | undefined> {
  const sum = createHash('sha256');
  try {
    const pieces = createReadStream(join(folder, pack), { highWaterMark: pieceBytes });
    for await (const piece of pieces) sum.update(piece);
    return sum.digest('hex');
  } catch {
    return undefined;
  }
}

/**
 * Does the work, and removes the addition where it throws.
 *
 * @param what is made, in plural
 * @throws {PublishableError}
 */
export async function orRemoveAddition<Made>(
  folder: string,
  names: AdditionNames,
  what: string,
  work: () => Promise<Made>,
): Promise<Made> {
  try {
    return await work();
  } catch (cause) {
    await removeAddition(folder, names).catch(() => {});
    if (cause instanceof PublishableError) throw cause;
    const code = publishableCode(cause);
    const message = `${what} could not be stored (${code}); check the store's volume`;
    throw new PublishableError(code, message, { cause });
  }
}
