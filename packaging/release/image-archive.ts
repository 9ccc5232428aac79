// The image of both platforms as one archive of OCI, built by buildah from the Dockerfile with programs that are built
// already. Owns a store of its own, which goes with its folder. Refuses to start from a tag. Nothing in the image is of the
// day on which it is built.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packFolder } from './fixed-tar.ts';
import { type ImageBase, indexShape, platforms, sortIndex } from './image-layout.ts';
import { runTool, type ToolPlace } from './tool.ts';

export interface ImageOrder {
  /** The checkout. */
  readonly place: ToolPlace;
  /** Existing and empty: store, layout. */
  readonly folder: string;
  readonly programs: string;
  readonly documents: string;
  readonly base: ImageBase;
  readonly version: string;
  readonly commit: string;
  readonly source: string | undefined;
  /** Of the commit, since 1970. */
  readonly seconds: number;
  /** The archive's file. */
  readonly to: string;
}

export interface BuiltImage {
  /** Of the index that names both platforms. */
  readonly digest: string;
  readonly base: { readonly reference: string; readonly digest: string };
}

const listName = 'localhost/static-export-operator:release';
const localBase = 'localhost/base:release';

/** @throws Error with what the builder wrote */
export async function buildImageArchive(order: ImageOrder): Promise<BuiltImage> {
  const { place, folder, version, seconds } = order;
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
  const buildah = (...args: readonly string[]): Promise<string> =>
    runTool(['buildah', ...store, ...args], place);
  const base = await findBase(order.base, buildah);
  const own = process.arch === 'x64' ? 'amd64' : process.arch;
  const values = {
    ...{ BASE: base.name, VERSION: version, REVISION: order.commit, SOURCE: order.source ?? '' },
    // BuildKit says it always, this builder only where it builds for its own.
    ...{ BUILDPLATFORM: `linux/${own}`, BUILDARCH: own },
  };
  const labels = { 'base.name': base.reference, 'base.digest': base.digest };
  for (const platform of platforms) {
    await buildah(
      ...['build', '--isolation=chroot', `--timestamp=${seconds}`, '--identity-label=false', '--format=oci'],
      ...[
        `--platform=${platform}`,
        `--manifest=${listName}`,
        order.base.kind === 'file' ? '--pull=never' : '--pull',
      ],
      ...Object.entries(values).map(([name, value]) => `--build-arg=${name}=${value}`),
      ...Object.entries(labels).map(([name, value]) => `--label=org.opencontainers.image.${name}=${value}`),
      ...[`--build-context=programs=${order.programs}`, `--build-context=documents=${order.documents}`],
      ...[`--file=${join(place.cwd, 'Dockerfile')}`, place.cwd],
    );
  }
  const layout = join(folder, 'layout');
  await buildah('manifest', 'push', '--all', '--format=oci', listName, `oci:${layout}:${version}`);
  const digest = await settleLayout(layout, version);
  const blobs = (await filesOf(layout, place)).filter((name) => name.startsWith('blobs/'));
  await packFolder(layout, ['oci-layout', 'index.json', ...blobs], seconds, order.to);
  return { digest, base: { reference: base.reference, digest: base.digest } };
}

async function filesOf(folder: string, place: ToolPlace): Promise<readonly string[]> {
  const listed = await runTool(['find', '.', '-type', 'f'], { ...place, cwd: folder });
  return listed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^\.\//, ''))
    .sort();
}

/** The builder's index goes; one in a fixed order takes its place. */
async function settleLayout(layout: string, version: string): Promise<string> {
  const blob = (digest: string): string => join(layout, 'blobs/sha256', digest.replace('sha256:', ''));
  const read = async (file: string) => indexShape.parse(JSON.parse(await readFile(file, 'utf8')));
  const [entry] = (await read(join(layout, 'index.json'))).manifests;
  if (entry === undefined) throw new Error('The builder wrote no image. Check its version.');
  const index = sortIndex(await read(blob(entry.digest)), version);
  await rm(blob(entry.digest));
  await writeFile(blob(index.digest), index.bytes);
  await writeFile(join(layout, 'index.json'), index.top);
  return index.digest;
}

interface FoundBase {
  /** As the Dockerfile gets it. */
  readonly name: string;
  readonly reference: string;
  readonly digest: string;
}

async function findBase(
  base: ImageBase,
  buildah: (...args: readonly string[]) => Promise<string>,
): Promise<FoundBase> {
  if (base.kind === 'file') {
    await buildah('manifest', 'create', localBase);
    await buildah('manifest', 'add', '--all', localBase, base.reference);
    const index = indexShape.parse(JSON.parse(await buildah('manifest', 'inspect', localBase)));
    // A path is of one machine. The digest of what both platforms start from says more.
    const { digest } = sortIndex(index, '');
    return { name: localBase, reference: `localhost/base@${digest}`, digest };
  }
  const { reference } = base;
  await buildah('pull', reference);
  const asked = ['inspect', '--type=image', '--format={{.FromImageDigest}}', reference];
  const digest = base.digest ?? (await buildah(...asked)).trim();
  return { name: reference, reference, digest };
}
