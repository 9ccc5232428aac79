// `/status`: what is served, what was served before, and what the source is up to, as one JSON document for
// people and tests. Instants have the form of those in `bundle.json`. A pure function; it holds no link by construction.

import { version } from '#platform/runtime/version.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { notesOfServed } from './content/content-warnings.ts';
import type { ServedVersion, SiteView } from './content/live-site.ts';
import type { SourceKind } from './source/published-content.ts';
import { type PublishedSummary, reasonOf, type SourceProgress } from './source/source-progress.ts';
import type { VariantState } from './variants/variant-keeper.ts';

/** @param sourceKind which flag names what to serve */
export function statusDocument(
  view: SiteView | undefined,
  progress: SourceProgress,
  sourceKind: SourceKind,
  swaps: number,
  variantState: VariantState,
): object {
  const { published, lastError, download } = progress;
  return {
    serverVersion: version,
    active: view === undefined ? null : { ...describe(view.active), basePath: view.basePath || '/' },
    previous: (view?.previous ?? []).map(describe),
    swaps,
    encodings: describeVariants(view, variantState),
    source: {
      kind: view?.active.provenance ?? null,
      from: sourceKind,
      state: progress.state,
      reason: reasonNow(view, progress, sourceKind),
      published: published === undefined ? null : describePublished(published),
      download:
        download === undefined ? null : { receivedBytes: download.receivedBytes, files: download.files },
      lastError:
        lastError === undefined
          ? null
          : { code: lastError.code, message: lastError.message, at: instant(lastError.at) },
      retryAt: instant(progress.retryAt),
    },
    lastCheckedAt: instant(progress.lastCheckedAt),
  };
}

/** The state does not say what visitors get meanwhile. */
function reasonNow(view: SiteView | undefined, { state }: SourceProgress, sourceKind: SourceKind): string {
  const bundle = view?.active.bundle;
  const reason = reasonOf(state, sourceKind);
  if (bundle === undefined) return reason;
  if (bundle.isUnreadable())
    return `${reason}; some files of the served bundle get 500: check the volume of the store`;
  if (state === 'starting') return 'the stored bundle is served while its files are being checked';
  if (state !== 'preparing' || bundle.isStored()) return reason;
  return 'the published bundle is served while the disk stores it; a restart now may lose it';
}

function describePublished({ version, digest, jobId, issuedAt, expiresAt }: PublishedSummary): object {
  return {
    version: version ?? null,
    digest: digest ?? null,
    jobId: jobId ?? null,
    linkIssuedAt: instant(issuedAt),
    linkExpiresAt: instant(expiresAt),
  };
}

function describeVariants(view: SiteView | undefined, state: VariantState): object {
  const table = view?.active.bundle.variants();
  return { state, files: table?.counts ?? null, sizeBytes: table?.sizeBytes ?? 0 };
}

function describe({ bundle, version, activatedAt }: ServedVersion): object {
  const { digest, files, sizeBytes } = bundle.stored.index;
  return {
    version: version ?? null,
    digest,
    files: files.length,
    pages: bundle.routes.pages,
    sizeBytes,
    notes: notesOfServed(bundle),
    activatedAt: instant(activatedAt),
  };
}

function instant(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : formatInstant(epochMs);
}
