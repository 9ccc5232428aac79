// A program that puts a bundle into a store and makes it current, and kills itself with -9 at a given file operation,
// the writes of the pack included.
// Arguments: store, archive, steps to let through, the moment of the kill. Prints how many steps a whole run takes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultLimits } from '#bundle/limits.ts';
import { runPreparation } from '#bundle/prepare/preparation-run.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { readText } from '../../support/store-builder.ts';
import { step, stepsTaken } from './kill-steps.ts';

const [store = '', archive = ''] = process.argv.slice(2);

const disk: StoreDisk = {
  makeFolder: (path) => step(() => systemDisk.makeFolder(path)),
  list: (path) => step(() => systemDisk.list(path)),
  readText: (path) => step(() => systemDisk.readText(path)),
  openFile: (path) => step(() => systemDisk.openFile(path)),
  writeText: (path, text) =>
    step(
      () => systemDisk.writeText(path, text),
      () => writeFileSync(path, text.slice(0, text.length / 2)),
    ),
  rename: (from, to) => step(() => systemDisk.rename(from, to)),
  syncFolder: (path) => step(() => systemDisk.syncFolder(path)),
  remove: (path) => step(() => systemDisk.remove(path)),
};

const opened = await openBundleStore(store, { keep: 1, disk });
const { digest } = await runPreparation(
  {
    task: 'prepare',
    link: pathToFileURL(archive).href,
    storeDir: store,
    workDir: join(store, `.incoming-${process.pid}`),
    expectedDigest: undefined,
    limits: defaultLimits,
    allowPrivateLinks: true,
    allowFileLinks: true,
    extraCaPem: undefined,
    userAgent: 'test',
    wantsFiles: true,
  },
  {
    clock: systemClock,
    proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
    disk,
    onProgress: () => {},
    // As the server does: what is offered is open while it is being stored.
    offer: async (index, packPath) => {
      const bundle = await openPack(packPath, index, undefined);
      for (const file of index.files.filter(({ path }) => path === 'index.html')) readText(bundle, file);
      await bundle.close();
    },
  },
);
const stored = await opened.open(digest);
await stored?.close();
await opened.activate(digest, { version: 'new', activatedAt: 2 });
await opened.sweep();
console.log(stepsTaken());
