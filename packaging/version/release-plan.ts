// What `npm run release:prepare X.Y.Z` changes, as texts of files. Pure: date and names are parameters. Invariant: a plan for
// the version that was just prepared is empty, so that a second run does nothing. Refuses a version that is not greater than
// the last one, and an empty Unreleased.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ChangelogSection, readChangelog, releaseChangelog } from './changelog.ts';
import { prepareChart } from './chart-annotations.ts';
import { compareReleaseVersions, isReleaseVersion } from './release-version.ts';
import { type Surface, surfaceKinds, surfaceText } from './surface.ts';
import { withVersion } from './version-places.ts';

/** Paths from the root, with texts. */
export type Tree = ReadonlyMap<string, string>;

export const lastReleaseFile = 'packaging/version/last-release.json';
export const surfaceFile = (kind: string): string => `packaging/version/surface/${kind}.txt`;

const lastReleaseShape = z.strictObject({
  version: z.string(),
  date: z.string(),
  /** Over `src` and `charts`. */
  content: z.string(),
});
export type LastRelease = z.infer<typeof lastReleaseShape>;

/** `undefined` before the first release. */
export function readLastRelease(tree: Tree): LastRelease | undefined {
  const text = tree.get(lastReleaseFile);
  return text === undefined ? undefined : lastReleaseShape.parse(JSON.parse(text));
}

/** A digest over what a release is made of: names and texts in `src` and `charts`. */
export function contentDigest(tree: Tree): string {
  const hash = createHash('sha256');
  const parts = [...tree].filter(([path]) => /^(?:src|charts)\//.test(path));
  for (const [path, text] of parts.sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${path}\0${createHash('sha256').update(text).digest('hex')}\n`);
  return hash.digest('hex');
}

export type ReleasePlan =
  | { readonly outcome: 'refuse'; readonly reason: string }
  | { readonly outcome: 'change'; readonly changes: Tree };

export interface PlannedRelease {
  readonly version: string;
  /** `YYYY-MM-DD`; of the section that exists already, that one's. */
  readonly date: string;
  readonly surface: Surface;
}

export function planRelease(tree: Tree, { version, date, surface }: PlannedRelease): ReleasePlan {
  const changelog = tree.get('CHANGELOG.md') ?? '';
  const sections = readChangelog(changelog);
  const existing = sections.find((one) => one.version === version);
  const reason = refusalOf(tree, sections, { version, date }, existing);
  if (reason !== undefined) return { outcome: 'refuse', reason };
  const wanted = new Map([...tree].map(([path, text]) => [path, withVersion(path, text, version)]));
  if (existing === undefined) wanted.set('CHANGELOG.md', releaseChangelog(changelog, version, date));
  const { lines } = existing ?? sections.find((one) => one.version === undefined) ?? { lines: [] };
  for (const [path, text] of wanted) {
    const [, chart] = /^charts\/([^/]+)\/Chart\.yaml$/.exec(path) ?? [];
    if (chart !== undefined) wanted.set(path, prepareChart(text, { version, chart, lines }));
  }
  for (const kind of surfaceKinds) wanted.set(surfaceFile(kind), surfaceText(surface[kind]));
  const release = { version, date: existing?.date ?? date, content: contentDigest(wanted) };
  wanted.set(lastReleaseFile, `${JSON.stringify(release, undefined, 2)}\n`);
  const changes = [...wanted].filter(([path, text]) => tree.get(path) !== text);
  return { outcome: 'change', changes: new Map(changes) };
}

function refusalOf(
  tree: Tree,
  sections: readonly ChangelogSection[],
  { version, date }: Pick<PlannedRelease, 'version' | 'date'>,
  existing: ChangelogSection | undefined,
): string | undefined {
  if (!isReleaseVersion(version)) return `"${version}" is not a version; write it as 0.2.0 or 0.2.0-rc.1`;
  if (!isDate(date)) return `"${date}" is not a date; write it as 2026-12-01`;
  const unreleased = sections.find((one) => one.version === undefined);
  if (unreleased === undefined)
    return 'CHANGELOG.md has no section "## Unreleased"; add it above all versions';
  const last = readLastRelease(tree);
  if (existing !== undefined) {
    if (last?.version !== version) return `${version} is in CHANGELOG.md already; choose a greater version`;
    return unreleased.lines.length === 0
      ? undefined
      : `${version} is prepared already, and Unreleased has new lines; move them to ${version}, or choose a greater version`;
  }
  const current = last?.version ?? currentVersion(tree);
  const order = compareReleaseVersions(version, current);
  if (last === undefined ? order < 0 : order <= 0)
    return `${version} is not greater than ${current}; choose a greater version`;
  if (unreleased.lines.length === 0)
    return 'Unreleased of CHANGELOG.md is empty; add a line for each change that users notice';
  return undefined;
}

/** Of package.json. */
export function currentVersion(tree: Tree): string {
  return z.object({ version: z.string() }).parse(JSON.parse(tree.get('package.json') ?? '{}')).version;
}

function isDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}
