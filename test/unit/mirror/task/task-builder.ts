// A small site as an archive on disk, and the tasks that a thread gets for it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultLimits } from '#bundle/limits.ts';
import type { PrepareTask } from '#bundle/prepare/preparation.ts';
import type { CopyContext } from '#mirror/task/copy-run.ts';
import type { CopyReport, MirrorCopyTask, SentPlace } from '#mirror/task/mirror-task.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { planSearchable } from '#site/search/searchable-site.ts';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { type TarFiles, tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

export const site: TarFiles = {
  'index.html': '<h1>Home</h1>',
  'guide/a.html': 'a'.repeat(5000),
  '.hidden': 'x',
};

export const place: SentPlace = {
  address: 'oci://registry.example.com/docs',
  access: {
    secret: undefined,
    endpoint: undefined,
    region: 'us-east-1',
    pathStyle: false,
    allowPrivateAddresses: false,
    isHttpAllowed: false,
    extraCaPem: undefined,
    userAgent: 'test',
  },
  usesIdentity: false,
  owner: { namespace: 'docs', name: 'site', uid: 'uid-1' },
  isExclusive: false,
};

type CopyChange = Partial<Omit<MirrorCopyTask, 'prepare'>> & { readonly prepare?: Partial<PrepareTask> };

export interface TaskBuilder {
  /** Removed after the tests of the file. */
  readonly folder: string;
  copyTask(files?: TarFiles | Buffer, change?: CopyChange): MirrorCopyTask;
}

/** One for each test file, because files that share a process have hooks of their own. */
export function taskBuilder(): TaskBuilder {
  const folder = temporaryFolder();
  let tasks = 0;
  return {
    folder,
    copyTask: (files = site, change = {}) => {
      tasks += 1;
      const archive = join(folder, `site-${tasks}.tar`);
      writeFileSync(archive, Buffer.isBuffer(files) ? files : tarOf(files));
      return {
        ...{ task: 'copy-to-mirror', place, compression: 'Zstd', versionStamp: '20260131-120000' },
        transform: undefined,
        ...change,
        prepare: {
          ...{ task: 'prepare', link: pathToFileURL(archive).href, allowFileLinks: true },
          ...{ allowPrivateLinks: false, storeDir: undefined, keepsHiddenFiles: true, wantsFiles: false },
          workDir: join(folder, `work-${tasks}`),
          ...{ limits: defaultLimits, expectedDigest: undefined, extraCaPem: undefined, userAgent: 'test' },
          ...change.prepare,
        },
      };
    },
  };
}

export function copyContext(reports: CopyReport[] = []): CopyContext {
  return {
    clock: systemClock,
    proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
    addSearch: (bundle, made, signal) => planSearchable(bundle, makeSearchFiles, made, signal),
    report: async (one) => void reports.push(one),
    onProgress: () => {},
  };
}
