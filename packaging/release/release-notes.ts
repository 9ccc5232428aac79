// The notes of one release: its section of CHANGELOG.md, under a title, with links that work outside of the sources. Pure.
// Refuses a version without a section, and an empty one.

import { sourceFilesUrl, withSourceLinks } from './source-links.ts';

/**
 * @param changelog has sections such as `## 0.2.0 - 2026-12-01` or `## Unreleased: 0.2.0`
 * @param sourceUrl where the sources are read; without one, links are plain text
 * @throws Error that says what to write
 */
export function releaseNotes(changelog: string, version: string, sourceUrl?: string): string {
  const sections = changelog.split(/^(?=## )/m).slice(1);
  const section = sections.find((one) => headingVersion(one) === version);
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section of ${version}. Add one: "## Unreleased: ${version}".`);
  }
  const body = section.slice(section.indexOf('\n') + 1).trim();
  if (!/^\s*- /m.test(body))
    throw new Error(`The section of ${version} in CHANGELOG.md lists nothing. Add what changed.`);
  const linked = withSourceLinks(body, 'CHANGELOG.md', sourceFilesUrl(sourceUrl, version));
  return `# static-export-operator ${version}\n\n${linked}\n`;
}

function headingVersion(section: string): string | undefined {
  return /^## (?:Unreleased: )?\[?v?(\d+\.\d+\.\d+[0-9A-Za-z.+-]*)\]?(?=\s|$)/.exec(section)?.[1];
}
