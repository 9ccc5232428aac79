// Titles of pages without the name of their site, as all pages of the site show what that is. Pure. Refuses to shorten the titles of a
// site of a few pages. Invariant: no title becomes empty that was not.

interface PageTitle {
  /** Of the page's own heading, where it has one. */
  readonly shown: string;
  /** Of `<title>`. */
  readonly full: string;
}

/** Parts of a title: `Page — Site`, `Page | Site`, `Page · Site`. A title has single blanks. */
const separator = / (?:[-–—|·:•»]|::) /;
/** A site has at least so many pages with a name before it counts as one. */
const fewestPages = 4;
/** Part of the pages that have the same heading, so that it is the site's. */
const commonPart = 0.2;

export function siteTitles(titles: readonly PageTitle[]): readonly string[] {
  const common = Math.max(fewestPages, titles.length * commonPart);
  const endings = countsOf(titles.map(({ full }) => lastPart(full)));
  const beginnings = countsOf(titles.map(({ full }) => full.split(separator)[0] ?? ''));
  const headings = countsOf(titles.map(({ shown }) => shown));
  const isCommon = (counts: ReadonlyMap<string, number>, text: string): boolean =>
    (counts.get(text) ?? 0) >= common;
  const ownPart = (full: string): string => {
    const ending = lastPart(full);
    if (ending !== '' && isCommon(endings, ending)) return withoutLastPart(full);
    const [first = '', ...rest] = full.split(separator);
    return rest.length > 0 && isCommon(beginnings, first)
      ? full.slice(full.indexOf(rest[0] ?? '', first.length))
      : full;
  };
  return titles.map(({ shown, full }) => {
    const isOfPage = shown !== '' && shown !== full && !isCommon(headings, shown);
    return isOfPage ? shown : ownPart(full) || shown;
  });
}

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Empty for a title of one part. */
function lastPart(title: string): string {
  const parts = title.split(separator);
  return parts.length < 2 ? '' : (parts.at(-1) ?? '');
}

function withoutLastPart(title: string): string {
  return title.slice(0, title.length - lastPart(title).length).replace(/ (?:[-–—|·:•»]|::) $/, '');
}
