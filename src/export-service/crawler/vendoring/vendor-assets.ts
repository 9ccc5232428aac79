// Copies what pages load from other hosts into the bundle, and what these assets load in turn. Works in waves, sorted, as the
// crawl does. Owns which host is asked. Refuses to go on without end: a chain and the number of assets have a bound. Invariant:
// every load has a copy, or is named with the reason; the same answers give the same files.

import type { Clock } from '#platform/runtime/clock.ts';
import { allowsHost } from '#site/allowed-hosts.ts';
import { compare } from '#site/site-scope.ts';
import { isNotCopied } from '../completeness.ts';
import type { AssetRules, CopiedAsset, CrawlLimits } from '../contract.ts';
import type { CrawlAnswers } from '../journal/crawl-answers.ts';
import type { ExternalLoad, LeftOut } from '../left-out.ts';
import { absentPath } from '../rewrite/chosen-names.ts';
import type { VendoredBodies } from '../rewrite/rebase.ts';
import type { CrawlSpool } from '../spool.ts';
import { askWave } from '../wave.ts';
import { type AssetAnswer, type AssetFetcher, createAssetFetcher } from './asset-fetcher.ts';
import { type PlacedAssets, placeAssets } from './asset-places.ts';
import { describeAsset, type FetchedAsset } from './fetched-asset.ts';

export interface VendoredAssets extends PlacedAssets, VendoredBodies {
  /** What stays at other hosts, or is missing there, by host and path. */
  readonly left: ReadonlyMap<string, LeftOut>;
  /** Sorted by path, each with one file once. */
  readonly copied: readonly CopiedAsset[];
}

export interface VendorContext {
  readonly limits: CrawlLimits;
  readonly spool: CrawlSpool;
  readonly answers: Pick<CrawlAnswers, 'sessionFor'>;
  readonly clock: Clock;
  /** Aborts `signal`. */
  readonly failed: AbortController;
  readonly signal: AbortSignal;
}

/** Style sheets import style sheets; no deeper chain is known. */
const maxWaves = 16;
const maxAssets = 5_000;
const maxNameLength = 200;

/** @throws {CrawlError} TooManyBytes, SpoolFailed; the signal's reason */
export async function vendorAssets(
  loads: ReadonlyMap<string, ExternalLoad>,
  context: VendorContext,
): Promise<VendoredAssets> {
  const fetcher = createAssetFetcher(context.limits, context.answers, context.clock);
  try {
    return await copyAssets(loads, fetcher, context);
  } finally {
    await fetcher.close();
  }
}

/** Whether the loads of a host stay as they are. */
export function staysExternal({ allowedHosts }: AssetRules, href: string): boolean {
  return allowsHost(allowedHosts, new URL(href).host);
}

async function copyAssets(
  loads: ReadonlyMap<string, ExternalLoad>,
  fetcher: AssetFetcher,
  { limits, spool, failed, signal }: VendorContext,
): Promise<VendoredAssets> {
  const { assets, concurrency } = limits;
  const ask = ([href]: Load): Promise<AssetAnswer> | AssetAnswer =>
    staysExternal(assets, href) ? allowed : fetcher.get(href, signal);
  const known = new Map(loads);
  const fetched = new Map<string, FetchedAsset>();
  const absent = new Map<string, string>();
  const left = new Map<string, LeftOut>();
  /** Addresses that differ in their query alone have one name: a failure shows, whatever the others are. */
  const leave = (name: string, reason: string, from: string | undefined): void => {
    const known = left.get(name);
    if (known === undefined || (!isNotCopied(known) && isNotCopied({ reason })))
      left.set(name, { reason, from });
  };
  let wave: readonly Load[] = [...known];
  for (let waves = 1; wave.length > 0; waves += 1) {
    const next = new Map<string, ExternalLoad>();
    const sorted = wave.toSorted(([a], [b]) => compare(a, b));
    for (const [[href, { name, from }], answer] of await askWave(sorted, concurrency, failed, ask)) {
      const asset = answer.kind === 'stored' ? describeAsset(href, answer, spool) : undefined;
      if (asset === undefined) {
        if (answer.kind === 'absent') absent.set(href, absentPath(href));
        leave(name, answer.kind === 'stored' ? 'ExternalNotAnAsset' : answer.reason, from);
        continue;
      }
      fetched.set(href, asset);
      for (const loaded of asset.loads) {
        if (!known.has(loaded)) next.set(loaded, { name: publicName(loaded), from: name });
      }
    }
    const isLast = waves === maxWaves || known.size + next.size > maxAssets;
    for (const [href, load] of next) {
      known.set(href, load);
      if (isLast) leave(load.name, 'ExternalNotTried', load.from);
    }
    wave = isLast ? [] : [...next];
  }
  const placed = await placeAssets(fetched, absent, spool, signal);
  const originals = new Map([...fetched].map(([href, { body }]) => [href, body]));
  return { ...placed, originals, left, copied: copiesOf([...fetched.keys()], placed) };
}

/** Addresses of one asset may differ in what no report shows. */
function copiesOf(hrefs: readonly string[], { paths }: PlacedAssets): readonly CopiedAsset[] {
  const copies = hrefs.map((href) => ({ path: publicName(href), file: paths.get(href) ?? '' }));
  return [...new Map(copies.map((copy) => [`${copy.path} ${copy.file}`, copy]))]
    .sort(([a], [b]) => compare(a, b))
    .map(([, copy]) => copy);
}

type Load = readonly [href: string, load: ExternalLoad];

const allowed: AssetAnswer = { kind: 'left', reason: 'External' };

/** Never with a query. */
function publicName(href: string): string {
  const { host, pathname } = new URL(href);
  return `${host}${pathname}`.slice(0, maxNameLength);
}
