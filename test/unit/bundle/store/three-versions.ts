// A store of three versions, for tests of volumes that fail in parts.

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BundleStore, openBundleStore } from '#bundle/store/store.ts';
import { putBundle } from '../../../support/store-builder.ts';

export interface ThreeVersions {
  readonly dir: string;
  /** Of `v0`, `v1` and `v2`, activated one after another. */
  readonly digests: readonly string[];
}

export async function putThreeVersions(): Promise<ThreeVersions> {
  const dir = await mkdtemp(join(tmpdir(), 'store-'));
  const store = await openBundleStore(dir, { keep: 4 });
  const digests: string[] = [];
  for (const version of ['v0', 'v1', 'v2']) {
    const { digest } = await putBundle(dir, { 'index.html': version });
    await store.activate(digest, { version, activatedAt: digests.length });
    digests.push(digest);
  }
  return { dir, digests };
}

/** A rejected disk operation with this code. */
export const failing = (code: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(code), { code }));

export async function versionOf(found: ReturnType<BundleStore['lastGood']>): Promise<string | undefined> {
  const bundle = await found;
  await bundle?.close();
  return bundle?.activation?.version;
}
