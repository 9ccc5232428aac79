// The parts of a small bundle as a mirror stores them: blobs with their descriptors, and a manifest that names them.

import { createHash } from 'node:crypto';
import type { Carrier, Descriptor } from '#mirror/carrier.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';

export interface BundleParts {
  readonly blobs: readonly { readonly descriptor: Descriptor; readonly bytes: Buffer }[];
  readonly manifest: Buffer;
  readonly digest: string;
}

export const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export function describe(bytes: Buffer, mediaType = 'application/octet-stream'): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

/** @param contents of its blobs, the first one its config */
export function bundleOf(...contents: readonly string[]): BundleParts {
  const blobs = contents.map((content) => {
    const bytes = Buffer.from(content);
    return { descriptor: describe(bytes), bytes };
  });
  const [config, ...layers] = blobs.map(({ descriptor }) => descriptor);
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers }));
  return { blobs, manifest, digest: digestOf(manifest) };
}

export async function writeBundle(
  carrier: Carrier,
  tag: string,
  { blobs, manifest }: BundleParts,
  signal: AbortSignal,
): Promise<void> {
  for (const { descriptor, bytes } of blobs) {
    await carrier.writeBlob(descriptor, () => inOnePiece(bytes), signal);
  }
  await carrier.writeManifest(tag, manifestType, manifest, signal);
}

export async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** For `assert.rejects`. */
export const failsWith =
  (code: MirrorErrorCode, message?: RegExp, isTemporary = false) =>
  (error: unknown): boolean => {
    if (!(error instanceof PublishableError)) throw error;
    if (error.code !== code || error.isTemporary !== isTemporary) throw error;
    if (message !== undefined && !message.test(error.message)) throw error;
    return true;
  };
