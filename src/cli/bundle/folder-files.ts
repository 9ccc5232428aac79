// The files of a folder that is packed. A symbolic link within the folder becomes a copy of what it leads to, because a
// server never sees a link. Refuses: a link out of the folder, which would publish a file from elsewhere, a link
// around in a circle, and a device, a pipe or a socket. Invariant: every file that is read lies in the folder.

import { createReadStream, type Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

/**
 * @param isLeftOut by the path without links
 * @throws {CliError} `LinkLeavesFolder`, `LinkLoop`, `SpecialFile`, `SourceUnreadable`
 */
export async function filesOf(
  folder: string,
  isLeftOut: (path: string) => boolean,
): Promise<readonly ArchivedFile[]> {
  const root = await attempt('', () => realpath(folder));
  const files: ArchivedFile[] = [];

  /** @param ancestors real paths of the folders above, and of this one */
  const walk = async (path: string, name: string, ancestors: readonly string[]): Promise<void> => {
    for (const entry of await attempt(name, () => readdir(path, { withFileTypes: true }))) {
      const entryName = name === '' ? entry.name : `${name}/${entry.name}`;
      await take(await follow(join(path, entry.name), entryName, entry), entryName, ancestors);
    }
  };
  const follow = async (path: string, name: string, entry: Dirent): Promise<string> => {
    if (!entry.isSymbolicLink()) return path;
    const real = await attempt(name, () => realpath(path));
    if (real !== root && !real.startsWith(root === sep ? sep : `${root}${sep}`)) throw leaves(name);
    return real;
  };
  const take = async (path: string, name: string, ancestors: readonly string[]): Promise<void> => {
    const stats = await attempt(name, () => lstat(path));
    if (stats.isDirectory()) {
      if (ancestors.includes(path)) throw loops(name);
      await walk(path, name, [...ancestors, path]);
    } else if (!stats.isFile()) {
      throw special(name);
    } else if (!isLeftOut(path)) {
      files.push({ path: name, size: stats.size, read: () => read(path, name) });
    }
  };
  await walk(root, '', [root]);
  return files;
}

async function* read(path: string, name: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) if (chunk instanceof Uint8Array) yield chunk;
  } catch (cause) {
    throw unreadable(name, cause);
  }
}

async function attempt<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unreadable(name, cause);
  }
}

function unreadable(name: string, cause: unknown): CliError {
  if (name === '') return sourceUnreadable(cause);
  const message = `"${name}" cannot be read (${publishableCode(cause)}); check its permissions, or remove it`;
  return new CliError('usage', 'SourceUnreadable', message, { cause });
}

export function sourceUnreadable(cause: unknown): CliError {
  const message = `SOURCE cannot be read (${publishableCode(cause)}); check its path and permissions`;
  return new CliError('usage', 'SourceUnreadable', message, { cause });
}

function leaves(name: string): CliError {
  const message = `the link "${name}" leads out of the folder; replace it with a copy, or remove it`;
  return new CliError('usage', 'LinkLeavesFolder', message);
}

function loops(name: string): CliError {
  return new CliError('usage', 'LinkLoop', `the link "${name}" leads to a folder around it; remove it`);
}

function special(name: string): CliError {
  return new CliError('usage', 'SpecialFile', `"${name}" is a device, a pipe or a socket; remove it`);
}
