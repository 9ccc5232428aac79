// Writes what a kit carries besides bundles into a folder: charts and the SBOM under their names, the image as an OCI archive
// that `skopeo`, `ctr` and `podman` load. Refuses to replace a file, unless told. Invariant: each file is whole or as before.

import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArchivedFile, archiveBytes } from '#bundle/archive/archive-writer.ts';
import type { Descriptor } from '#mirror/carrier.ts';
import { blobPath, indexPath, type KitPart, layoutPath } from '#mirror/kit/kit-document.ts';
import { kitDamaged } from '#mirror/kit/kit-error.ts';
import type { KitBlobs, KitHead } from '#mirror/kit/kit-reader.ts';
import { findImageBlobs, formatKitIndex, layoutBytes, parseLayer } from '#mirror/kit/layout.ts';
import { isThere, makeFolder, syncFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { namedPath, newPartialName, notWritten } from '../output/destination.ts';

export interface ImportedPart {
  readonly kind: KitPart['kind'];
  readonly name: string;
  readonly path: string;
}

export interface PartsPlace {
  readonly folder: string;
  readonly replace: boolean;
}

/** Before anything is written. @throws {CliError} `DestinationExists` */
export async function requirePartsPlace(
  { document }: KitHead,
  { folder, replace }: PartsPlace,
): Promise<void> {
  for (const { name } of document.parts) {
    const path = join(folder, name);
    if (replace || !(await isThere(path))) continue;
    const message = `${namedPath('--parts-to', path)} exists; name another folder, or add --replace`;
    throw new CliError('usage', 'DestinationExists', message);
  }
}

/** @throws {CliError} `DestinationExists`, `DestinationNotWritten`; {KitError}; the signal's reason */
export async function writeParts(
  head: KitHead,
  blobs: KitBlobs,
  place: PartsPlace,
  signal: AbortSignal,
): Promise<readonly ImportedPart[]> {
  const written: ImportedPart[] = [];
  for (const part of head.document.parts) {
    const { kind, name } = part;
    const path = join(place.folder, name);
    const bytes = kind === 'image' ? imageArchive(head, part, blobs, signal) : layerOf(part, blobs, signal);
    await writeStream(path, bytes, signal);
    written.push({ kind, name, path });
  }
  return written;
}

async function* layerOf(part: KitPart, blobs: KitBlobs, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* blobs.readBlob(parseLayer(await blobs.readManifest(part.manifest, signal)), signal);
}

async function* imageArchive(
  { document }: KitHead,
  part: KitPart,
  blobs: KitBlobs,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const root = (await blobs.readIndex()).find(({ digest }) => digest === part.manifest);
  if (root === undefined) throw kitDamaged('its index does not name the image');
  const sizes = new Map(document.files.map(({ path, size }) => [path, size]));
  const has = ({ digest, size }: Descriptor): boolean => sizes.get(blobPath(digest)) === size;
  const found = await findImageBlobs(root, (one) => blobs.readManifest(one.digest, signal), has);
  if (found.missing.length > 0) throw kitDamaged('its image lacks a blob');
  const small = (path: string, bytes: Buffer): ArchivedFile => ({
    path,
    size: bytes.length,
    read: () => [bytes],
  });
  const files = found.blobs.map((blob) => ({
    path: blobPath(blob.digest),
    size: blob.size,
    read: () => blobs.readBlob(blob, signal),
  }));
  const layout = [small(layoutPath, layoutBytes), small(indexPath, formatKitIndex([root]))];
  yield* archiveBytes([...layout, ...files], 'tar', signal);
}

async function writeStream(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const name = namedPath('--parts-to', path);
  let partial: string | undefined;
  try {
    await makeFolder(dirname(path));
    partial = await newPartialName(path);
    const file = await open(partial, 'wx');
    try {
      for await (const chunk of bytes) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if (partial !== undefined) await rm(partial, { force: true });
    signal.throwIfAborted();
    throw error instanceof PublishableError ? error : notWritten(name, error);
  }
}
