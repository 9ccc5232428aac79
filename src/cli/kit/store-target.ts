// Imports bundles into the store of a bundle server, which serves the last one that is placed when it starts. Refuses nothing
// of the store's other content. One process writes to a store at a time, so that the server must not run meanwhile.

import { join, resolve } from 'node:path';
import { commitBundle } from '#bundle/store/commit.ts';
import { type BundleStore, openBundleStore } from '#bundle/store/store.ts';
import { removeQuietly, systemDisk } from '#bundle/store/store-disk.ts';
import { inStore } from '#bundle/store/store-fault.ts';
import { incomingPrefix } from '#bundle/store/store-layout.ts';
import { notWritten, writeWhole } from '../output/destination.ts';
import { openFromStore } from './bases.ts';
import type { ImportContext, ImportTarget } from './import-target.ts';
import { stageBundle } from './stage.ts';

export function storeTarget(to: string, { context, limits, blobs }: ImportContext): ImportTarget {
  const storeDir = resolve(to);
  const publishedPath = join(storeDir, 'bundle.json');
  const { clock, random, signal } = context;
  let store: BundleStore | undefined;
  return {
    statePath: join(storeDir, 'kit-imports.json'),
    prepare: async () => {},
    findBase: (digest) => openFromStore(storeDir, digest),
    stage: async (bundle, base) => {
      // Removes what a killed import left, so it comes before anything is staged.
      store ??= await openBundleStore(storeDir, { keep: 1 });
      const workDir = join(storeDir, `${incomingPrefix}${random.uuid()}`);
      const discard = (): Promise<void> => removeQuietly(workDir);
      try {
        const options = { limits, base, keepsHiddenFiles: false, onProgress: () => {} };
        const { folder, index, packBytes } = await stageBundle(bundle, blobs(), workDir, options, signal);
        const place = async () => {
          await inStore(commitBundle(storeDir, folder, index, packBytes, systemDisk));
          await store?.activate(index.digest, { version: bundle.version, activatedAt: clock.now() });
          await writeWhole(publishedPath, publishedText(bundle.version, index.digest), undefined).catch(
            (cause: unknown) => {
              throw notWritten(publishedPath, cause);
            },
          );
          return { path: to };
        };
        return { place, discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    close: async () => {},
  };
}

/** What `--bundle-file` names: without it a server serves the bundle, and reports for ever that it waits for one. */
function publishedText(version: string | undefined, digest: string): string {
  return `${JSON.stringify({ version, digest })}\n`;
}
