// `/status`: what is served, what was served before, and what the source is up to, as one JSON document for
// people and tests. Instants have the form of those in `bundle.json`. A pure function; it holds no link by construction.

import { version } from '#platform/runtime/version.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { noCounts } from './content/additions.ts';
import { notesOfServed } from './content/content-warnings.ts';
import type { ServedVersion, SiteView } from './content/live-site.ts';
import { encodedTarget, readRequestPath } from './http/request-path.ts';
import type { InsightList, SiteInsights } from './insights/site-insights.ts';
import type { MadeStates } from './made/made-keeper.ts';
import type { AgentSummary } from './mcp/agents.ts';
import type { SourceKind } from './source/published-content.ts';
import { type PublishedSummary, reasonOf, type SourceProgress } from './source/source-progress.ts';
import type { VariantState } from './variants/variant-keeper.ts';

/** Of what threads make of the active bundle. */
export interface MakingStates extends MadeStates {
  readonly variants: VariantState;
  /** `undefined`: off. */
  readonly agents: AgentSummary | undefined;
}

/**
 * @param sourceKind which flag names what to serve
 * @param insights `undefined`: off
 */
export function statusDocument(
  view: SiteView | undefined,
  progress: SourceProgress,
  sourceKind: SourceKind,
  swaps: number,
  states: MakingStates,
  insights: SiteInsights | undefined,
): object {
  const { published, lastError, download } = progress;
  return {
    serverVersion: version,
    active: view === undefined ? null : { ...describe(view.active), basePath: view.basePath || '/' },
    previous: (view?.previous ?? []).map(describe),
    swaps,
    encodings: describeVariants(view, states.variants),
    ...describeMade(view, states),
    agents: states.agents ?? null,
    insights: insights === undefined ? null : describeInsights(view, insights),
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

function describeMade(view: SiteView | undefined, { search, markdown }: MadeStates): object {
  const counts = view?.active.bundle.extension()?.counts ?? noCounts;
  return {
    search: { state: search, ...counts.search },
    markdown: { state: markdown, ...counts.markdown },
  };
}

/** Without addresses that lead somewhere by now. */
function describeInsights(view: SiteView | undefined, insights: SiteInsights): object {
  const isFound = (address: string): boolean => {
    const read = readRequestPath(encodedTarget(address), view?.basePath ?? '');
    return read.outcome === 'path' && view?.find(read.path) !== undefined;
  };
  const missing = insights.missingAddresses(isFound);
  const empty = insights.emptySearches();
  return {
    missingAddresses: {
      ...countsOf(missing),
      top: missing.top.map(({ text, count, lastTime }) => ({
        address: text,
        count,
        lastHour: instant(lastTime),
      })),
    },
    emptySearches: {
      ...countsOf(empty),
      top: empty.top.map(({ text, count, lastTime }) => ({ text, count, lastHour: instant(lastTime) })),
    },
  };
}

function countsOf({ since, counts }: InsightList): object {
  const { listed, limited } = counts;
  return {
    since: instant(since),
    requests: listed + counts['left-out'] + limited,
    leftOut: counts['left-out'] + limited,
  };
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
