// Colours on a terminal, for what a reader looks for first: whether it is ready, what a check found, that a command failed.
// Painted on finished lines, so that columns stay straight. Refuses: colour as the only sign; each painted word says it
// too. Whether a stream gets colours is decided by Node, from the terminal, NO_COLOR and FORCE_COLOR.

import { styleText } from 'node:util';

export type Paint = 'good' | 'bad' | 'unsure' | 'quiet' | 'strong';

const styles = { good: 'green', bad: 'red', unsure: 'yellow', quiet: 'dim', strong: 'bold' } as const;

export function hasColours(stream: NodeJS.WritableStream): boolean {
  return styleText('red', 'x', { stream }) !== 'x';
}

export function painted(text: string, paint: Paint): string {
  return styleText(styles[paint], text, { validateStream: false });
}

const words: ReadonlyMap<string, Paint> = new Map([
  ['True', 'good'],
  ['False', 'bad'],
  ['Unknown', 'unsure'],
  ['ok', 'good'],
  ['warning', 'unsure'],
  ['Warning', 'unsure'],
  ['error', 'bad'],
  ['skipped', 'quiet'],
  ['Exported', 'good'],
  ['Unchanged:', 'quiet'],
  ['whole', 'good'],
  ['rejected', 'bad'],
  ['A', 'good'],
  ['D', 'bad'],
  ['M', 'unsure'],
]);

/** Where a line of each kind has a word that is painted: what is before it, and the word. */
const places: Readonly<Record<string, RegExp>> = {
  StaticExportStatus: /^( {2}Ready(?:: +|=))(True|False|Unknown)\b/,
  DoctorReport: /^( {2})(ok|warning|error|skipped) +/,
  ExportResult: /^()(Exported|Unchanged:) /,
  ArchiveVerdict: /^(The archive is )(?:whole\.|rejected:)/,
  ArchiveDiff: /^()([AMD]) /,
};
/** Columns of tables, by their heading. */
const columns: Readonly<Record<string, string>> = { StaticExportList: 'READY', EventList: 'TYPE' };

/** The lines of a result of this kind, for a stream with colours. */
export function paintLines(kind: string, lines: readonly string[]): readonly string[] {
  const heading = columns[kind];
  const at = heading === undefined ? -1 : (lines[0] ?? '').indexOf(heading);
  if (at >= 0) return lines.map((line) => paintAt(line, at));
  const place = places[kind];
  return lines.map((line) => {
    const before = place?.exec(line)?.[1];
    return before === undefined ? line : paintAt(line, before.length);
  });
}

/** Paints the word that begins there, if it is one of those. */
function paintAt(line: string, at: number): string {
  const word = /^(?:Unchanged:|[A-Za-z]+)/.exec(line.slice(at))?.[0] ?? '';
  const paint = words.get(word);
  return paint === undefined
    ? line
    : `${line.slice(0, at)}${painted(word, paint)}${line.slice(at + word.length)}`;
}
