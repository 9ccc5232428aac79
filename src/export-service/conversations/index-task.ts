// The work of the thread that indexes conversations: reads the file, and makes a new index of it. Only this thread reads the
// file, however large or wrong it is. Invariant: a task that fails leaves the listed index as it was.

import { open } from 'node:fs/promises';
import { readConversations, unreadable } from './file-lines.ts';
import { buildIndex } from './index-file.ts';

export interface IndexTask {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
  /** Whether the end of the file may still be being written. */
  readonly mayGrow: boolean;
  readonly indexPath: string;
}

/**
 * @returns how many turns the index holds
 * @throws {ConversationFileError}
 */
export async function indexConversations({ path, indexPath, ...reading }: IndexTask): Promise<number> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw unreadable(cause);
  });
  try {
    return await buildIndex(indexPath, readConversations(handle, reading));
  } finally {
    await handle.close();
  }
}
