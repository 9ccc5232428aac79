// What readers look for and do not find: addresses answered by 404, and searches without a result. Counts in bounded memory,
// and knows nothing of readers: no address, no header, no time finer than an hour. Nothing is written to disk, because the
// text is typed by readers; a restart begins again. A rate bound keeps one client from filling the lists.

import type { Clock } from '#platform/runtime/clock.ts';
import { createRecentTexts, type FrequentText, mostFrequent, type RecentTexts } from './frequent-texts.ts';
import { isPersonalText, readMissingAddress, readSearchText } from './unmet-text.ts';

/** `limited`: too many new texts came at a time. `left-out`: not a text that is kept. */
export const insightOutcomes = ['listed', 'left-out', 'limited'] as const;
export type InsightOutcome = (typeof insightOutcomes)[number];
export type InsightCounts = Readonly<Record<InsightOutcome, number>>;

export interface InsightList {
  /** Epoch ms. */
  readonly since: number;
  readonly counts: InsightCounts;
  /** Most frequent first. */
  readonly top: readonly FrequentText[];
}

export interface SiteInsights {
  /** @param target of a request that was answered by 404, as received */
  noteMissingAddress(target: string): void;
  /**
   * @param target of the request that reports it, as received
   * @param fetchSite `Sec-Fetch-Site` of that request, where it was sent
   */
  noteEmptySearch(target: string, fetchSite: string | undefined): void;
  /** @param isFound whether an address leads somewhere by now; such addresses are not listed */
  missingAddresses(isFound?: (address: string) => boolean): InsightList;
  emptySearches(): InsightList;
  /** For metrics: from the start on, never less than before. */
  readonly counts: () => { readonly missingAddresses: InsightCounts; readonly emptySearches: InsightCounts };
}

const listed = 100;
/** More counters than are listed, so that rare texts do not push out frequent ones. */
const capacity = 1000;
/** A text that did not come in the last two periods is forgotten. */
const periodMs = 14 * 24 * 3_600_000;
/** Scanners try thousands of addresses; readers of one site find a few new broken links a minute. */
const newAddresses = { burst: 200, perSecond: 10 };
/** One reader types a few searches a minute. */
const searches = { burst: 100, perSecond: 1 };

export function createSiteInsights({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>): SiteInsights {
  const addresses = createInsight(createRecentTexts(capacity, periodMs, now), now);
  const texts = createInsight(createRecentTexts(capacity, periodMs, now), now);
  const isNewAddressAllowed = createAllowance(newAddresses, monotonic);
  const isSearchAllowed = createAllowance(searches, monotonic);
  return {
    noteMissingAddress: (target) => {
      const address = readMissingAddress(target);
      if (address === undefined) return addresses.leaveOut('left-out');
      if (addresses.has(address)) return addresses.add(address);
      if (!isNewAddressAllowed()) return addresses.leaveOut('limited');
      return isPersonalText(address) ? addresses.leaveOut('left-out') : addresses.add(address);
    },
    noteEmptySearch: (target, fetchSite) => {
      if (fetchSite !== undefined && fetchSite !== 'same-origin') return texts.leaveOut('left-out');
      if (!isSearchAllowed()) return texts.leaveOut('limited');
      const text = readSearchText(target);
      return text === undefined || isPersonalText(text) ? texts.leaveOut('left-out') : texts.add(text);
    },
    missingAddresses: (isFound = () => false) => addresses.list((address) => !isFound(address)),
    emptySearches: () => texts.list(() => true),
    counts: () => ({ missingAddresses: addresses.counts(), emptySearches: texts.counts() }),
  };
}

interface Insight {
  has(text: string): boolean;
  add(text: string): void;
  leaveOut(why: Exclude<InsightOutcome, 'listed'>): void;
  readonly counts: () => InsightCounts;
  list(isShown: (text: string) => boolean): InsightList;
}

function createInsight(texts: RecentTexts, now: () => number): Insight {
  const counts = { listed: 0, 'left-out': 0, limited: 0 };
  return {
    has: texts.has,
    add: (text) => {
      counts.listed += 1;
      texts.add(text, now());
    },
    leaveOut: (why) => {
      counts[why] += 1;
    },
    counts: () => ({ ...counts }),
    list: (isShown) => ({
      since: texts.since(),
      counts: { ...counts },
      top: mostFrequent(
        texts.list().filter(({ text }) => isShown(text)),
        listed,
      ),
    }),
  };
}

/** A bucket of tokens. @returns whether one more is allowed now */
function createAllowance(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  monotonic: () => number,
): () => boolean {
  let left = burst;
  let filledAt = monotonic();
  return () => {
    const at = monotonic();
    left = Math.min(burst, left + ((at - filledAt) / 1000) * perSecond);
    filledAt = at;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
