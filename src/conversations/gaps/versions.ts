// The versions of the site that reports have seen, and which pages changed in each. Owns the form in which a report hands
// them to the next one: hashes of all pages for the first version, and of changed pages for each later one. Invariant: a
// page whose former hash is not known did not change.

/** A version of the site. */
export interface SiteVersion {
  readonly version: string;
  /** Of the whole content. */
  readonly digest: string;
  /** Epoch ms: when it was published, or first seen. */
  readonly since: number;
  /** Pages that differ from the version before, with their hash; null: no longer a page. */
  readonly pages: ReadonlyMap<string, string | null>;
}

/** Older ones are folded together. */
const mostVersions = 10;
/** Of one version; a larger site is followed in part. */
const mostPages = 10_000;

export interface SeenBundle {
  readonly version: string;
  readonly digest: string;
  /** Epoch ms; `undefined`: not known. */
  readonly publishedAt: number | undefined;
  readonly hashes: ReadonlyMap<string, string>;
}

/**
 * @param known the oldest first
 * @param missing pages that turns name and the bundle lacks: one that is added later changes
 * @param now epoch ms
 */
export function addVersion(
  known: readonly SiteVersion[],
  { version, digest, publishedAt, hashes }: SeenBundle,
  missing: Iterable<string>,
  now: number,
): readonly SiteVersion[] {
  const last = known.at(-1);
  const before = hashesOf(known);
  if (last !== undefined && last.digest === digest) {
    const added = [...missing].filter((page) => !before.has(page)).map((page) => [page, null] as const);
    return [...known.slice(0, -1), { ...last, pages: bounded([...last.pages, ...added]) }];
  }
  const pages = new Map<string, string | null>();
  for (const [page, hash] of hashes) if (before.get(page) !== hash) pages.set(page, hash);
  for (const [page, hash] of before) if (hash !== null && !hashes.has(page)) pages.set(page, null);
  for (const page of missing) if (!before.has(page) && !hashes.has(page)) pages.set(page, null);
  // A rolled back version is older by its name than the one before it.
  const isLater = publishedAt !== undefined && publishedAt <= now && publishedAt > (last?.since ?? 0);
  const since = isLater ? publishedAt : Math.max(now, (last?.since ?? 0) + 1);
  const name = known.some((one) => one.version === version)
    ? `${version}@${new Date(since).toISOString()}`
    : version;
  return fold([...known, { version: name, digest, since, pages: bounded(pages) }]);
}

/**
 * For hashes of another reader of pages: each page gets its new hash where it changed last. Which pages changed in which version stays;
 * what changed since the last version is not known.
 */
export function replaceHashes(
  known: readonly SiteVersion[],
  hashes: ReadonlyMap<string, string>,
): readonly SiteVersion[] {
  const lastOf = new Map<string, SiteVersion>();
  for (const version of known) for (const page of version.pages.keys()) lastOf.set(page, version);
  return known.map((version) => ({
    ...version,
    pages: new Map(
      [...version.pages].map(([page, hash]) => [
        page,
        hash === null || lastOf.get(page) !== version ? hash : (hashes.get(page) ?? hash),
      ]),
    ),
  }));
}

function bounded(pages: Iterable<readonly [string, string | null]>): ReadonlyMap<string, string | null> {
  return new Map([...pages].slice(0, mostPages));
}

/** The first version then holds the pages of those before it. */
function fold(versions: readonly SiteVersion[]): readonly SiteVersion[] {
  const excess = versions.length - mostVersions;
  const first = versions[excess];
  if (excess <= 0 || first === undefined) return versions;
  return [
    { ...first, pages: bounded(hashesOf(versions.slice(0, excess + 1))) },
    ...versions.slice(excess + 1),
  ];
}

/** Of the last of these versions. */
function hashesOf(versions: readonly SiteVersion[]): ReadonlyMap<string, string | null> {
  return new Map(versions.flatMap(({ pages }) => [...pages]));
}

/** @returns indexes of the versions in which one of the pages changed; never the first, because nothing is known before it */
export function changesOf(versions: readonly SiteVersion[], pages: readonly string[]): readonly number[] {
  return versions.flatMap((version, at) => {
    const earlier = versions.slice(0, at);
    const isChanged = pages.some(
      (page) => version.pages.has(page) && earlier.some((one) => one.pages.has(page)),
    );
    return isChanged ? [at] : [];
  });
}

/** @returns index of the version that was served at a time; -1: before the first */
export function versionAt(versions: readonly Pick<SiteVersion, 'since'>[], atMs: number): number {
  for (let at = versions.length - 1; at >= 0; at -= 1) if ((versions[at]?.since ?? 0) <= atMs) return at;
  return -1;
}
