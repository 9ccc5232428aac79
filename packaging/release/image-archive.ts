// The image of both platforms as one archive of OCI, built by buildah from the Dockerfile with programs that are built
// already. Owns a store of its own, which goes with its folder. Refuses to start from a tag. Nothing in the image is of the
// day on which it is built.

import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packFolder } from './fixed-tar.ts';
import { type ImageBase, indexShape, type Platform, platforms, sortIndex } from './image-layout.ts';
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
/** Its mounts go with the process, or the folder could not be removed. Other users than root get this from buildah itself. */
const ownMounts = process.getuid?.() === 0 ? ['unshare', '--mount', '--'] : [];
const baseList = 'localhost/base:release';

/** @throws Error with what the builder wrote */
export async function buildImageArchive(order: ImageOrder): Promise<BuiltImage> {
  const { place, folder, version, seconds } = order;
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
  const buildah = (...args: readonly string[]): Promise<string> =>
    runTool([...ownMounts, 'buildah', ...store, ...args], { ...place, cwd: folder });
  const base = await findBase(order.base, folder, buildah);
  const labels = { 'base.name': base.reference, 'base.digest': base.digest };
  for (const platform of platforms) {
    const values = { VERSION: version, REVISION: order.commit, SOURCE: order.source ?? '' };
    const stages = { programs: order.programs, documents: order.documents };
    const own = isOwn(platform)
      ? {}
      : { compiled: await withoutCompiledCode(join(folder, 'none'), platform) };
    await buildah(
      ...['build', '--isolation=chroot', '--pull=never', '--format=oci', '--identity-label=false'],
      ...[`--timestamp=${seconds}`, `--platform=${platform}`, `--manifest=${listName}`],
      ...Object.entries({ BASE: base.ids[platform], ...values, ...ofBuilder }).map(
        ([name, value]) => `--build-arg=${name}=${value}`,
      ),
      ...Object.entries(labels).map(([name, value]) => `--label=org.opencontainers.image.${name}=${value}`),
      ...Object.entries({ ...stages, ...own }).map(([name, path]) => `--build-context=${name}=${path}`),
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
  /** An image of the store for each platform: a name of both could stand for the wrong one. */
  readonly ids: Readonly<Record<Platform, string>>;
  readonly reference: string;
  /** Of the index of both platforms. */
  readonly digest: string;
}

async function findBase(
  base: ImageBase,
  folder: string,
  buildah: (...args: readonly string[]) => Promise<string>,
): Promise<FoundBase> {
  await buildah('manifest', 'create', baseList);
  let from: string;
  if (base.kind === 'registry') from = base.reference;
  else {
    // The builder makes a name of the path, and refuses one with an upper-case letter.
    await symlink(base.path, join(folder, 'base'));
    from = `${base.transport}:base${base.tag}`;
  }
  const pull = async (platform: Platform): Promise<string> => {
    const id = (await buildah('pull', '--quiet', '--platform', platform, from)).trim();
    await buildah('manifest', 'add', baseList, `containers-storage:${id}`);
    return id;
  };
  const ids = { 'linux/amd64': await pull('linux/amd64'), 'linux/arm64': await pull('linux/arm64') };
  const pulled = sortIndex(indexShape.parse(JSON.parse(await buildah('manifest', 'inspect', baseList))), '');
  if (base.kind === 'registry') {
    return { ids, reference: base.reference, digest: base.digest ?? pulled.digest };
  }
  // A path is of one machine, and says nothing on another one.
  return { ids, reference: `localhost/base@${pulled.digest}`, digest: pulled.digest };
}

const ownArchitecture = process.arch === 'x64' ? 'amd64' : process.arch;
/** BuildKit says it always, this builder only where it builds for its own. */
const ofBuilder = { BUILDPLATFORM: `linux/${ownArchitecture}`, BUILDARCH: ownArchitecture };
const isOwn = (platform: Platform): boolean => platform === ofBuilder.BUILDPLATFORM;

/** What the Dockerfile's stage leaves for a platform that the builder cannot run, without running anything. */
async function withoutCompiledCode(folder: string, platform: Platform): Promise<string> {
  await mkdir(join(folder, 'tmp/compiled', platform.replace('linux/', '')), { recursive: true });
  return folder;
}
