// What the writers of destinations share: the error, and files that are whole or as before. An error names the flag and
// the path that the user wrote. Refuses: naming any other path, because a path may be private.

import { createHash } from 'node:crypto';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isThere, syncFolder } from '#platform/runtime/folder.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

/** @param path as it was given, also where it comes from a profile or a variable. @returns `--to public` */
export const namedPath = (flag: string, path: string): string => `${flag} ${printable(path)}`;

/** @param name the flag or argument with its path: `--to public` */
export function notWritten(name: string, cause: unknown): CliError {
  if (cause instanceof CliError) return cause;
  const code = publishableCode(cause);
  const fix = fixes.get(code);
  if (fix === undefined) {
    const message = `${name} could not be written (${code}); check its path, permissions and free space`;
    return new CliError('notWritten', 'DestinationNotWritten', message, { cause });
  }
  const message = `${name} could not be written (${code}): ${fix.problem}`;
  return new CliError('notWritten', 'DestinationNotWritten', message, { cause, next: [fix.step] });
}

/** Where the same command fails again until something is changed. */
const fixes: ReadonlyMap<string, { readonly problem: string; readonly step: string }> = new Map([
  ['ENOSPC', { problem: 'its disk is full', step: 'Free space on the disk, or name a path on another one.' }],
  [
    'EDQUOT',
    { problem: 'the disk quota is used up', step: 'Free space on the disk, or name a path on another one.' },
  ],
  [
    'EROFS',
    {
      problem: 'its file system is read-only',
      step: 'Mount it so that it can be written, or name another path.',
    },
  ],
  ['ENOTDIR', { problem: 'it is below a file', step: 'Name a path in a folder.' }],
  ['EEXIST', { problem: 'it is a file, and a folder is needed', step: 'Name a folder.' }],
  ['EISDIR', { problem: 'it is a folder, and a file is needed', step: 'Name a file.' }],
]);

/** Who writes a destination, and whether what is there may be replaced. */
export interface Placement {
  /** The flag or argument that names the destination with its path, for errors: `--to public`. */
  readonly name: string;
  /** A name of the writer, such as its state folder: it finds again what a run before it moved away. */
  readonly owner: string;
  /** Looks at what is there now. */
  mayReplace(): Promise<boolean>;
  /** What may not be replaced, after the name: `holds files that no export wrote`. */
  describeHeld?(): Promise<string>;
  /** The flag that allows to replace anything, if the command has one: `--replace`. */
  readonly replaceFlag?: string;
}

/** Where a writer keeps an old folder while a new one gets its name. */
export function oldName(path: string, owner: string): string {
  const mark = createHash('sha256').update(owner).digest('hex').slice(0, 8);
  return join(dirname(path), `${hiddenStart(path)}${mark}.old`);
}

/**
 * A new name beside a file or folder that is to be written, which no other writer has. Removes what writers of the same
 * file left when they were killed.
 */
export async function newPartialName(path: string): Promise<string> {
  const folder = dirname(path);
  const start = hiddenStart(path);
  const found = await readdir(folder).catch(() => []);
  for (const name of found) {
    const [, run] = partialEnding.exec(name.startsWith(start) ? name.slice(start.length) : '') ?? [];
    if (run !== undefined && !isRunning(run)) await rm(join(folder, name), { recursive: true, force: true });
  }
  return join(folder, `${start}${thisRun}.${hexDigits()}.partial`);
}

const hexDigits = (): string => Buffer.from(systemRandom.bytes(4)).toString('hex');

/** The number of a process is used again: in a container, by the next run. */
const thisRun = `${process.pid}-${hexDigits()}`;

function isRunning(run: string): boolean {
  const pid = Number.parseInt(run, 10);
  if (pid === process.pid) return run === thisRun;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: of another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

const hiddenStart = (path: string): string => `.${basename(path)}.static-export-`;
const partialEnding = /^(\d{1,10}-[0-9a-f]{8})\.[0-9a-f]{8}\.partial$/;

/** What a run that was killed left, and what another one writes now. */
export const isUnfinished = (name: string): boolean =>
  /^\..+\.static-export-(?:[0-9a-f]{8}\.old|\d{1,10}-[0-9a-f]{8}\.[0-9a-f]{8}\.partial)$/.test(name);

/** Right before a rename, because something may have appeared since the start. @throws {CliError} `DestinationExists` */
export async function requireReplaceable(path: string, placement: Placement): Promise<void> {
  if (!(await isThere(path)) || (await placement.mayReplace())) return;
  const { name, replaceFlag } = placement;
  const message = `${name} ${(await placement.describeHeld?.()) ?? 'exists'}`;
  const remedy = replaceFlag === undefined ? 'move it away' : `move it away, add ${replaceFlag}`;
  throw new CliError('usage', 'DestinationExists', `${message}; ${remedy}, or name another path`);
}

/**
 * Writes a file under another name, syncs it, and renames it: it is whole or as before.
 *
 * @param mode exactly these permissions; `undefined`: those of a new file, as the umask allows
 * @param placement absent: what is there is replaced
 * @throws {CliError} `DestinationExists` where it may not be replaced; the file system's error
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  mode: number | undefined,
  placement?: Placement,
): Promise<void> {
  const partial = await newPartialName(path);
  try {
    const file = await open(partial, 'wx', mode ?? 0o644);
    try {
      if (mode !== undefined) await file.chmod(mode);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (placement !== undefined) await requireReplaceable(path, placement);
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
