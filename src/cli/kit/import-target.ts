// What an import needs of its target. Each kind of target is one file. Invariant: a bundle is proven by its digest when it is
// staged, and nothing that readers of the target see changes before it is placed.

import type { BundleLimits } from '#bundle/limits.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { BlobReader } from '#mirror/carrier.ts';
import type { KitBundle } from '#mirror/kit/kit-document.ts';
import type { CliContext } from '../context.ts';

export interface ImportTarget {
  /** Where imports are remembered, unless the user says; `undefined`: the user must. */
  readonly statePath: string | undefined;
  /** Once, after the kit is checked. @throws {CliError} `DestinationExists`; {PublishableError} `StoreUnavailable` */
  prepare(): Promise<void>;
  /** A bundle that the target holds already. */
  findBase(digest: string): Promise<StoredBundle | undefined>;
  /** @throws {KitError} {PublishableError} {MirrorError}; the signal's reason */
  stage(bundle: KitBundle, base: StoredBundle | undefined): Promise<Staged>;
  close(): Promise<void>;
}

export interface Staged {
  /** @throws {CliError} `DestinationNotWritten`; {PublishableError} {MirrorError}; the signal's reason */
  place(): Promise<Placed>;
  /** Frees the disk that is left. */
  discard(): Promise<void>;
}

/** Where the bundle is now. */
export interface Placed {
  readonly path?: string;
  /** Of a mirror. */
  readonly ref?: string;
}

export interface ImportContext {
  readonly context: CliContext;
  readonly limits: BundleLimits;
  /** Of the checked kit. */
  readonly blobs: () => BlobReader;
}
