// The file of a kit, or its parts, as one run of bytes. Owns the names of parts: `NAME.sxkit.001` and on. Refuses a part that
// is not the next one. Invariant: what is read has exactly the length that was asked for.

import { type FileHandle, open, stat } from 'node:fs/promises';
import { kitDamaged } from '#mirror/kit/kit-error.ts';
import type { KitSource } from '#mirror/kit/kit-reader.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

export interface OpenKit {
  readonly source: KitSource;
  /** As given, or found. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

export const kitEnding = '.sxkit';
export const mostParts = 999;
const partEnding = /\.(\d{3})$/;

/** @param number from 1 */
export const partName = (path: string, number: number): string => `${path}.${`${number}`.padStart(3, '0')}`;

/** By its name: a kit is a tar, as an archive of a site may be. */
export const isKitName = (path: string): boolean => path.replace(partEnding, '').endsWith(kitEnding);

/**
 * @param given the kit, its first part, or all of its parts in any order
 * @param names `exactly`: these files in this order, whatever their names
 * @throws {CliError} `KitUnreadable`, `KitPartsIncomplete`
 */
export async function openKit(given: readonly string[], names?: 'exactly'): Promise<OpenKit> {
  const paths = names === 'exactly' ? given : await findParts(given);
  const files: { readonly file: FileHandle; readonly start: number; readonly size: number }[] = [];
  const close = async (): Promise<void> => {
    for (const { file } of files) await file.close();
  };
  try {
    let start = 0;
    for (const path of paths) {
      const file = await open(path, 'r').catch(throwUnreadable);
      files.push({ file, start, size: 0 });
      const stats = await file.stat().catch(throwUnreadable);
      if (!stats.isFile()) throw notAFile();
      files[files.length - 1] = { file, start, size: stats.size };
      start += stats.size;
    }
    const read = async (position: number, length: number): Promise<Buffer> => {
      const bytes = Buffer.allocUnsafe(length);
      for (let filled = 0; filled < length; ) {
        const at = position + filled;
        const part = files.find((one) => at >= one.start && at < one.start + one.size);
        if (part === undefined) throw kitDamaged('it is cut off');
        const room = Math.min(length - filled, part.start + part.size - at);
        const { bytesRead } = await part.file
          .read(bytes, filled, room, at - part.start)
          .catch(throwUnreadable);
        if (bytesRead === 0) throw kitDamaged('it became shorter while it was read');
        filled += bytesRead;
      }
      return bytes;
    };
    return { source: { size: start, read }, paths, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function findParts(given: readonly string[]): Promise<readonly string[]> {
  const [first = '', ...others] = given;
  if (others.length > 0) return sortParts(given);
  const isPart = partEnding.exec(first)?.[1];
  if (isPart === undefined) return (await isThere(first)) ? [first] : partsFrom(first, first);
  if (isPart !== '001') {
    throw new CliError(
      'usage',
      'KitPartsIncomplete',
      'name the first part of the kit, which ends in .001, or all parts',
    );
  }
  return partsFrom(first.replace(partEnding, ''), first);
}

/** A part that is missing at the end is found by the length of the kit. */
async function partsFrom(name: string, asGiven: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let number = 1; number <= mostParts && (await isThere(partName(name, number))); number += 1) {
    paths.push(partName(name, number));
  }
  return paths.length === 0 ? [asGiven] : paths;
}

function sortParts(given: readonly string[]): readonly string[] {
  const sorted = [...given].sort();
  const name = sorted[0]?.replace(partEnding, '') ?? '';
  if (sorted.every((path, at) => path === partName(name, at + 1))) return sorted;
  const message =
    'the files are not all parts of one kit, from .001 on; name the first part alone, or every part once';
  throw new CliError('usage', 'KitPartsIncomplete', message);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const notAFile = (): CliError =>
  new CliError('usage', 'KitUnreadable', 'the kit is not a file; check its path');

function throwUnreadable(cause: unknown): never {
  const code = publishableCode(cause);
  const message =
    code === 'ENOENT'
      ? 'the kit does not exist; check its path'
      : `the kit cannot be read (${code}); check its path and permissions`;
  throw new CliError('usage', 'KitUnreadable', message, { cause });
}
