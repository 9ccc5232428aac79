// What `--help` prints: each flag with its words and its variable, for a terminal of 80 columns.
// Invariant: no line is longer, unless a single word is.

import type { Flag } from './flag-kinds.ts';
import { flagName, variableName } from './flag-names.ts';

export interface DescribedProgram {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag<unknown>>>;
  readonly examples?: readonly string[];
}

const columns = 80;

export function helpText({ name, summary, flags, examples = [] }: DescribedProgram): string {
  const rows = Object.entries(flags).map(([key, flag]) => row(name, key, flag));
  const shown = examples.map((line) => wrapped(shellWords(line), '  ', '    ', ' \\'));
  return [
    ...wrapped(`${name}: ${summary}`.split(' '), '', '  '),
    '',
    'Flags:',
    ...rows.flat(),
    '',
    '  --help, --version',
    ...(shown.length === 0 ? [] : ['', 'Examples:', ...shown.flat()]),
    '',
  ].join('\n');
}

function row(program: string, key: string, flag: Flag<unknown>): readonly string[] {
  const notes = [
    flag.isRequired ? 'required' : undefined,
    flag.isRepeatable ? 'repeatable' : undefined,
    flag.placeholder !== undefined && flag.defaultText ? `default ${flag.defaultText}` : undefined,
    variableName(program, key),
  ].filter((note) => note !== undefined);
  const indent = ' '.repeat(6);
  return [
    `  --${flagName(key)}${flag.placeholder === undefined ? '' : ` ${flag.placeholder}`}`,
    ...wrapped(flag.describe.split(' '), indent, indent),
    ...wrapped(`[${notes.join('; ')}]`.split(' '), indent, `${indent} `),
  ];
}

/** What stands in quotes is one word, so that a line of shell is never parted within. */
function shellWords(line: string): readonly string[] {
  return line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
}

/** @param continued ends every line but the last */
function wrapped(
  words: readonly string[],
  first: string,
  further: string,
  continued = '',
): readonly string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of words) {
    const isEmpty = line.trim() === '';
    if (!isEmpty && line.length + 1 + word.length + continued.length > columns) {
      lines.push(line + continued);
      line = further + word;
    } else {
      line += isEmpty ? word : ` ${word}`;
    }
  }
  return [...lines, line];
}
