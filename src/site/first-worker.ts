// Which thread a server needs first, guessed from what is on disk, so that the thread starts while the server is loaded.
// Refuses to decide anything else: a wrong guess costs a thread that ends unused.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { activationFiles } from '../bundle/store/store-layout.ts';
import { isRecord, readJson } from '../wire/json-text.ts';
import type { BundleServerFlags } from './server-flags.ts';

export type FirstWorkerFlags = Pick<BundleServerFlags, 'store' | 'peers' | 'bundleRef' | 'bundleFile'>;

/** In the order of the sources: disk, peers, mirror, link. */
export async function firstWorker<Program>(
  { store, peers, bundleRef, bundleFile }: FirstWorkerFlags,
  { check, bundle, mirror }: Readonly<Record<'check' | 'bundle' | 'mirror', Program>>,
): Promise<Program> {
  if (activationFiles(store).some((file) => existsSync(file))) return check;
  if (peers.length > 0) return bundle;
  const isMirrored = bundleRef !== undefined || (bundleFile !== undefined && (await namesMirror(bundleFile)));
  return isMirrored ? mirror : bundle;
}

async function namesMirror(file: string): Promise<boolean> {
  const json = readJson(await readFile(file, 'utf8').catch(() => undefined));
  return isRecord(json) && typeof json['ref'] === 'string';
}
