// A place that keeps bundles by digest: a repository of an OCI registry, or a prefix of a bucket. Each holds the same
// tree: blobs named by their SHA-256, and a tag for each bundle. Invariant: a tag appears after all that it names, and is
// never moved to other content. Every call throws `MirrorError` or the signal's reason, and nothing else.

/** OCI content descriptor. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hex digits in lower case. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** Called once for each attempt to write; each call starts at the first byte. */
export type OpenBytes = () => AsyncIterable<Uint8Array>;

export interface BlobReader {
  /** `oci://host/repository` or `s3://bucket/prefix`, without credentials. For messages and references. */
  readonly name: string;
  /**
   * The manifest that a tag names; of a digest (`sha256:…`) that manifest itself, with its bytes checked.
   *
   * @returns `undefined` if there is none
   */
  readManifest(reference: string, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Ends with `BlobDamaged` after the last byte if length or digest differ: the consumer must not trust it before. */
  readBlob(blob: Descriptor, signal: AbortSignal): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

export interface Carrier extends BlobReader {
  hasBlob(blob: Descriptor, signal: AbortSignal): Promise<boolean>;
  /** In one request of known size. Does nothing if the blob is there. */
  writeBlob(blob: Descriptor, open: OpenBytes, signal: AbortSignal): Promise<void>;
  /** @throws {MirrorError} `TagOccupied` if the tag names another manifest */
  writeManifest(tag: string, mediaType: string, manifest: Buffer, signal: AbortSignal): Promise<void>;
  /** All tags, of bundles and others. */
  listTags(signal: AbortSignal): Promise<readonly string[]>;
  /** Removes a tag and its manifest, and in a bucket the blobs that it alone names. Absent is done. */
  removeTag(tag: string, signal: AbortSignal): Promise<void>;
}
