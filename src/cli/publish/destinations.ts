// The destinations that runs with one state write: which of them the state owns, and whether each still holds what was
// written there. Writes all that can be written; one that fails does not keep the others from the new version. Invariant:
// a path is claimed in the state before its first byte, so that a run that was killed may replace it later. Refuses: a
// folder with a file that this state did not write.

import { isThere } from '#platform/runtime/folder.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { Placement } from '../output/destination.ts';
import { holdsOnly, nameMarks, readContentMark } from './content-marks.ts';
import {
  findDefaultWriter,
  isDefaultState,
  type StateFolder,
  type WrittenDestination,
} from './state-folder.ts';

/** A folder or an archive, with what may be done to it. */
export interface Place extends Placement {
  /** Absolute. */
  readonly path: string;
}

/**
 * What this state wrote may be replaced, also where files of it were changed or removed; a folder that holds another file
 * may not.
 *
 * @param isReplaced the user allows to replace whatever is there; `undefined`: the command has no such flag
 */
export function placeOf(
  state: StateFolder,
  path: string,
  name: string,
  isReplaced: boolean | undefined,
): Place {
  return {
    path,
    name,
    owner: state.path,
    mayReplace: async () => isReplaced === true || (await isOwned(state, path)),
    describeHeld: () => describeHeld(state, path),
    ...(isReplaced !== undefined && { replaceFlag: '--replace' }),
  };
}

/** A folder without a file holds nothing that a replacement would destroy. */
async function isOwned(state: StateFolder, path: string): Promise<boolean> {
  const written = destinationsOf(state).find((one) => one.path === path);
  return holdsOnly(path, written?.files ?? '');
}

/** A state of the user's home is of one site and export API, and its reader did not name it. */
async function describeHeld(state: StateFolder, path: string): Promise<string> {
  if (destinationsOf(state).some((one) => one.path === path))
    return 'holds files that were added since it was written';
  const other = await findDefaultWriter(state.path, path);
  if (other !== undefined)
    return `was written by the export of ${printable(other.site)} from ${other.host}, and this one is of another site or --api-base-url`;
  const writer = isDefaultState(state.path)
    ? 'no export of this site and --api-base-url'
    : 'no run with this --state';
  return `exists, and ${writer} wrote it`;
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

/** What is to be written. */
export interface PlacedContent {
  /** Names it. */
  readonly digest: string;
  /** Below the path, with "/"; of an archive, the empty path alone. */
  readonly files: readonly string[];
}

/** Claims the path, writes it, and notes what it holds. @param write leaves it whole or as before */
export async function writePlace(
  state: StateFolder,
  { path, mayReplace }: Place,
  { digest, files: paths }: PlacedContent,
  write: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const files = nameMarks(paths);
  if (!(await isThere(path)) || (await mayReplace())) {
    const before = destinationsOf(state).find((one) => one.path === path)?.files ?? '';
    await note(state, { path, digest: '', files: before + files });
  }
  await write();
  await note(state, { path, digest, files, content: await readContentMark(path, signal) });
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
 * @throws {CliError} the first failure, with the messages of all, the
 *   version, what was written, and what to do before the steps of `next`; the signal's reason
 */
export async function writeAll(
  writes: readonly DestinationWrite[],
  { version, next }: { readonly version: string; readonly next: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
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
  if (first === undefined) return;
  const message = failures.map((failure) => failure.message).join('. ');
  const steps = [...new Set([...failures.flatMap((failure) => failure.next), ...next])];
  throw new CliError('notWritten', first.code, message, {
    cause: errors[0],
    next: steps,
    version,
    written,
  });
}

const destinationsOf = ({ state }: StateFolder): readonly WrittenDestination[] => state.destinations ?? [];

/** A destination of each date would make the state longer every night. */
const mostDestinations = 32;

async function note(state: StateFolder, destination: WrittenDestination): Promise<void> {
  const others = destinationsOf(state).filter(({ path }) => path !== destination.path);
  const destinations = [...others, destination].slice(-mostDestinations);
  await state.write({ ...state.state, destinations });
}
