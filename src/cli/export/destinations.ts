// The destinations that runs with one state write: which of them the state owns, and whether each still holds what was
// written there. Writes all that can be written; one that fails does not keep the others from the new version. Invariant:
// a path is claimed in the state before its first byte, so that a run that was killed may replace it later.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { digestOf } from '../../bundle/store/digest.ts';
import { isThere } from '../../runtime/folder.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { Placement } from '../output/destination.ts';
import type { StateFolder, WrittenDestination } from './export-state.ts';

/** A folder or an archive, with what may be done to it. */
export interface Place extends Placement {
  /** Absolute. */
  readonly path: string;
}

/** @param isReplaced the user allows to replace what this state did not write */
export function placeOf(state: StateFolder, path: string, name: string, isReplaced: boolean): Place {
  const isOwned = destinationsOf(state).some((one) => one.path === path);
  return { path, name, owner: state.path, mayReplace: isReplaced || isOwned };
}

/** @param digest names the wanted content. @returns whether it was written there and nothing has changed since */
export async function isPlaced(
  state: StateFolder,
  path: string,
  digest: string,
  signal: AbortSignal,
): Promise<boolean> {
  const written = destinationsOf(state).find((one) => one.path === path && one.digest === digest);
  return written?.content !== undefined && written.content === (await readContentMark(path, signal));
}

/** Claims the path, writes it, and notes what it holds. @param write leaves it whole or as before */
export async function writePlace(
  state: StateFolder,
  { path, mayReplace }: Place,
  digest: string,
  write: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (mayReplace || !(await isThere(path))) await note(state, { path, digest: '' });
  await write();
  await note(state, { path, digest, content: await readContentMark(path, signal) });
}

/** One destination of a run. */
export interface DestinationWrite {
  /** As the user wrote it: `--values`. */
  readonly name: string;
  write(): Promise<void>;
}

/**
 * Writes each, whatever becomes of the others.
 *
 * @returns the names of those that were written. @throws {CliError} the first failure, with the messages of all, the
 *   version, and what was written; the signal's reason
 */
export async function writeAll(
  writes: readonly DestinationWrite[],
  { version, next }: { readonly version: string; readonly next: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const written: string[] = [];
  const errors: unknown[] = [];
  for (const { name, write } of writes) {
    signal.throwIfAborted();
    try {
      await write();
      written.push(name);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  const failures = errors.map(failureOf);
  const at = failures.findIndex(({ outcome }) => outcome === 'bug');
  if (at >= 0) throw errors[at];
  const [first] = failures;
  if (first === undefined) return written;
  const message = failures.map((failure) => failure.message).join('. ');
  throw new CliError('notWritten', first.code, message, { cause: errors[0], next, version, written });
}

/** One hash of what is at a path now; `undefined` where it cannot be read, or holds more than files and folders. */
async function readContentMark(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await hashAll(path, signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function hashAll(path: string, signal: AbortSignal): Promise<string | undefined> {
  const found = await lstat(path);
  if (found.isFile()) return hashOf(path, signal);
  if (!found.isDirectory()) return undefined;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  if (files.some((entry) => !entry.isFile())) return undefined;
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const rows: { readonly path: string; readonly sha256: string }[] = [];
  for (const file of paths) {
    rows.push({ path: relative(path, file).split(sep).join('/'), sha256: await hashOf(file, signal) });
  }
  return digestOf(rows);
}

async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file, { signal })) hash.update(piece);
  return hash.digest('hex');
}

const destinationsOf = ({ state }: StateFolder): readonly WrittenDestination[] => state.destinations ?? [];

async function note(state: StateFolder, destination: WrittenDestination): Promise<void> {
  const others = destinationsOf(state).filter(({ path }) => path !== destination.path);
  await state.write({ ...state.state, destinations: [...others, destination] });
}
