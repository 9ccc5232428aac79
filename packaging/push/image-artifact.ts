// The image of a release as an artifact: its OCI archive, unpacked into a folder while each blob is hashed. Owns which parts are
// manifests and which are blobs. Refuses a blob whose bytes are not those of its name, entries outside the layout, and an image
// without one of its platforms.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { type Artifact, type BlobPart, type ManifestPart, PushRefusal } from './artifact.ts';

const descriptorShape = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number(),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
});
const indexShape = z.object({ manifests: z.array(descriptorShape) });
const manifestShape = z.object({ config: descriptorShape, layers: z.array(descriptorShape) });
const wanted = ['linux/amd64', 'linux/arm64'];

/**
 * @param file of the archive
 * @param folder existing and empty; blobs are read from it until the artifact is pushed
 * @param name of the repository below the registry's path
 */
export async function readImageArtifact(
  file: string,
  folder: string,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<Artifact> {
  await unpackLayout(file, folder);
  const blobFile = (digest: string): string => join(folder, digest.replace('sha256:', ''));
  const read = async (part: z.infer<typeof descriptorShape>): Promise<ManifestPart> => ({
    mediaType: part.mediaType,
    digest: part.digest,
    bytes: await readFile(blobFile(part.digest)).catch((cause: unknown) => {
      throw damaged(`lacks the blob ${part.digest}`, cause);
    }),
  });
  const [top, ...others] = readJson(indexShape, await readFile(join(folder, 'index.json'))).manifests;
  if (top === undefined || others.length > 0) throw damaged('does not name one image');
  const root = await read(top);
  const images = readJson(indexShape, root.bytes).manifests;
  const platforms = images.map(({ platform }) => `${platform?.os}/${platform?.architecture}`);
  const missing = wanted.filter((platform) => !platforms.includes(platform));
  if (missing.length > 0) throw damaged(`has no image for ${missing.join(', ')}`);
  const children = await Promise.all(images.map(read));
  const parts = children.flatMap(({ bytes }) => {
    const { config, layers } = readJson(manifestShape, bytes);
    return [...layers, config];
  });
  // Platforms share layers.
  const blobs: BlobPart[] = [];
  for (const { mediaType, digest, size } of new Map(parts.map((part) => [part.digest, part])).values()) {
    const file = blobFile(digest);
    const found = await stat(file).catch(() => undefined);
    if (found?.size !== size) throw damaged(`lacks the blob ${digest}`);
    blobs.push({ mediaType, digest, size, open: () => createReadStream(file) });
  }
  return { kind: 'image', name, version, blobs, children, root };
}

async function unpackLayout(file: string, folder: string): Promise<void> {
  const entries = extract();
  const read = pipeline(createReadStream(file), entries);
  // Awaited at the end; a refusal inside the loop ends it first.
  read.catch(() => {});
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const hex = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(name)?.[1];
    if (type === 'directory') {
      entry.resume();
      continue;
    }
    if (type !== 'file' || (hex === undefined && name !== 'index.json' && name !== 'oci-layout')) {
      throw damaged('has an entry that is not of an OCI layout');
    }
    const hash = createHash('sha256');
    const hashed = new Transform({
      transform: (bytes: Buffer, _encoding, done) => {
        hash.update(bytes);
        done(null, bytes);
      },
    });
    await pipeline(entry, hashed, createWriteStream(join(folder, hex ?? name)));
    if (hex !== undefined && hash.digest('hex') !== hex) {
      throw damaged(`has other bytes under the name sha256:${hex}`);
    }
  }
  await read;
}

function readJson<T>(shape: z.ZodType<T>, bytes: Buffer): T {
  try {
    return shape.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw damaged('has an index or a manifest of another form', cause);
  }
}

const damaged = (what: string, cause?: unknown): PushRefusal =>
  new PushRefusal(`The archive of the image ${what}. Make the release again.`, { cause });
