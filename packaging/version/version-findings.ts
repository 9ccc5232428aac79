// What is wrong with the versions and the changelog of a tree, a sentence each. Pure. Before the first release nothing is
// compared with a release: users depend on no name yet. Refuses lists of a release that CHANGELOG.md does not have.

import { readChangelog } from './changelog.ts';
import {
  contentDigest,
  currentVersion,
  type LastRelease,
  lastReleaseFile,
  readLastRelease,
  surfaceFile,
  type Tree,
} from './release-plan.ts';
import { minorOf } from './release-version.ts';
import { parseSurface, type Surface, surfaceKinds, unexplainedRemovals } from './surface.ts';
import { namedVersions } from './version-places.ts';

/** @param readSurface is called only once there is a release to compare with */
export async function findVersionFaults(
  tree: Tree,
  readSurface: () => Promise<Surface>,
): Promise<readonly string[]> {
  const current = currentVersion(tree);
  const differing = [...tree]
    .flatMap(([file, text]) => namedVersions(file, text))
    .filter(({ version, isMinor }) => version !== (isMinor ? minorOf(current) : current))
    .map(
      ({ file, line, version }) =>
        `${file}:${line} names ${version}, but package.json names ${current}; run "npm run release:prepare"`,
    );
  const sections = readChangelog(tree.get('CHANGELOG.md') ?? '');
  const newest = sections.find(({ version }) => version !== undefined)?.version;
  const last = readLastRelease(tree);
  if (last?.version !== newest)
    return [
      ...differing,
      `CHANGELOG.md names ${newest ?? 'no version'} as the last release, but ${lastReleaseFile} names ${last?.version ?? 'none'}; run "npm run release:prepare"`,
    ];
  if (last === undefined) return differing;
  const lines = sections.find(({ version }) => version === undefined)?.lines;
  if (lines === undefined)
    return [...differing, 'CHANGELOG.md has no section "## Unreleased"; add it above all versions'];
  return [
    ...differing,
    ...withoutLine(tree, last, lines.length),
    ...removals(tree, await readSurface(), lines),
  ];
}

function withoutLine(tree: Tree, last: LastRelease, lines: number): readonly string[] {
  return lines > 0 || contentDigest(tree) === last.content
    ? []
    : [
        `src or charts differ from ${last.version}, but Unreleased of CHANGELOG.md is empty; add a line for the change`,
      ];
}

function removals(
  tree: Tree,
  surface: Surface,
  lines: Parameters<typeof unexplainedRemovals>[3],
): readonly string[] {
  return surfaceKinds.flatMap((kind) => {
    const before = tree.get(surfaceFile(kind));
    return before === undefined
      ? [`${surfaceFile(kind)} is missing; restore it from the commit of the last release`]
      : unexplainedRemovals(kind, parseSurface(before), surface[kind], lines);
  });
}

/** Why a tag must not become a release, a sentence each. */
export function findTagFaults(tree: Tree, tag: string): readonly string[] {
  const current = currentVersion(tree);
  const version = tag.replace(/^v/, '');
  const last = readLastRelease(tree);
  const lines = readChangelog(tree.get('CHANGELOG.md') ?? '').find((one) => one.version === undefined)?.lines;
  return [
    ...(tag === `v${current}`
      ? []
      : [`the tag ${tag} is not v${current}, which package.json names; move the tag`]),
    ...(last?.version === version
      ? []
      : [`${version} is not prepared; run "npm run release:prepare ${version}", commit, and move the tag`]),
    ...((lines?.length ?? 0) === 0
      ? []
      : [`Unreleased has lines that ${version} lacks; run "npm run release:prepare" for a greater version`]),
  ];
}
