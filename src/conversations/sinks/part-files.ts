// Files that only grow: each append is whole after a flush, or cut off by the next run. Owns the sizes that a commit names.
// Refuses a file that this state did not write. Invariant: after a kill, a file goes on at the end that the last commit
// names.

import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, syncFolder } from '#platform/runtime/folder.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PartLedger } from '../sink.ts';

interface OpenPart {
  readonly file: FileHandle;
  size: number;
}

/** How many files are open at once; turns of a page are rarely of more days. */
const mostOpen = 64;

export class PartFiles {
  readonly #folder: string;
  readonly #ledger: PartLedger;
  /** Of every part that this run touched. */
  readonly #sizes = new Map<string, number>();
  readonly #open = new Map<string, OpenPart>();
  readonly #changed = new Map<string, number>();

  /** @param folder created if absent */
  constructor(folder: string, ledger: PartLedger) {
    this.#folder = folder;
    this.#ledger = ledger;
  }

  /** @param header comes first in a new file */
  async append(name: string, text: string, header = ''): Promise<void> {
    const part = await this.#openPart(name);
    const bytes = Buffer.from(part.size === 0 ? header + text : text);
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await part.file.write(bytes, written, undefined, part.size + written);
      written += bytesWritten;
    }
    part.size += bytes.length;
    this.#sizes.set(name, part.size);
    this.#changed.set(name, part.size);
  }

  async flush(): Promise<ReadonlyMap<string, number>> {
    const changed = new Map(this.#changed);
    for (const name of changed.keys()) await this.#open.get(name)?.file.sync();
    this.#changed.clear();
    if (this.#open.size > mostOpen) await this.close();
    return changed;
  }

  async close(): Promise<void> {
    const files = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(files.map(({ file }) => file.close()));
  }

  async #openPart(name: string): Promise<OpenPart> {
    const found = this.#open.get(name);
    if (found !== undefined) return found;
    const path = join(this.#folder, name);
    const inRun = this.#sizes.get(name);
    const known = inRun ?? this.#ledger.partSize(name);
    await makeFolder(dirname(path), 0o700);
    const present = await openPresent(path);
    if (known === undefined) {
      try {
        if (present !== undefined && (await present.stat()).size > 0) throw foreignPart(name);
        this.#ledger.registerPart(name);
      } catch (error) {
        await present?.close();
        throw error;
      }
    }
    // The questions of visitors are for the owner alone.
    const file = present ?? (await open(path, 'wx+', 0o600));
    try {
      const { size } = await file.stat();
      const end = await this.#endOf(file, Math.min(known ?? 0, size), name);
      if (size > end) await file.truncate(end);
      const part = { file, size: end };
      this.#open.set(name, part);
      if (inRun === undefined) await syncFolder(dirname(path));
      return part;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** A file that was moved away begins again. One that was cut inside a line would join two turns. */
  async #endOf(file: FileHandle, end: number, name: string): Promise<number> {
    if (end === 0) return 0;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, end - 1);
    if (buffer[0] === 0x0a) return end;
    const message = `${printable(name)} was changed since the last run and does not end with a line; move it away, and run the command again`;
    throw new PublishableError('PartChanged', message);
  }
}

async function openPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A part that this state did not write. */
export const foreignPart = (name: string): PublishableError =>
  new PublishableError(
    'DestinationExists',
    `${printable(name)} exists, and was not written with this state; move it away, or name the state or another destination`,
  );
