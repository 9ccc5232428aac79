// The record of the resource that a place belongs to alone: a tag whose manifest names it. Refuses a place of another
// resource, and a record that cannot be read. Invariant: a record is never replaced.

import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BlobReader, Carrier, Descriptor } from '../carrier.ts';
import { digestOfBytes, manifestType } from '../image.ts';
import type { MirrorError } from '../mirror-error.ts';
import { inOnePiece } from '../small-object.ts';

/** A resource of a cluster. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export const ownerTag = 'static-export-owner';
export const ownerArtifactType = 'application/vnd.staticexport.owner.v1';
const [namespaceKey, nameKey, uidKey] = [
  'dev.staticexport.owner.namespace',
  'dev.staticexport.owner.name',
  'dev.staticexport.owner.uid',
] as const;

/** OCI image specification, "Guidance for an Empty Descriptor". */
const emptyBytes = Buffer.from('{}');
const empty: Descriptor = {
  mediaType: 'application/vnd.oci.empty.v1+json',
  digest: digestOfBytes(emptyBytes),
  size: emptyBytes.length,
};

/** Nobody else's manifest under the tag is parsed beyond this. */
const longestRecord = 16 * 1024;
const recordShape = z.object({
  artifactType: z.literal(ownerArtifactType),
  annotations: z.object({
    [namespaceKey]: z.string().check(z.maxLength(63)),
    [nameKey]: z.string().check(z.maxLength(253)),
    [uidKey]: z.string().check(z.minLength(1), z.maxLength(128)),
  }),
});

/**
 * @returns `undefined` where the place has no record
 * @throws {MirrorError} `OwnedElsewhere` for a record of another resource; `NotABundle` for one that cannot be read
 */
export async function findOwner(
  carrier: BlobReader,
  owner: Owner,
  signal: AbortSignal,
): Promise<Owner | undefined> {
  const manifest = await carrier.readManifest(ownerTag, signal);
  if (manifest === undefined) return undefined;
  const recorded = parseRecord(manifest);
  if (recorded === undefined) {
    throw new PublishableError(
      'NotABundle',
      `The tag ${ownerTag} in ${carrier.name} is not a record of an owner. Remove the tag, or use another repository or prefix.`,
    );
  }
  if (recorded.uid === owner.uid) return recorded;
  throw ownedElsewhere(carrier.name, recorded, owner);
}

/**
 * Writes the record where there is none.
 *
 * @returns whether the place had the record of this owner already
 * @throws {MirrorError} as {@link findOwner}, and what writing throws
 */
export async function claimPlace(carrier: Carrier, owner: Owner, signal: AbortSignal): Promise<boolean> {
  if ((await findOwner(carrier, owner, signal)) !== undefined) return true;
  await carrier.writeBlob(empty, () => inOnePiece(emptyBytes), signal);
  try {
    await carrier.writeManifest(ownerTag, manifestType, formatRecord(owner), signal);
  } catch (error) {
    // Another resource was faster.
    if (error instanceof PublishableError && error.code === 'TagOccupied') {
      await findOwner(carrier, owner, signal);
    }
    throw error;
  }
  return false;
}

function formatRecord({ namespace, name, uid }: Owner): Buffer {
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: ownerArtifactType,
    config: empty,
    layers: [empty],
    annotations: { [namespaceKey]: namespace, [nameKey]: name, [uidKey]: uid },
  };
  return Buffer.from(JSON.stringify(manifest));
}

function parseRecord(manifest: Buffer): Owner | undefined {
  if (manifest.length > longestRecord) return undefined;
  const annotations = recordShape.safeParse(readJson(manifest.toString('utf8'))).data?.annotations;
  return (
    annotations && {
      namespace: annotations[namespaceKey],
      name: annotations[nameKey],
      uid: annotations[uidKey],
    }
  );
}

function ownedElsewhere(place: string, recorded: Owner, owner: Owner): MirrorError {
  const isNamesake = recorded.namespace === owner.namespace && recorded.name === owner.name;
  const who = `StaticExport ${recorded.namespace}/${recorded.name}${isNamesake ? ' of another uid' : ''}`;
  return new PublishableError(
    'OwnedElsewhere',
    `${place} belongs to ${who} alone. Use another repository or prefix. If that resource no longer exists, delete the tag ${ownerTag}.`,
  );
}
