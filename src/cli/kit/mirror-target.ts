// Imports bundles into a registry or a bucket. A whole bundle is copied as the image that it is in the kit, so that its
// reference is the one that the kit's maker knows. A delta becomes an image here.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import { createCountingSink, createPackWriter } from '#bundle/store/pack.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { inStore } from '#bundle/store/store-fault.ts';
import { packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { BlobReader, Carrier } from '#mirror/carrier.ts';
import { type CopiedImage, type CopyOptions, copyBundle, copyImage } from '#mirror/copy.ts';
import type { BundleImage } from '#mirror/image.ts';
import { imageOf, readKitBundle } from '#mirror/kit/kit-bundle.ts';
import type { KitBundle } from '#mirror/kit/kit-document.ts';
import { kitDamaged } from '#mirror/kit/kit-error.ts';
import { referenceTo } from '#mirror/mirror-reference.ts';
import { findImage, readImage } from '#mirror/mirrored-content.ts';
import { makeFolder } from '#platform/runtime/folder.ts';
import type { ImportContext, ImportTarget, Placed, Staged } from './import-target.ts';
import { stageBundle } from './stage.ts';

/** @param carrier is closed with the target */
export function mirrorTarget(carrier: Carrier, { context, limits, blobs }: ImportContext): ImportTarget {
  const { random, signal } = context;
  const newWorkDir = (): string => join(tmpdir(), `static-export-${random.uuid()}`);
  const placed = (image: BundleImage): Placed => ({ ref: referenceTo(carrier.name, image) });
  const optionsFor = (workDir: string): CopyOptions => ({ compression: 'Zstd', workDir, limits });

  const stageWhole = async (bundle: KitBundle, workDir: string): Promise<Staged> => {
    const sink = { limits, pack: createCountingSink(), workDir };
    await readKitBundle(bundle, blobs(), undefined, sink, signal);
    const make = (): Promise<CopiedImage> => imageInKit(bundle, blobs(), signal);
    return {
      place: async () => placed(await copyImage(bundle.digest, make, carrier, optionsFor(workDir), signal)),
      discard: () => removeQuietly(workDir),
    };
  };
  const stageDelta = async (bundle: KitBundle, base: StoredBundle, workDir: string): Promise<Staged> => {
    const options = { limits, base, keepsHiddenFiles: true, onProgress: () => {} };
    const { folder, index } = await stageBundle(bundle, blobs(), workDir, options, signal);
    const place = async (): Promise<Placed> => {
      const opened = await openPack(join(folder, packName), index, undefined);
      try {
        const { digest, version } = bundle;
        const copied = { digest, version, files: packedFiles(opened) };
        return placed(await copyBundle(copied, carrier, optionsFor(workDir), signal));
      } finally {
        await opened.close();
      }
    };
    return { place, discard: () => removeQuietly(workDir) };
  };
  return {
    statePath: undefined,
    prepare: async () => {},
    findBase: async (digest) => {
      const image = await findImage(carrier, digest, digest, signal);
      return image && openMirrored(image, newWorkDir());
    },
    stage: async (bundle, base) => {
      const workDir = newWorkDir();
      try {
        return base === undefined
          ? await stageWhole(bundle, workDir)
          : await stageDelta(bundle, base, workDir);
      } catch (error) {
        await removeQuietly(workDir);
        throw error;
      }
    },
    close: () => carrier.close(),
  };

  async function openMirrored(image: BundleImage, workDir: string): Promise<StoredBundle> {
    try {
      await inStore(makeFolder(workDir));
      const packPath = join(workDir, packName);
      const pack = createPackWriter(packPath);
      try {
        const sink = { limits, pack, spoolPath: join(workDir, 'spool') };
        const index = await readImage(carrier, image, sink, signal);
        await pack.commit();
        const opened = await openPack(packPath, index, undefined);
        const close = async (): Promise<void> => {
          await opened.close();
          await removeQuietly(workDir);
        };
        return { ...opened, close };
      } finally {
        pack.abandon();
      }
    } catch (error) {
      await removeQuietly(workDir);
      throw error;
    }
  }
}

/** The image of a whole bundle, byte by byte. */
async function imageInKit(bundle: KitBundle, blobs: BlobReader, signal: AbortSignal): Promise<CopiedImage> {
  const image = await imageOf(bundle, blobs, signal);
  const manifestBytes = await blobs.readManifest(bundle.manifest, signal);
  // A config is as small as a manifest, and is named in the same way.
  const configBytes = await blobs.readManifest(image.config.digest, signal);
  if (manifestBytes === undefined || configBytes === undefined)
    throw kitDamaged('a config is missing or too large');
  const openLayer = () => blobs.readBlob(image.layer, signal);
  return { image, manifestBytes, configBytes, openLayer, close: async () => {} };
}
