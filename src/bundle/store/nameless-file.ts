// A file without a name, for bytes that are needed once more and then never. Invariant: the system frees its space when the
// file is closed, by this program or by its exit.

import { type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '#platform/runtime/folder.ts';
import { inStore } from './store-fault.ts';

/**
 * @param path of a name that the file has for a moment; its folder is made, and left to the caller
 * @throws {PublishableError} `StoreFull`, `StoreUnavailable`
 */
export function openNamelessFile(path: string): Promise<FileHandle> {
  return inStore(openAndUnlink(path));
}

async function openAndUnlink(path: string): Promise<FileHandle> {
  await makeFolder(dirname(path));
  const file = await open(path, 'wx+');
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
