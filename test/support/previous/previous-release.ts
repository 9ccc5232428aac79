// Which release users come from when they upgrade to this version. Pure. Refuses prereleases: a release is upgraded from a
// release.

import {
  compareReleaseVersions,
  isPrerelease,
  isReleaseVersion,
} from '../../../packaging/version/release-version.ts';

/** The sources before search, repairs and Markdown: what is upgraded from until a first release has its tag. */
export const beforeFirstRelease = 'e3b26d6b';

/**
 * @param tags of this commit and of those before it
 * @param ownTags of this commit: these sources are that release
 * @param version of these sources, which keep that of the last release until the next one is prepared
 * @returns the newest other tag `vX.Y.Z` up to the version, or {@link beforeFirstRelease}
 */
export function choosePreviousRelease(
  tags: readonly string[],
  ownTags: readonly string[],
  version: string,
): string {
  const [newest] = tags
    .filter((tag) => tag.startsWith('v') && !ownTags.includes(tag))
    .map((tag) => tag.slice(1))
    .filter((release) => isReleaseVersion(release) && !isPrerelease(release))
    .filter((release) => compareReleaseVersions(release, version) <= 0)
    .sort((one, other) => compareReleaseVersions(other, one));
  return newest === undefined ? beforeFirstRelease : `v${newest}`;
}
