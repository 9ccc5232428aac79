// The work of the thread that indexes conversations: what was added to the file goes into the index that is listed, and any
// other change makes a new index. Only this thread reads the file, however large or wrong it is. Invariant: a task that
// fails leaves the listed index as it was.

import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { type ReadPosition, readConversations, unreadable } from './file-lines.ts';
import { buildIndex, extendIndex } from './index-file.ts';

/** A file as far as it was read. */
export interface FileMark {
  /** Device and inode. */
  readonly file: string;
  /** In bytes, before it was read. */
  readonly size: number;
  readonly position: ReadPosition;
  /** SHA-256 over the first and last bytes before the position. */
  readonly sample: string;
}

export interface IndexTask {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
  /** The index that is listed, and how much of which file it holds. */
  readonly current: { readonly path: string; readonly mark: FileMark } | undefined;
  /** Where a new index goes. */
  readonly nextPath: string;
}

export interface Indexed {
  /** That of `current`, or `nextPath`. */
  readonly path: string;
  readonly mark: FileMark;
  /** Turns that the index holds. */
  readonly count: number;
}

/** At each end. An edit before the end moves all that follows, so that the last bytes differ. */
const sampleBytes = 64 * 1024;

/** @throws {ConversationFileError} */
export async function indexConversations({
  path,
  defaultProject,
  current,
  nextPath,
}: IndexTask): Promise<Indexed> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw unreadable(cause);
  });
  try {
    const { dev, ino, size } = await handle.stat();
    const file = `${dev}:${ino}`;
    const known =
      current !== undefined && (await hasGrown(handle, file, size, current.mark)) ? current : undefined;
    const reading = readConversations(handle, known?.mark.position, defaultProject);
    const count =
      known === undefined
        ? await buildIndex(nextPath, reading.rows)
        : await extendIndex(known.path, reading.rows);
    const position = reading.position();
    const mark = { file, size, position, sample: await sampleOf(handle, position.bytes) };
    return { path: known?.path ?? nextPath, mark, count };
  } finally {
    await handle.close();
  }
}

/** Whether the file is the marked one with more at its end, as far as samples show. Equal size is an edit. */
async function hasGrown(handle: FileHandle, file: string, size: number, mark: FileMark): Promise<boolean> {
  return (
    file === mark.file && size > mark.size && (await sampleOf(handle, mark.position.bytes)) === mark.sample
  );
}

async function sampleOf(handle: FileHandle, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  for (const start of [0, Math.max(0, bytes - sampleBytes)]) {
    const buffer = Buffer.alloc(Math.min(sampleBytes, bytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    hash.update(buffer.subarray(0, bytesRead));
  }
  return hash.digest('hex');
}
