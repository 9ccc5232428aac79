// Getting the published content: from disk if it is there, else from another server of the site, else by its link.
// Invariant: what is returned was verified byte by byte and is open, or an error says why there is nothing.

import { BundleError } from '../../bundle/bundle-error.ts';
import type { BundleStore } from '../../bundle/store/store.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import type { Provenance } from '../content/live-site.ts';
import type { Peers } from '../peers/peers.ts';
import type { DownloadOutcome } from '../site-metrics.ts';
import type { Published } from './source-decision.ts';

export interface FetchProgress {
  readonly receivedBytes: number;
  readonly files: number;
}

/** Fetches what a link leads to into the store. @throws BundleError */
export type PrepareBundle = (
  published: Published,
  onProgress: (progress: FetchProgress) => void,
  signal: AbortSignal,
) => Promise<{ readonly digest: string }>;

export interface ObtainingPorts {
  readonly store: BundleStore;
  readonly prepare: PrepareBundle;
  readonly countDownload: (outcome: DownloadOutcome) => void;
  /** The other servers of the site, where there are any. */
  readonly peers?: Peers | undefined;
}

export interface ServedDigests {
  readonly activeDigest: string | undefined;
  readonly lostDigest: string | undefined;
}

export type Obtained =
  | { readonly kind: 'bundle'; readonly stored: StoredBundle; readonly provenance: Provenance }
  /** The link led to the content that is served already. */
  | { readonly kind: 'same-content' };

/**
 * Content that somebody inspected is believed. Of an archive that nobody looked into, only one with pages may take the
 * place of a site.
 *
 * @param activeDigest what is being served
 * @param lostDigest what was served under that version until the disk failed, to be looked for there once more
 * @throws {BundleError}
 */
export async function obtainBundle(
  ports: ObtainingPorts,
  published: Published,
  { activeDigest, lostDigest }: ServedDigests,
  onProgress: (progress: FetchProgress) => void,
  signal: AbortSignal,
): Promise<Obtained> {
  const wanted = published.digest ?? lostDigest;
  const onDisk = wanted === undefined ? undefined : await ports.store.open(wanted);
  if (onDisk !== undefined) return { kind: 'bundle', stored: onDisk, provenance: 'disk' };
  const copied = await copyFromPeer(ports, published, onProgress, signal);
  if (copied !== undefined) return { kind: 'bundle', stored: copied, provenance: 'peer' };
  const digest = await fetchByLink(ports, published, onProgress, signal);
  if (digest === activeDigest) return { kind: 'same-content' };
  const fetched = await ports.store.open(digest);
  if (fetched === undefined) {
    throw new BundleError(
      'transient',
      'StoreUnreliable',
      'the store lost or damaged the bundle just written to it; check its volume',
    );
  }
  if (published.digest === undefined && fetched.index.pages === 0) {
    await fetched.close();
    throw new BundleError('refused', 'NoPages', 'the archive holds no page, so it is hardly the site');
  }
  return { kind: 'bundle', stored: fetched, provenance: 'link' };
}

/** Only content with a digest can be asked of others: nothing else says whether they told the truth. */
async function copyFromPeer(
  { store, peers }: ObtainingPorts,
  { digest }: Published,
  onProgress: (progress: FetchProgress) => void,
  signal: AbortSignal,
): Promise<StoredBundle | undefined> {
  if (peers === undefined || digest === undefined) return undefined;
  return (await peers.bring(digest, onProgress, signal)) ? store.open(digest) : undefined;
}

/**
 * What another server of the site has of it just now, while the link is of no help.
 *
 * @returns `undefined` where nobody has it, or hands it over whole
 * @throws {BundleError} the store's own faults
 */
export async function copyOffered(
  { store, peers }: ObtainingPorts,
  digest: string,
  onProgress: (progress: FetchProgress) => void,
  signal: AbortSignal,
): Promise<StoredBundle | undefined> {
  return (await peers?.copy(digest, onProgress, signal)) === true ? store.open(digest) : undefined;
}

async function fetchByLink(
  { prepare, countDownload, peers }: ObtainingPorts,
  published: Published,
  onProgress: (progress: FetchProgress) => void,
  signal: AbortSignal,
): Promise<string> {
  try {
    const tell = (progress: FetchProgress): void => {
      onProgress(progress);
      peers?.report(progress.receivedBytes);
    };
    const { digest } = await prepare(published, tell, signal);
    // The preparation refuses this itself; serving it would be the one thing that must not happen.
    if (published.digest !== undefined && digest !== published.digest) {
      throw new BundleError('refused', 'DigestMismatch', 'the archive holds other content than published');
    }
    countDownload('ok');
    return digest;
  } catch (error) {
    if (!signal.aborted) countDownload(failureKind(error));
    throw error;
  } finally {
    peers?.release();
  }
}

/** What is not a BundleError is a defect or the machine's trouble: worth another try, never a verdict. */
export function failureKind(error: unknown): BundleError['kind'] {
  return error instanceof BundleError ? error.kind : 'transient';
}
