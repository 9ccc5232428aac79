// CHANGELOG.md as data: sections of versions, and their lines by heading and area. Owns the form of a section's title. Pure.
// Refuses to change the text of a line: a release moves lines below its own title, and nothing else.

import { versionPattern } from './release-version.ts';

export interface ChangelogLine {
  /** `Added`, `Changed`, `Removed` and so on. */
  readonly heading: string;
  /** `Operator` of the paragraph `Operator:` above the line; `undefined` where there is none. */
  readonly area: string | undefined;
  /** On one line, without its dash. */
  readonly text: string;
}

export interface ChangelogSection {
  /** `undefined`: Unreleased. */
  readonly version: string | undefined;
  readonly date: string | undefined;
  readonly lines: readonly ChangelogLine[];
}

const title = new RegExp(
  `^## (?:(Unreleased)(?:: ${versionPattern})?|\\[?(${versionPattern})\\]? - (\\d{4}-\\d{2}-\\d{2}))$`,
);
const unreleasedTitle = new RegExp(`^## Unreleased(?:: ${versionPattern})?$`, 'm');
/** Until the first release the text above all sections says so. */
const nothingReleased = /\s+Nothing\s+has\s+been\s+released\s+yet\./;

/** @throws {Error} naming a title of level two that is not one of a section */
export function readChangelog(text: string): readonly ChangelogSection[] {
  const parts = text.split(/^(?=## )/m).filter((part) => part.startsWith('## '));
  return parts.map((part) => {
    const [first = '', ...rest] = part.split('\n');
    const [isSection, , version, date] = title.exec(first) ?? [];
    if (isSection === undefined)
      throw new Error(`CHANGELOG.md: "${first}" is not "## Unreleased" or "## X.Y.Z - YYYY-MM-DD"`);
    return { version, date, lines: linesOf(rest) };
  });
}

function linesOf(rows: readonly string[]): readonly ChangelogLine[] {
  const lines: ChangelogLine[] = [];
  let heading = '';
  let area: string | undefined;
  for (const row of rows) {
    const last = lines.at(-1);
    if (row.startsWith('### ')) [heading, area] = [row.slice('### '.length).trim(), undefined];
    else if (row.startsWith('- ')) lines.push({ heading, area, text: row.slice(2).trim() });
    else if (/^\S.*:$/.test(row)) area = row.slice(0, -1);
    else if (row.startsWith('  ') && last !== undefined)
      lines.splice(-1, 1, { ...last, text: `${last.text} ${row.trim()}` });
  }
  return lines;
}

/** The lines of Unreleased below the title of the version, and an empty Unreleased above. */
export function releaseChangelog(text: string, version: string, date: string): string {
  return text
    .replace(nothingReleased, '')
    .replace(unreleasedTitle, () => `## Unreleased\n\n## ${version} - ${date}`);
}
