// Whether a working tree may be released: what is released is a commit and nothing else. Pure. Refuses with the paths or the
// versions that differ, and with what to do.

export interface TreeState {
  /** Lines of `git status --porcelain`. */
  readonly changes: readonly string[];
  /** The version that each place names, in the working tree. */
  readonly versions: Readonly<Record<string, string>>;
  /** The version of `package.json` in the commit. */
  readonly committedVersion: string;
}

const mostShown = 10;

/** @returns the refusal, or `undefined` where the tree may be released */
export function refuseTree({ changes, versions, committedVersion }: TreeState): string | undefined {
  const version = versions['package.json'] ?? '';
  if (version !== committedVersion) {
    return `package.json names version ${version}, and the commit names ${committedVersion}. Commit the version first.`;
  }
  const others = Object.entries(versions).filter(([, one]) => one !== version);
  if (others.length > 0) {
    const named = others.map(([place, one]) => `  ${place}: ${one}`);
    return `These places name another version than package.json (${version}):\n${named.join('\n')}\nName one version in all of them, and commit it.`;
  }
  if (changes.length === 0) return undefined;
  const shown = changes.slice(0, mostShown).map((change) => `  ${change}`);
  const rest = changes.length > mostShown ? [`  and ${changes.length - mostShown} more`] : [];
  return `The working tree differs from the commit:\n${[...shown, ...rest].join('\n')}\nCommit these files, or remove them.`;
}
