// What one repository of a registry gets from a release: blobs, then manifests that name them, then the tags of the last
// manifest. Plain data. Refuses nothing. Invariant: bytes of manifests are kept as they are, because their digest is the name
// that users pin.

import type { Descriptor, OpenBytes } from '#mirror/carrier.ts';

export interface ManifestPart {
  readonly mediaType: string;
  /** `sha256:…` of the bytes. */
  readonly digest: string;
  readonly bytes: Buffer;
}

export interface BlobPart extends Descriptor {
  /** A stream for each attempt, because blobs may be too large to hold. */
  readonly open: OpenBytes;
}

export interface Artifact {
  readonly kind: 'image' | 'chart';
  /** Below `REGISTRY/PATH`, such as `charts/static-export-site`. */
  readonly name: string;
  readonly version: string;
  readonly blobs: readonly BlobPart[];
  /** Named by `root`, and written before it. */
  readonly children: readonly ManifestPart[];
  /** Gets the tags. */
  readonly root: ManifestPart;
}

/** Where a registry keeps a chart: apart from the image, because the operator's chart and the image share their name. */
export const chartPathOf = (name: string): string => `charts/${name}`;

/** A sentence for the user, without a stack. */
export class PushRefusal extends Error {
  override readonly name = 'PushRefusal';
}
