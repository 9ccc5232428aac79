// The reference of all commands as one page of Markdown. A flag that several commands share stands once, in a table of its
// own, and each of them names it. Pure.

import { isDeepStrictEqual } from 'node:util';
import { programName } from '#cli/command.ts';
import type { CommandReference, FlagReference } from './command-reference.ts';

/** Commands that must have a flag, in the same words, before it stands in the table of shared ones. */
const fewestSharers = 4;

export function markdownReference(commands: readonly CommandReference[]): string {
  const all = commands.flatMap(({ flags }) => flags);
  const sharersOf = (flag: FlagReference): number => all.filter((one) => isDeepStrictEqual(one, flag)).length;
  // A flag may have other words in some commands, such as their own formats: those stand with the commands.
  const usual = new Map<string, FlagReference>();
  for (const flag of all) {
    const other = usual.get(longName(flag));
    if (other === undefined || sharersOf(other) < sharersOf(flag)) usual.set(longName(flag), flag);
  }
  const shared = [...usual.values()]
    .filter((flag) => sharersOf(flag) >= fewestSharers)
    .toSorted((a, b) => sharersOf(b) - sharersOf(a));
  const isShared = (flag: FlagReference): boolean => shared.some((one) => isDeepStrictEqual(one, flag));
  const isCommon = (flag: FlagReference): boolean =>
    commands.every(({ flags }) => flags.some((one) => longName(one) === longName(flag)));
  const rows = commands.map(
    ({ words, summary }) => `| [\`${words}\`](#${words.replaceAll(' ', '-')}) | ${cell(summary)} |`,
  );
  const common = shared.filter(isCommon).map(longName);
  return [
    '<!-- Generated from the commands.ts of each room by "npm run generate"; change them there. -->',
    `# Commands of \`${programName}\``,
    'The [README](README.md) explains how they work together, their output and their exit codes. As a plugin of kubectl they begin with\n`kubectl static-export`.',
    table(['command', 'what it does'], rows),
    '## Shared flags',
    `Every command has ${common.join(', ')} and \`--help\`. Each flag has a variable, such as \`STATIC_EXPORT_OUTPUT\`; the flag wins.`,
    flagTable(shared),
    ...commands.flatMap((command) => sectionOf(command, { isShared, isCommon })),
  ]
    .join('\n\n')
    .concat('\n');
}

interface Sharing {
  readonly isShared: (flag: FlagReference) => boolean;
  readonly isCommon: (flag: FlagReference) => boolean;
}

function sectionOf(command: CommandReference, { isShared, isCommon }: Sharing): readonly string[] {
  const { words, summary, usage, args, flags, examples } = command;
  const own = flags.filter((flag) => !isShared(flag));
  const others = flags.filter((flag) => isShared(flag) && !isCommon(flag)).map(longName);
  const described = args.map(({ placeholder, describe }) => `- \`${placeholder}\`: ${describe}`);
  return [
    `## ${words}`,
    `\`${usage}\` ${summary}.`,
    described.join('\n'),
    own.length === 0 ? '' : flagTable(own),
    others.length === 0 ? '' : `Shared flags: ${others.join(', ')}.`,
    examples.length === 0 ? '' : ['```sh', ...examples, '```'].join('\n'),
  ].filter((part) => part !== '');
}

const longName = ({ names }: FlagReference): string => `\`${names.at(-1)}\``;

function flagTable(flags: readonly FlagReference[]): string {
  const rows = flags.map(({ names, value, describe, isRequired, isRepeatable, defaultText }) => {
    const term = value === undefined ? names.join(', ') : `${names.join(', ')} ${value}`;
    const notes = [...(isRequired ? ['required'] : []), ...(isRepeatable ? ['repeatable'] : [])];
    const text = notes.length === 0 ? describe : `${describe} (${notes.join(', ')})`;
    return `| \`${cell(term)}\` | ${defaultText === '' ? '' : `\`${cell(defaultText)}\``} | ${cell(text)} |`;
  });
  return table(['flag', 'default', 'what it does'], rows);
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
