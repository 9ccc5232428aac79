// Where a server gets a bundle: a list of sources, asked in order until one has put the content into the store. Another
// source, such as a mirror, is one more file and one more entry of the list in bundle-server.ts.
// Invariant: what is returned was verified byte by byte and is open, or an error says why there is nothing.

import { bundleErrorKind } from '#bundle/bundle-error.ts';
import type { BundleProgress } from '#bundle/bundle-task.ts';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import type { BundleStore } from '#bundle/store/store.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Provenance } from '../content/live-site.ts';
import type { Peers } from '../peers/peers.ts';
import type { VerifiedBundle } from './activation.ts';

export interface BundleRequest {
  readonly published: ServedBundle;
  readonly onProgress: (progress: BundleProgress) => void;
  /**
   * Whether content is served before it is stored. Only if the server serves nothing else, or cannot read what it serves: a
   * disk that fails must not cost the old version.
   */
  readonly isWantedUnstored: () => boolean;
  /** Whether an attempt for this content has failed before. */
  readonly isRetry: boolean;
  /** What was served under that version until the disk failed. */
  readonly lostDigest?: string | undefined;
}

/** Content that was verified byte by byte and is being stored. Its receiver closes it. */
export interface WrittenBundle {
  readonly stored: StoredBundle;
  /** Its digest once it is in the store; rejects with what kept it out. */
  readonly committed: Promise<string>;
}

export interface BundleSource {
  /** Shown as `source.kind` in `/status`. */
  readonly name: Provenance;
  /**
   * Puts the content into the store.
   *
   * @returns its digest, or the content before it is there; `undefined` when the next source is to be asked
   * @throws {PublishableError} which ends the attempt; the signal's reason
   */
  obtain(request: BundleRequest, signal: AbortSignal): Promise<string | WrittenBundle | undefined>;
  /** The same without waiting for anything, asked at every poll while the link or its archive fails. */
  obtainNow?(request: BundleRequest, signal: AbortSignal): Promise<string | undefined>;
  /** How far any source of the list has come. */
  report?(receivedBytes: number): void;
  /** The attempt has ended, with content or without. */
  release?(): void;
}

/**
 * Brings the content in and serves it. @returns whether it did
 * @param onVerified other content waits from then on: what is served is stored first, so that the site can go back to it
 */
export type BringIn = (
  signal: AbortSignal,
  onProgress: BundleRequest['onProgress'],
  onVerified: () => void,
) => Promise<boolean>;

export interface BundleSourcesPorts {
  readonly store: BundleStore;
  readonly logger: Logger;
  readonly sources: readonly BundleSource[];
}

export type Obtained =
  | ({ readonly kind: 'bundle' } & VerifiedBundle)
  /** The link led to the content that is served already. */
  | { readonly kind: 'same-content' };

/**
 * Inspected content is trusted. An archive without an inspection replaces a site only if it has pages.
 *
 * @param activeDigest what is being served, unless the disk has lost it
 * @throws {PublishableError}
 */
export async function obtainBundle(
  ports: BundleSourcesPorts,
  request: BundleRequest,
  activeDigest: string | undefined,
  signal: AbortSignal,
): Promise<Obtained> {
  const { sources, store, logger } = ports;
  const onProgress = (progress: BundleProgress): void => {
    request.onProgress(progress);
    for (const source of sources) source.report?.(progress.receivedBytes);
  };
  let committed: WrittenBundle['committed'] | undefined;
  let fault: PublishableError | undefined;
  try {
    for (const source of sources) {
      const found = await source.obtain({ ...request, onProgress }, signal);
      if (found === undefined) continue;
      if (typeof found === 'object' && isServable(request, found.stored, activeDigest)) {
        committed = found.committed;
        return { kind: 'bundle', stored: found.stored, provenance: source.name, committed };
      }
      const digest = typeof found === 'string' ? found : await untilCommitted(found);
      const isUnnamed = request.published.digest === undefined;
      if (isUnnamed && digest === activeDigest) {
        // What was just written is trusted at the check that follows it, which must be this one.
        const unused = store.open(digest).then((one) => one?.close());
        await unused.catch(() => {}); // its fault matters once it is needed
        return { kind: 'same-content' };
      }
      const stored = await openPublished(request.published, digest, store).catch((error: unknown) => {
        // What this disk cannot give now may still come from elsewhere.
        if (source !== diskSource || !(error instanceof PublishableError)) throw error;
        fault = error;
        logger.warn(
          { error, digest },
          'could not open the published bundle of the store; asking other sources',
        );
      });
      if (stored !== undefined) return { kind: 'bundle', stored, provenance: source.name };
    }
  } catch (error) {
    if (fault === undefined || (request.isRetry && bundleErrorKind(error) !== 'expired-link')) throw error;
    // The disk may give it a second later, and sooner than there is a new link.
    throw new PublishableError(fault.code, fault.message, { kind: 'retry', cause: error });
  } finally {
    // Servers that wait for this one ask for a copy next, which they get from the store.
    const release = (): void => {
      for (const source of sources) source.release?.();
    };
    if (committed === undefined) release();
    else committed.then(release, release);
  }
  if (fault !== undefined) throw fault;
  throw new PublishableError(
    'StoreUnreliable',
    'the store lost or damaged the bundle that was just written; check its volume',
    { kind: 'retry' },
  );
}

/** Everything else is judged once it is in the store. */
function isServable(
  { published, isWantedUnstored }: BundleRequest,
  { index: { digest, pages } }: StoredBundle,
  activeDigest: string | undefined,
): boolean {
  if (!isWantedUnstored()) return false;
  return published.digest === undefined ? pages > 0 && digest !== activeDigest : digest === published.digest;
}

async function untilCommitted({ stored, committed }: WrittenBundle): Promise<string> {
  await stored.close();
  return committed;
}

/** What a source offers while the link fails. @throws {PublishableError} the store's own faults */
export async function obtainOffered(
  { sources, store }: BundleSourcesPorts,
  request: BundleRequest,
  signal: AbortSignal,
): Promise<Extract<Obtained, { kind: 'bundle' }> | undefined> {
  for (const source of sources) {
    const digest = await source.obtainNow?.(request, signal);
    if (digest === undefined) continue;
    const stored = await openPublished(request.published, digest, store);
    if (stored !== undefined) return { kind: 'bundle', stored, provenance: source.name };
  }
  return undefined;
}

async function openPublished(
  published: ServedBundle,
  digest: string,
  store: BundleStore,
): Promise<StoredBundle | undefined> {
  // A source refuses this itself; serving other content is the one thing that must not happen.
  if (published.digest !== undefined && digest !== published.digest) {
    throw new PublishableError('DigestMismatch', 'the archive has other content than the published digest', {
      kind: 'refused',
    });
  }
  const stored = await store.open(digest);
  if (stored === undefined || published.digest !== undefined || stored.index.pages > 0) return stored;
  await stored.close();
  throw new PublishableError('NoPages', 'the archive has no page; check that it is an export of the site', {
    kind: 'refused',
  });
}

/** Content that is in the store already. */
export const diskSource: BundleSource = {
  name: 'disk',
  obtain: async ({ published, lostDigest }) => published.digest ?? lostDigest,
};

/** Another server of the site. Refuses content without a digest, because nothing else proves a peer's copy. */
export function peerSource({ bring, copy, report, release }: Peers): BundleSource {
  const from =
    (take: Peers['copy']): NonNullable<BundleSource['obtainNow']> =>
    async ({ published: { digest }, onProgress }, signal) =>
      digest !== undefined && (await take(digest, onProgress, signal)) ? digest : undefined;
  return { name: 'peer', obtain: from(bring), obtainNow: from(copy), report, release };
}
