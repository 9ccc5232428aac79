// Builds images from Dockerfiles without a registry or a daemon, in a store of its own that goes with its folder.
// Mounts happen in a mount namespace of their own, so that a killed build leaves none.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';

export interface BuildOrder {
  /** Full name, `localhost/…:tag`. */
  readonly name: string;
  readonly context: string;
  readonly dockerfile: string;
  /** `linux/arm64`, say; this machine's when absent. */
  readonly platform?: string;
  /** Values of the Dockerfile's ARGs. */
  readonly args?: Readonly<Record<string, string>>;
  /** What takes the place of a stage: a folder, or `docker-image://NAME`. */
  readonly stages?: Readonly<Record<string, string>>;
  /** Files and folders of the machine that `RUN` sees: path here → path there. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export interface ImageBuilder {
  build(order: BuildOrder): Promise<void>;
  /** Writes the image as `docker save` would, and gives the file's path. */
  save(name: string): Promise<string>;
}

/** @param folder existing; the builder keeps its store in it */
export async function createImageBuilder(folder: string): Promise<ImageBuilder> {
  const archives = join(folder, 'archives');
  await mkdir(archives);
  const state = join(folder, 'var-lib');
  await mkdir(state);
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'store-run')];
  const buildah = ['unshare', '--mount', '--', 'sh', '-ceu', hideState, 'buildah', state, ...store];
  return {
    build: async ({ name, context, dockerfile, platform, args = {}, stages = {}, mounts = {} }) => {
      const values = Object.entries({ ...(platform !== undefined && builderArguments()), ...args }).map(
        ([key, value]) => `--build-arg=${key}=${value}`,
      );
      const contexts = Object.entries(stages).map(([stage, path]) => `--build-context=${stage}=${path}`);
      const volumes = Object.entries(mounts).map(([here, there]) => `--volume=${here}:${there}`);
      const target = [`--tag=${name}`, ...(platform === undefined ? [] : [`--platform=${platform}`])];
      const options = ['--isolation=chroot', '--pull-never', `--file=${dockerfile}`, ...target];
      await mustRun([...buildah, 'bud', ...options, ...values, ...contexts, ...volumes, context], {
        timeoutMs: 1_800_000,
      });
    },
    save: async (name) => {
      const file = join(archives, `${name.replaceAll(/[/:]/g, '-')}.tar`);
      await mustRun([...buildah, 'push', name, `docker-archive:${file}:${name}`]);
      return file;
    },
  };
}

// BuildKit says it always, this builder only where it builds for its own.
function builderArguments(): Readonly<Record<string, string>> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return { BUILDPLATFORM: `linux/${architecture}`, BUILDARCH: architecture };
}

// It remembers where it saw each blob under /var/lib, whatever store it is told to use.
const hideState = 'mount --bind "$1" /var/lib; shift; exec buildah "$@"';
