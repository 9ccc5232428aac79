// Writes a new kit as one file, or as parts of a size. What was written is checked before it gets its name. Refuses to
// replace a kit, unless told. Invariant: the first part gets its name last, so that a kit that was interrupted is incomplete
// and never a mixture that passes.

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isKitError } from '#mirror/kit/kit-error.ts';
import type { NewKit } from '#mirror/kit/kit-writer.ts';
import { isThere, syncFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { requireFolderAround } from '../output/admitted-file.ts';
import { namedPath, newPartialName, notWritten } from '../output/destination.ts';
import { kitEnding, mostParts, partName } from './kit-file.ts';

export interface KitPlace {
  readonly path: string;
  /** Bytes; `undefined`: one file. */
  readonly partSize: number | undefined;
  readonly replace: boolean;
}

/** Before the work begins. @throws {CliError} `UnknownKitName`, `DestinationExists`, and those of `requireFolderAround` */
export async function requirePlace({ path, replace }: KitPlace): Promise<void> {
  if (!path.endsWith(kitEnding) || basename(path) === kitEnding) {
    throw new CliError('usage', 'UnknownKitName', `--to must end in ${kitEnding}`);
  }
  // Spool files lie there too, long before the kit is written.
  await requireFolderAround(path, namedPath('--to', path));
  if (replace) return;
  // A file of the kit's name would be read instead of new parts.
  for (const one of [path, partName(path, 1)]) {
    if (!(await isThere(one))) continue;
    const name = namedPath('--to', one);
    throw new CliError('usage', 'DestinationExists', `${name} exists; name another path, or add --replace`);
  }
}

/**
 * @param check of the whole kit under other names
 * @returns the files that were written
 * @throws {CliError} `TooManyParts`, `DestinationExists`, `DestinationNotWritten`; what `check` throws; the signal's reason
 */
export async function writeKit(
  kit: NewKit,
  place: KitPlace,
  onProgress: (writtenBytes: number) => void,
  check: (partials: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { path, partSize = kit.frame.size } = place;
  const count = Math.ceil(kit.frame.size / partSize);
  if (count > mostParts) {
    const message = `--part-size gives ${count} parts, and a kit has at most ${mostParts}; name a larger one`;
    throw new CliError('usage', 'TooManyParts', message);
  }
  const names =
    place.partSize === undefined ? [path] : Array.from({ length: count }, (_, at) => partName(path, at + 1));
  const partials: string[] = [];
  try {
    for (const name of names) partials.push(await newPartialName(name));
    await writePartials(kit, partials, partSize, onProgress, signal);
    await check(partials);
    await requirePlace(place);
    await removeStale(path, names);
    for (const [at, name] of [...names.entries()].reverse()) await rename(partials[at] ?? '', name);
    await syncFolder(dirname(path));
    return names;
  } catch (error) {
    for (const partial of partials) await rm(partial, { force: true });
    signal.throwIfAborted();
    throw faultOf(error, namedPath('--to', path));
  }
}

function faultOf(error: unknown, name: string): unknown {
  if (isKitError(error)) {
    const message = `${name} is not what was written to it; check the disk, and that no input changes meanwhile`;
    return new CliError('notWritten', 'DestinationNotWritten', message, { cause: error });
  }
  if (!(error instanceof PublishableError)) return notWritten(name, error);
  return error.code === 'FileChanged' ? new CliError('temporary', error.code, error.message) : error;
}

async function writePartials(
  kit: NewKit,
  partials: readonly string[],
  partSize: number,
  onProgress: (writtenBytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let file: FileHandle | undefined;
  let next = 0;
  let left = 0;
  let written = 0;
  const end = async (): Promise<void> => {
    await file?.sync();
    await file?.close();
    file = undefined;
  };
  try {
    for await (const chunk of kit.bytes(signal)) {
      for (let at = 0; at < chunk.length; ) {
        if (left === 0) {
          await end();
          file = await open(partials[next] ?? '', 'wx');
          next += 1;
          left = partSize;
        }
        const piece = chunk.subarray(at, at + left);
        await file?.writeFile(piece);
        at += piece.length;
        left -= piece.length;
        written += piece.length;
        onProgress(written);
      }
    }
    await end();
  } finally {
    await file?.close().catch(() => {});
  }
}

/** Files of an earlier kit of that name. Without this, a reader would add them to the new one. */
async function removeStale(path: string, names: readonly string[]): Promise<void> {
  if (!names.includes(path)) await rm(path, { force: true });
  for (let number = 1; number <= mostParts; number += 1) {
    const part = partName(path, number);
    if (names.includes(part)) continue;
    if (!(await isThere(part))) return;
    await rm(part);
  }
}
