// What Prometheus would have scraped of one situation, for promtool: series over time, one scrape in half a minute, as
// the charts' monitors ask. Pure data. A series that ends is stale at once, as where a target goes or a line is absent.

export interface SeriesCase {
  /** Series → values in promtool's notation. */
  readonly series: Series;
  readonly atMinutes: number;
}

export interface AlertCases {
  readonly fires: readonly SeriesCase[];
  readonly stays: readonly SeriesCase[];
}

export type Series = Readonly<Record<string, string>>;

/** Seconds between two scrapes, and between two evaluations of a rule. */
export const scrapeSeconds = 30;

export const seen = (atMinutes: number, ...parts: readonly Series[]): SeriesCase => ({
  series: Object.assign({}, ...parts),
  atMinutes,
});

/** For so many minutes this value, `'rising'` for a counter that grows by one a scrape, or nothing. */
export type Span = readonly [value: number | 'rising' | undefined, minutes: number];

/** What is scraped in one stretch after the other. */
export function over(...spans: readonly Span[]): string {
  return spans
    .map(([value, minutes]) => {
      const scrapes = Math.round((minutes * 60) / scrapeSeconds);
      if (value === undefined) return scrapes === 1 ? 'stale' : `stale _x${scrapes - 1}`;
      return value === 'rising' ? `0+1x${scrapes - 1}` : `${value}x${scrapes - 1}`;
    })
    .join(' ');
}

/** Stretches that come again and again. */
export const times = (count: number, ...spans: readonly Span[]): readonly Span[] =>
  Array.from({ length: count }, () => spans).flat();

/** Longer than any alert waits. */
const longMinutes = 600;
export const always = (value: number): string => over([value, longMinutes]);

/** A series with its labels, as a scrape has it. */
export function line(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
}

/** Its situations, and with `stays` the near misses. */
export const fires = (...cases: readonly SeriesCase[]) => ({
  stays: (...others: readonly SeriesCase[]): AlertCases => ({ fires: cases, stays: others }),
});
