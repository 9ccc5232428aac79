// The image for both platforms as one OCI archive, built by buildah from the Dockerfile with the programs of this release, on
// the base of the locks. Owns the builder's store, which is in the caller's folder. The same programs and locks give the same
// bytes: one time, one order of platforms, one compressor, and no name of the machine or day on which it is built.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createZstdCompress } from 'node:zlib';
import { type Platform, platforms } from '../base/base-lock.ts';
import { makeBaseRoot } from '../base/base-root.ts';
import { packFolder } from './fixed-tar.ts';
import {
  type ImageManifest,
  indexShape,
  type JsonBlob,
  manifestShape,
  type StoredBlob,
  sortIndex,
  withCompressedLayers,
} from './image-layout.ts';
import { runTool, type ToolPlace } from './tool.ts';

export interface ImageOrder {
  /** The checkout. */
  readonly place: ToolPlace;
  /** Existing and empty: store, layouts. */
  readonly folder: string;
  readonly programs: string;
  readonly documents: string;
  /** Of Debian; of the machine's apt when absent. */
  readonly mirror: string | undefined;
  readonly version: string;
  readonly commit: string;
  readonly source: string | undefined;
  /** Of the commit, since 1970. */
  readonly seconds: number;
  /** The archive's file. */
  readonly to: string;
}

type Buildah = (...args: readonly string[]) => Promise<string>;

const nameOf = (what: string, platform: Platform): string =>
  `localhost/${what}:${platform.replace('linux/', '')}`;
/** Its mounts go with the process, or the folder could not be removed. Other users than root get this from buildah itself. */
const ownMounts = process.getuid?.() === 0 ? ['unshare', '--mount', '--'] : [];

/**
 * @returns the digest of the index that names both platforms
 * @throws Error with what the builder wrote
 */
export async function buildImageArchive(order: ImageOrder): Promise<string> {
  const { place, folder } = order;
  const [root, run] = [join(folder, 'store'), join(folder, 'run')];
  const removal = storeRemoval(process.getuid?.() ?? 0, [root, run]);
  try {
    return await buildInStore(order, ['--root', root, '--runroot', run]);
  } finally {
    // Its failure must not hide the first one. The owner of the folder says what remains.
    if (removal !== undefined) await runTool(removal, { ...place, cwd: folder }).catch(() => {});
  }
}

/**
 * Files of a layer belong to subordinate users where another user than root builds: that user alone cannot remove them.
 *
 * @returns the command; `undefined` for root, who removes any file
 */
export const storeRemoval = (uid: number, folders: readonly string[]): readonly string[] | undefined =>
  uid === 0 ? undefined : ['buildah', 'unshare', 'rm', '-rf', '--', ...folders];

async function buildInStore(order: ImageOrder, store: readonly string[]): Promise<string> {
  const { place, folder, version, seconds, to } = order;
  const buildah: Buildah = (...args) =>
    runTool([...ownMounts, 'buildah', ...store, ...args], { ...place, cwd: folder });
  const layout = join(folder, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const manifests: Partial<Record<Platform, ImageManifest>> = {};
  for (const platform of platforms) {
    await buildBase(order, platform, buildah);
    await buildImage(order, platform, buildah);
    const from = join(folder, `layout-${platform.replace('/', '-')}`);
    await buildah(
      // Its lowest level: the layers are compressed again.
      ...['push', '--quiet', '--compression-format=gzip', '--compression-level=1', '--format=oci'],
      ...[nameOf('static-export-operator', platform), `oci:${from}:${version}`],
    );
    manifests[platform] = await readLayout(from);
  }
  const compress = async (platform: Platform): Promise<JsonBlob> => {
    const manifest = manifestShape.parse(manifests[platform]);
    const from = join(folder, `layout-${platform.replace('/', '-')}`, 'blobs/sha256');
    const fileOf = (digest: string): string => join(from, digest.replace('sha256:', ''));
    const done = manifest.layers.map(
      async ({ digest }) => [digest, await compressLayer(fileOf(digest), blobs)] as const,
    );
    const compressed = withCompressedLayers(manifest, new Map(await Promise.all(done)));
    await writeFile(join(blobs, compressed.digest.replace('sha256:', '')), compressed.bytes);
    const config = manifest.config.digest;
    await writeFile(join(blobs, config.replace('sha256:', '')), await readFile(fileOf(config)));
    return compressed;
  };
  const [amd64, arm64] = await Promise.all([compress('linux/amd64'), compress('linux/arm64')]);
  const index = sortIndex({ 'linux/amd64': amd64, 'linux/arm64': arm64 }, version);
  await writeFile(join(blobs, index.digest.replace('sha256:', '')), index.bytes);
  await writeFile(join(layout, 'index.json'), index.top);
  await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await packFolder(layout, ['oci-layout', 'index.json', ...(await blobNames(layout, place))], seconds, to);
  return index.digest;
}

async function buildBase(order: ImageOrder, platform: Platform, buildah: Buildah): Promise<void> {
  const { folder, place, mirror, seconds } = order;
  const root = join(folder, `base-${platform.replace('/', '-')}`);
  await mkdir(root);
  await makeBaseRoot({ platform, to: root, mirror, place });
  const recipe = join(folder, 'base.dockerfile');
  await writeFile(recipe, 'FROM scratch\nCOPY . /\n');
  await buildah(
    ...['build', '--isolation=chroot', '--format=oci', '--identity-label=false', `--timestamp=${seconds}`],
    ...[`--platform=${platform}`, `--tag=${nameOf('base', platform)}`, `--file=${recipe}`, root],
  );
}

async function buildImage(order: ImageOrder, platform: Platform, buildah: Buildah): Promise<void> {
  const { folder, place, programs, documents, version, commit, source, seconds } = order;
  const base = `docker-image://${nameOf('base', platform)}`;
  const values = {
    ...{ VERSION: version, REVISION: commit, SOURCE: source ?? '' },
    ...ofBuilder,
  };
  const isOwn = platform === ofBuilder.BUILDPLATFORM;
  const compiled = isOwn ? {} : { compiled: await withoutCompiledCode(join(folder, 'none'), platform) };
  await buildah(
    ...['build', '--isolation=chroot', '--pull=never', '--format=oci', '--identity-label=false'],
    ...[`--timestamp=${seconds}`, `--platform=${platform}`],
    `--tag=${nameOf('static-export-operator', platform)}`,
    ...Object.entries(values).map(([name, value]) => `--build-arg=${name}=${value}`),
    ...Object.entries({ programs, documents, base, own: base, ...compiled }).map(
      ([name, path]) => `--build-context=${name}=${path}`,
    ),
    ...[`--file=${join(place.cwd, 'Dockerfile')}`, place.cwd],
  );
}

async function readLayout(layout: string): Promise<ImageManifest> {
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(join(layout, file), 'utf8'));
  const [entry] = indexShape.parse(await read('index.json')).manifests;
  if (entry === undefined) throw new Error('The builder wrote no image. Check its version.');
  return manifestShape.parse(await read(`blobs/${entry.digest.replace(':', '/')}`));
}

/** The highest level that every reader of Zstandard accepts: beyond it, windows are larger than 8 MiB. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 19 } };

/** @param blobs gets the compressed layer, under its sum */
async function compressLayer(file: string, blobs: string): Promise<StoredBlob> {
  const draft = `${file}.zst`;
  await pipeline(createReadStream(file), createGunzip(), createZstdCompress(level), createWriteStream(draft));
  const bytes = await readFile(draft);
  const hex = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(blobs, hex), bytes);
  return { digest: `sha256:${hex}`, size: bytes.length };
}

async function blobNames(layout: string, place: ToolPlace): Promise<readonly string[]> {
  const listed = await runTool(['find', 'blobs', '-type', 'f'], { ...place, cwd: layout });
  return listed
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

const ownArchitecture = process.arch === 'x64' ? 'amd64' : process.arch;
/** BuildKit says it always, this builder only where it builds for its own. */
const ofBuilder = { BUILDPLATFORM: `linux/${ownArchitecture}`, BUILDARCH: ownArchitecture };

/** What the Dockerfile's stage leaves for a platform that the builder cannot run, without running anything. */
async function withoutCompiledCode(folder: string, platform: Platform): Promise<string> {
  await mkdir(join(folder, 'tmp/compiled', platform.replace('linux/', '')), { recursive: true });
  return folder;
}
