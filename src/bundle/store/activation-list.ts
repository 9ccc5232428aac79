// The store's list of activated bundles, `current`: the current one first. It has a copy, for a list that is damaged or that
// the disk does not give. Refuses to name a bundle that is not in the store. Invariant: a kill leaves the old or the new
// list, and an order that may still be readable is not replaced.

import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
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
    basePath: z.optional(z.string()),
  }),
);
export type ActivationList = z.infer<typeof activationList>;

/** For a reader who needs no reason why the disk does not give a list. */
export const passBy = (): void => {};

/**
 * @param passFault receives the fault of a list that the disk does not give, which then counts as damaged; without it, the
 *   fault is thrown
 * @returns `undefined` where the list and its copy are damaged: whole bundles are served all the same
 */
export async function readActivations(
  dir: string,
  disk: StoreDisk,
  passFault?: (fault: unknown) => void,
): Promise<ActivationList | undefined> {
  let isDamaged = false;
  for (const file of activationFiles(dir)) {
    const list = await readList(file, disk, passFault);
    if (typeof list === 'object') return list;
    isDamaged ||= list === 'damaged';
  }
  return isDamaged ? undefined : [];
}

async function readList(
  file: string,
  disk: StoreDisk,
  passFault?: (fault: unknown) => void,
): Promise<ActivationList | 'absent' | 'damaged'> {
  const text = await disk.readText(file).catch((error: unknown) => {
    if (isOfCopy(error)) return '';
    if (passFault === undefined) throw error;
    passFault(error);
    return '';
  });
  if (text === undefined) return 'absent';
  return activationList.safeParse(readJson(text)).data ?? 'damaged';
}

/**
 * Each list is written under another name, synced, renamed, and its folder synced. The copy comes first, so that a kill never
 * leaves a copy that is older than the list.
 */
export async function writeActivation(
  dir: string,
  next: Activation & { readonly digest: string },
  disk: StoreDisk,
): Promise<void> {
  const stored = (await disk.list(bundlesFolder(dir))).filter((name) => digestPattern.test(name));
  if (!stored.includes(next.digest)) {
    throw new PublishableError('NotStored', 'the bundle to activate is not in the store; prepare it again', {
      kind: 'retry',
    });
  }
  // The list is replaced, which may cure a file that cannot be read. Without its copy the order would be lost.
  const read = (await readActivations(dir, disk, passBy)) ?? (await readActivations(dir, disk));
  const listed = read ?? stored.map((digest) => ({ digest, activatedAt: 0 }));
  const former = listed.filter(({ digest }) => digest !== next.digest && stored.includes(digest));
  const text = JSON.stringify([next, ...former]);
  const [current, copy] = activationFiles(dir);
  await replace(dir, copy, text, disk);
  const isCopyGone = await replace(dir, current, text, disk);
  // What the list names may be all that there is room for; the next activation writes the copy.
  if (isCopyGone) await replace(dir, copy, text, disk).catch(unlessFull);
}

/**
 * On a full volume the copy gives its room, unless the list is damaged, which then keeps it.
 *
 * @returns whether the copy is gone
 */
async function replace(dir: string, file: string, text: string, disk: StoreDisk): Promise<boolean> {
  const next = join(dir, nextCurrentName);
  let isCopyGone = false;
  await disk.writeText(next, text).catch(async (error: unknown) => {
    const [current, copy] = activationFiles(dir);
    unlessFull(error);
    if (typeof (await readList(current, disk, passBy)) !== 'object') throw error;
    await disk.remove(copy);
    isCopyGone = true;
    await disk.writeText(next, text);
  });
  await disk.rename(next, file);
  await disk.syncFolder(dir);
  return isCopyGone;
}

function unlessFull(error: unknown): void {
  if (storeFault(error).code !== storeFullCode) throw error;
}
