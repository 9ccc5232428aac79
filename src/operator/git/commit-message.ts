// The text of a commit: its subject, a line for each edit, and what asks pipelines not to run. Pure. Refuses line breaks
// and hidden characters of the caller's texts, so that none of them becomes a trailer.

import { printable } from '#platform/wire/printable-text.ts';
import type { GitEdit } from './push-task.ts';

const longestLine = 300;

/** @param edits those that change a file, at least one */
export function writeCommitMessage(
  edits: readonly Pick<GitEdit, 'subject' | 'body'>[],
  skipsCi: boolean,
): string {
  const [first] = edits;
  const subject = edits.length === 1 ? first?.subject : `Update ${edits.length} static exports`;
  const lines = [oneLine(subject ?? ''), '', ...edits.map(({ body }) => oneLine(body))];
  // GitLab, Azure, Bitbucket, Gitea and Forgejo read the brackets anywhere. GitHub and Azure also read the trailer, which
  // GitHub wants last and after two empty lines.
  const skip = skipsCi ? ['', '[skip ci]', '', '', 'skip-checks: true'] : [];
  return `${[...lines, ...skip].join('\n')}\n`;
}

const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ').trim(), longestLine);
