// What a kit carries besides bundles: the image, charts and an SBOM, each as the OCI artifact that its own tools read. Refuses
// an image that lacks a blob, and a file that is not a chart. Invariant: a blob is hashed before it is listed.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as z from 'zod';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Descriptor, OpenBytes } from '#mirror/carrier.ts';
import type { KitContents } from '#mirror/kit/kit-contents.ts';
import { blobPath, indexPath, type KitPart, layoutPath, partNamePattern } from '#mirror/kit/kit-document.ts';
import {
  type ArtifactOptions,
  findImageBlobs,
  formatArtifact,
  indexEntry,
  parseKitIndex,
} from '#mirror/kit/layout.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { openArchive, type SizeLimits, withArchive } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { readPlainYaml } from '../plain-yaml.ts';

export interface PartContext {
  readonly contents: KitContents;
  readonly values: SizeLimits;
  readonly context: CliContext;
  /** Released when the kit is written. */
  keep(release: () => Promise<void>): void;
}

const longestManifest = 4 * 1024 * 1024;

/** An OCI image layout in a tar, as `skopeo`, `docker buildx` and `docker save` write it. */
export async function addImage(
  path: string,
  { contents, values, context, keep }: PartContext,
): Promise<void> {
  const archive = await openArchive(path, values, context, 'Reading the image');
  keep(archive.close);
  const files = new Map(archive.index.files.map((file) => [file.path, file]));
  const read = async (name: string): Promise<Buffer | undefined> => {
    const file = files.get(name);
    if (file === undefined || file.size > longestManifest) return undefined;
    return readBytes(archive, file);
  };
  const [root, ...others] = parseKitIndex((await read(indexPath)) ?? Buffer.alloc(0)) ?? [];
  if (root === undefined || !files.has(layoutPath)) {
    throw invalid(
      'ImageInvalid',
      '--image is not an OCI archive; write it by "skopeo copy … oci-archive:FILE.tar"',
    );
  }
  if (others.length > 0)
    throw invalid('ImageInvalid', '--image holds several images; write an archive of one');
  const isWhole = ({ digest, size }: Descriptor): boolean => {
    const file = files.get(blobPath(digest));
    return file?.size === size && `sha256:${file.sha256}` === digest;
  };
  const { blobs, missing } = await findImageBlobs(
    root,
    async (one) => (isWhole(one) ? read(blobPath(one.digest)) : undefined),
    isWhole,
  );
  if (missing.length > 0) {
    throw invalid(
      'ImageIncomplete',
      `--image lacks ${missing.length} of its blobs, such as ${missing[0]}; write it again`,
    );
  }
  for (const blob of blobs) {
    const file = files.get(blobPath(blob.digest));
    if (file !== undefined) contents.addBlob(blob, () => pieces(archive, file));
  }
  contents.addPart({ kind: 'image', name: nameOf('--image', path), manifest: root.digest }, root);
}

const chartShape = z.looseObject({ name: z.string().min(1), version: z.string().min(1) });
const helmConfigType = 'application/vnd.cncf.helm.config.v1+json';
const helmLayerType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const longestChartFile = 1024 * 1024;

/** A packed chart, in the form in which `helm pull oci://` reads it. */
export async function addChart(path: string, parts: PartContext): Promise<void> {
  const { values, context } = parts;
  const chart = await withArchive(path, values, context, async (archive) => {
    const file = archive.index.files.find((one) => /^(?:[^/]+\/)?Chart\.yaml$/.test(one.path));
    const isRead = file !== undefined && file.size <= longestChartFile;
    return isRead ? readChart((await readBytes(archive, file)).toString('utf8')) : undefined;
  });
  if (chart === undefined)
    throw invalid('ChartInvalid', '--chart is not a packed chart; write it by "helm package"');
  const options = { config: { mediaType: helmConfigType, bytes: Buffer.from(JSON.stringify(chart)) } };
  // A tag has no "+"; Helm writes "_" for it.
  const reference = `${chart.name}-${chart.version.replaceAll('+', '_')}`;
  await addFile('chart', path, helmLayerType, reference, options, parts);
}

function readChart(text: string) {
  try {
    return chartShape.safeParse(readPlainYaml(text)[0]).data;
  } catch {
    return undefined;
  }
}

/** By the field that each format begins with. */
const sbomTypes: readonly (readonly [RegExp, string])[] = [
  [/"spdxVersion"/, 'application/spdx+json'],
  [/"CycloneDX"/, 'application/vnd.cyclonedx+json'],
];

export async function addSbom(path: string, parts: PartContext): Promise<void> {
  let head = '';
  for await (const chunk of fileBytes('--sbom', path, 64 * 1024)) head += chunk.toString('latin1');
  const mediaType = sbomTypes.find(([field]) => field.test(head))?.[1] ?? 'application/octet-stream';
  await addFile('sbom', path, mediaType, 'sbom', { artifactType: mediaType }, parts);
}

/** A file of the user as the only layer of an artifact. */
async function addFile(
  kind: KitPart['kind'],
  path: string,
  mediaType: string,
  reference: string,
  options: Omit<ArtifactOptions, 'layer' | 'title'>,
  { contents, context }: PartContext,
): Promise<void> {
  const flag = `--${kind}`;
  const name = nameOf(flag, path);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of fileBytes(flag, path)) {
    context.signal.throwIfAborted();
    hash.update(chunk);
    size += chunk.length;
  }
  const layer = { mediaType, digest: `sha256:${hash.digest('hex')}`, size };
  const { manifest, manifestBytes, configBytes } = formatArtifact({ ...options, layer, title: name });
  const open: OpenBytes = () => fileBytes(flag, path);
  contents.addBlob(layer, open);
  contents.addBytes(configBytes);
  contents.addBytes(manifestBytes);
  contents.addPart({ kind, name, manifest: manifest.digest }, indexEntry(manifest, reference));
}

async function* fileBytes(flag: string, path: string, most?: number): AsyncGenerator<Buffer> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw invalid('PartUnreadable', `${flag} is not a file; check its path`);
    // `end` is inclusive.
    for await (const chunk of createReadStream(path, most === undefined ? {} : { end: most - 1 })) {
      yield Buffer.from(chunk);
    }
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const code = publishableCode(cause);
    const why =
      code === 'ENOENT'
        ? 'does not exist; check its path'
        : `cannot be read (${code}); check its permissions`;
    throw new CliError('usage', 'PartUnreadable', `the file of ${flag} ${why}`, { cause });
  }
}

function nameOf(flag: string, path: string): string {
  const name = basename(path);
  if (partNamePattern.test(name)) return name;
  throw invalid(
    'PartNameInvalid',
    `the file of ${flag} has a name with other characters than A-Z, a-z, 0-9, ".", "_", "-" and "+"; rename it`,
  );
}

type PackedFile = StoredBundle['index']['files'][number];

async function readBytes(archive: StoredBundle, file: PackedFile): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  await archive.readInto(file, bytes);
  return bytes;
}

const pieceBytes = 1024 * 1024;

async function* pieces(archive: StoredBundle, { offset, size }: PackedFile): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += pieceBytes) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    await archive.readInto({ offset: offset + at, size: piece.length }, piece);
    yield piece;
  }
}

const invalid = (code: string, message: string): CliError => new CliError('usage', code, message);
