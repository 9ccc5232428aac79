// The names that users depend on: flags, values of charts, fields of the resource, metrics. Compares those of the last
// release with those of now, and finds names that the changelog does not explain. Pure. Refuses: a removed name without a
// line of its own, because users would search for it in vain.

import type { ChangelogLine } from './changelog.ts';

export const surfaceKinds = ['flags', 'values', 'fields', 'metrics'] as const;
export type SurfaceKind = (typeof surfaceKinds)[number];
/** Sorted. Flags and values begin with their program or chart: `operator --workers`, `static-export-site image.tag`. */
export type Surface = Readonly<Record<SurfaceKind, readonly string[]>>;

/** @returns the text of a list's file */
export function surfaceText(names: readonly string[]): string {
  return [...new Set(names)]
    .sort()
    .map((name) => `${name}\n`)
    .join('');
}

export function parseSurface(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/**
 * Names of the last release that are missing now and that no line explains, a sentence each. A line under Removed names
 * the missing one, or what it was a part of. A line under Changed also names what it is called now.
 */
export function unexplainedRemovals(
  kind: SurfaceKind,
  before: readonly string[],
  now: readonly string[],
  lines: readonly ChangelogLine[],
): readonly string[] {
  const present = new Set(now);
  const old = new Set(before);
  const isOfKind = (line: ChangelogLine): boolean =>
    now.some((name) => !old.has(name) && names(line, wordOf(name)));
  const isExplained = (name: string): boolean =>
    [wordOf(name), ...wholesRemoved(name, now)].some((word) =>
      lines.some(
        (line) =>
          names(line, word) && (line.heading === 'Removed' || (line.heading === 'Changed' && isOfKind(line))),
      ),
    );
  return before
    .filter((name) => !present.has(name) && !isExplained(name))
    .map(
      (name) =>
        `${kind}: ${name} is removed; name ${wordOf(name)} in a line under "### Removed" of Unreleased`,
    );
}

/** What a changelog calls it: without the program or the chart. */
const wordOf = (name: string): string => name.split(' ').at(-1) ?? name;

/** What the name was a part of, and is gone with all of its parts: commands and programs of a flag, objects of a path. */
function wholesRemoved(name: string, now: readonly string[]): readonly string[] {
  const words = name.split(' ');
  const owners = beginningsOf(words, ' ').filter((one) => !now.some((other) => other.startsWith(`${one} `)));
  const owner = words.length > 1 ? `${words.slice(0, -1).join(' ')} ` : '';
  const objects = beginningsOf(wordOf(name).split('.'), '.').filter(
    (one) => !now.some((other) => other.startsWith(`${owner}${one}.`)),
  );
  return [...owners, ...objects];
}

/** `a`, `a.b` of `a.b.c`. */
const beginningsOf = (parts: readonly string[], joint: string): readonly string[] =>
  parts.slice(1).map((_part, at) => parts.slice(0, at + 1).join(joint));

/** Items of a list are written as `targets[].kind` or as `targets.kind`. */
function names({ text }: ChangelogLine, word: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w-])(?<!\\w\\.)${escaped}(?![\\w-]|\\.\\w)`).test(text.replaceAll('[]', ''));
}
