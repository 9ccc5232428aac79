// The store's list of activated bundles, `current`: the current one first. It has a copy, for a list that is damaged or that
// the disk does not give. Refuses to name a bundle that is not in the store. Invariant: a kill leaves the old or the new
// list, and an order that may still be readable is not replaced.

import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJson } from '../../wire/json-text.ts';
import { BundleError } from '../bundle-error.ts';
import { isOfCopy } from './store-check.ts';
import type { StoreDisk } from './store-disk.ts';
import { storeFault, storeFullCode } from './store-fault.ts';
import { activationFiles, bundlesFolder, digestPattern, nextCurrentName } from './store-layout.ts';
import type { Activation } from './stored-bundle.ts';

/** One file, so that a kill leaves the old or the new list. */
const activationList = z.array(
  z.object({
    digest: z.string().check(z.regex(digestPattern)),
    version: z.optional(z.string()),
    activatedAt: z.number(),
  }),
);
export type ActivationList = z.infer<typeof activationList>;

/**
 * @param passesFaults whether a list that the disk does not give counts as damaged; by default the fault is thrown
 * @returns `undefined` where the list and its copy are damaged: whole bundles are served all the same
 */
export async function readActivations(
  dir: string,
  disk: StoreDisk,
  passesFaults = false,
): Promise<ActivationList | undefined> {
  let isDamaged = false;
  for (const file of activationFiles(dir)) {
    const list = await readList(file, disk, passesFaults);
    if (typeof list === 'object') return list;
    isDamaged ||= list === 'damaged';
  }
  return isDamaged ? undefined : [];
}

async function readList(
  file: string,
  disk: StoreDisk,
  passesFaults: boolean,
): Promise<ActivationList | 'absent' | 'damaged'> {
  const text = await disk.readText(file).catch((error: unknown) => {
    if (!passesFaults && !isOfCopy(error)) throw error;
    return '';
  });
  if (text === undefined) return 'absent';
  return activationList.safeParse(readJson(text)).data ?? 'damaged';
}

/** Each list is written under another name, synced, renamed, and its folder synced. */
export async function activate(
  dir: string,
  next: Activation & { readonly digest: string },
  disk: StoreDisk,
): Promise<void> {
  const stored = (await disk.list(bundlesFolder(dir))).filter((name) => digestPattern.test(name));
  if (!stored.includes(next.digest)) {
    throw new BundleError(
      'transient',
      'NotStored',
      'the bundle to activate is not in the store; prepare it again',
    );
  }
  // The list is replaced, which may cure a file that cannot be read. Without its copy the order would be lost.
  const read = (await readActivations(dir, disk, true)) ?? (await readActivations(dir, disk));
  const listed = read ?? stored.map((digest) => ({ digest, activatedAt: 0 }));
  const former = listed.filter(({ digest }) => digest !== next.digest && stored.includes(digest));
  const text = JSON.stringify([next, ...former]);
  for (const file of activationFiles(dir)) {
    await writeNext(dir, text, disk);
    await disk.rename(join(dir, nextCurrentName), file);
    await disk.syncFolder(dir);
  }
}

/** On a full volume the copy gives its room to the list, and is written after it. A list without a copy keeps it. */
async function writeNext(dir: string, text: string, disk: StoreDisk): Promise<void> {
  const write = (): Promise<void> => disk.writeText(join(dir, nextCurrentName), text);
  await write().catch(async (error: unknown) => {
    const [current, copy] = activationFiles(dir);
    const isFull = storeFault(error).code === storeFullCode;
    if (!isFull || typeof (await readList(current, disk, true)) !== 'object') throw error;
    await disk.remove(copy);
    await write();
  });
}
