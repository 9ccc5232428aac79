// Debian's archives: fetched from a mirror, compared with the lock, and read. Owns the process that unpacks. Refuses bytes that
// the lock does not name.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { ToolPlace } from '../release/tool.ts';
import { archiveUrl, type LockedArchive } from './base-lock.ts';

/**
 * @param day of the lock
 * @throws Error where the mirror has other bytes, or none
 */
export async function fetchArchive(mirror: string, archive: LockedArchive, day: string): Promise<Buffer> {
  const name = posix.basename(archive.path);
  const another = `Name a mirror of ${day}: --debian-mirror URL, or --build-arg DEBIAN_MIRROR=URL.`;
  const unreachable = (cause: unknown): never => {
    throw new Error(`${name}: the mirror of Debian does not answer. ${another}`, { cause });
  };
  const answer = await fetch(archiveUrl(mirror, archive)).catch(unreachable);
  if (answer.status === 404) {
    const newest = 'Or pin the newest: npm run release:base.';
    throw new Error(`${name}: the mirror of Debian does not have it any more. ${another} ${newest}`);
  }
  if (!answer.ok) throw new Error(`${name}: the mirror of Debian answers ${answer.status}. Try again.`);
  const chunks: Uint8Array[] = [];
  let read = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      read += chunk.length;
      if (read > archive.bytes) break;
    }
  } catch (cause) {
    unreachable(cause);
  }
  const bytes = Buffer.concat(chunks);
  if (createHash('sha256').update(bytes).digest('hex') !== archive.sha256) {
    throw new Error(`${name}: the mirror of Debian sent other bytes than the lock names. ${another}`);
  }
  return bytes;
}

export interface ArchiveContents {
  /** Regular files by path, without a slash in front. Links within the archive are followed. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The package as scanners of images read it from `/var/lib/dpkg/status.d`. */
  readonly control: string;
}

const fields = ['Package', 'Source', 'Version', 'Architecture', 'Maintainer', 'Homepage'];

/** The lines of a control file that say what a package is. */
export const shortControl = (control: string): string =>
  control
    .split('\n')
    .filter((line) => fields.some((field) => line.startsWith(`${field}: `)))
    .map((line) => `${line}\n`)
    .join('');

/** @param file gets the archive. Needs `dpkg-deb`, and nothing that it would start */
export async function readArchive(bytes: Buffer, file: string, place: ToolPlace): Promise<ArchiveContents> {
  await writeFile(file, bytes);
  const about = await readPart('--ctrl-tarfile', file, place);
  return {
    files: await readPart('--fsys-tarfile', file, place),
    control: shortControl(about.get('control')?.toString() ?? ''),
  };
}

async function readPart(
  part: '--ctrl-tarfile' | '--fsys-tarfile',
  file: string,
  place: ToolPlace,
): Promise<ReadonlyMap<string, Buffer>> {
  const program = spawn('dpkg-deb', [part, file], { ...place, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(program, 'close').catch((cause: unknown) => {
    throw new Error('dpkg-deb does not start. Install dpkg, or build on Debian.', { cause });
  });
  // Awaited at the end; a program that does not start gives an empty output first.
  ended.catch(() => {});
  const files = new Map<string, Buffer>();
  const links = new Map<string, string>();
  for await (const entry of program.stdout.pipe(extract())) {
    const path = entry.header.name.replace(/^\.\//, '');
    if (entry.header.type === 'symlink') {
      links.set(path, posix.join(posix.dirname(path), entry.header.linkname ?? ''));
    }
    const content = await buffer(entry);
    if (entry.header.type === 'file') files.set(path, content);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`dpkg-deb cannot read ${posix.basename(file)}. Check its version.`);
  for (const [path, target] of links) {
    const content = files.get(target);
    if (content !== undefined) files.set(path, content);
  }
  return files;
}
