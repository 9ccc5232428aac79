// What the kubelet does for a pod that mounts a Secret, for a server that runs without a pod: the keys as files
// in a folder, replaced together through the `..data` symlink, some time after the Secret has changed.

import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildProgram } from './child-program.ts';

export interface MountedSecret {
  /** The folder a container would see. */
  readonly folder: string;
  /** How many different contents were written so far. */
  readonly writes: () => number;
  stop(): Promise<void>;
}

type Watch = (args: readonly string[], onLine: (line: string) => void) => ChildProgram;

/** Follows one key of a Secret (base64 of it is what crosses the watch) and keeps `folder/key` up to date. */
export async function mountSecret(
  watch: Watch,
  secret: { readonly namespace: string; readonly name: string; readonly key: string },
  folder: string,
): Promise<MountedSecret> {
  await mkdir(folder, { recursive: true });
  let writes = 0;
  let last = '';
  let queue = Promise.resolve();
  const watcher = watch(
    [
      'get',
      'secrets',
      `--namespace=${secret.namespace}`,
      `--field-selector=metadata.name=${secret.name}`,
      `--output=jsonpath={.data.${secret.key.replaceAll('.', '\\.')}}{"\\n"}`,
    ],
    (line) => {
      if (line === '' || line === last) return;
      last = line;
      writes += 1;
      const revision = `..revision-${writes}`;
      queue = queue.then(() => replaceTogether(folder, secret.key, revision, Buffer.from(line, 'base64')));
    },
  );
  return {
    folder,
    writes: () => writes,
    stop: async () => {
      await watcher.stop();
      await queue;
    },
  };
}

async function replaceTogether(
  folder: string,
  key: string,
  revision: string,
  content: Buffer,
): Promise<void> {
  await mkdir(join(folder, revision));
  await writeFile(join(folder, revision, key), content, { mode: 0o600 });
  await symlink(revision, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  await symlink(join('..data', key), join(folder, key)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const previous = Number(revision.split('-')[1]) - 2;
  if (previous > 0) await rm(join(folder, `..revision-${previous}`), { recursive: true, force: true });
}
