// What a push writes, skips and refuses, decided from what the registry names by its tags. Pure. Invariants: a version never
// gets other bytes; its minor version, such as 0.2, never goes back to an older release and never names a prerelease.

import {
  compareReleaseVersions,
  isPrerelease,
  isReleaseVersion,
  minorOf,
} from '../version/release-version.ts';
import type { Artifact } from './artifact.ts';

/** What a repository has before the push. */
export interface RepositoryTags {
  /** Digest of the manifest that the version's tag names. */
  readonly version: string | undefined;
  /** The same of the minor version's tag. */
  readonly minor: string | undefined;
  /** All tags; empty where the minor version has none. */
  readonly all: readonly string[];
}

export interface PlannedTags {
  /** Is never written again with other bytes. */
  readonly version: { readonly tag: string; readonly isWritten: boolean };
  /** Follows the newest release; `undefined` for a prerelease. */
  readonly minor:
    | { readonly tag: string; readonly step: 'write' | 'keep' }
    | { readonly tag: string; readonly step: 'leave'; readonly newer: string }
    | undefined;
}

export interface TagConflict {
  readonly name: string;
  readonly tag: string;
  readonly present: string;
  readonly own: string;
}

/** As Helm writes it, because a tag has no `+`. */
export const versionTagOf = (version: string): string => version.replaceAll('+', '_');

/** @returns `undefined` for a prerelease */
export function minorTagOf(version: string): string | undefined {
  return isPrerelease(version) ? undefined : minorOf(version);
}

export function planTags(
  { name, version, root }: Pick<Artifact, 'name' | 'version' | 'root'>,
  present: RepositoryTags,
): PlannedTags | TagConflict {
  const tag = versionTagOf(version);
  if (present.version !== undefined && present.version !== root.digest) {
    return { name, tag, present: present.version, own: root.digest };
  }
  return {
    version: { tag, isWritten: present.version === undefined },
    minor: planMinor(version, root.digest, present),
  };
}

function planMinor(version: string, digest: string, present: RepositoryTags): PlannedTags['minor'] {
  const tag = minorTagOf(version);
  if (tag === undefined) return undefined;
  if (present.minor === digest) return { tag, step: 'keep' };
  const newer = present.all
    .filter((one) => isReleaseVersion(one) && minorTagOf(one) === tag)
    .filter((one) => compareReleaseVersions(version, one) < 0)
    .sort(compareReleaseVersions)
    .at(-1);
  return newer === undefined ? { tag, step: 'write' } : { tag, step: 'leave', newer };
}

export function isConflict(plan: PlannedTags | TagConflict): plan is TagConflict {
  return 'own' in plan;
}

/** What is said of refused tags: each with both digests. */
export function conflictText(registry: string, conflicts: readonly TagConflict[]): string {
  const lines = conflicts.map(
    ({ name, tag, present, own }) =>
      `  ${registry}/${name}:${tag}\n    in the registry  ${present}\n    in this release  ${own}`,
  );
  return `Nothing was pushed, because a version never gets other bytes:\n${lines.join('\n')}\nRaise the version with \`npm run release:prepare\`.`;
}
