// What GitHub Actions reads: annotations in the log, entries of $GITHUB_OUTPUT, and the job summary. Pure. Refuses: text
// of others as a command, as another output, or as Markdown and HTML.

import { printable } from '#platform/wire/printable-text.ts';
import type { Outputs } from './pipeline.ts';

/** One line. Lines of the message stay lines of the annotation. */
export function annotation(level: 'error' | 'warning', title: string, message: readonly string[]): string {
  const data = message.map((line) => escapeData(printable(line))).join('%0A');
  return `::${level} title=${escapeProperty(printable(title))}::${data}`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** @param delimiter that no value can hold, because it is random */
export function outputEntries(outputs: Outputs, delimiter: string): string {
  return [...outputs].map(([name, text]) => `${name}<<${delimiter}\n${text}\n${delimiter}\n`).join('');
}

export interface ShownFailure {
  readonly code: string;
  readonly lines: readonly string[];
}

/** @param failure `undefined` where the command succeeded */
export function summaryText(command: string, outputs: Outputs, failure: ShownFailure | undefined): string {
  const verdict = failure === undefined ? 'done' : `failed (${failure.code})`;
  const rows = [...outputs].map(([name, text]) => `| ${name} | ${markdownText(text)} |`);
  return [
    `### ${markdownText(`${command}: ${verdict}`)}`,
    '',
    ...(failure?.lines ?? []).flatMap((line) => [markdownText(line), '']),
    '| output | value |',
    '|---|---|',
    ...rows,
    '',
    '',
  ].join('\n');
}

/** Everything that Markdown, HTML or an automatic link could begin with is a character reference, which is only text. */
function markdownText(text: string): string {
  return printable(text).replace(
    /[^\p{L}\p{N} ,()-]/gu,
    (character) => `&#${character.codePointAt(0) ?? 0};`,
  );
}
