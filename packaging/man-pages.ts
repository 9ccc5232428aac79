// The man pages of section 1: one for the program, for each group and for each command. Pure; no page depends on the day
// of its build. Text is escaped, because a line that begins with a dot is a request to the formatter.

import { programName } from '#cli/command.ts';
import { type CommandReference, type FlagReference, groupsOf } from './command-reference.ts';

export interface ExitCode {
  /** `130, 143`. */
  readonly codes: string;
  readonly meaning: string;
}

/** From the table of the README, which a test compares with the codes. */
export function readExitCodes(readme: string): readonly ExitCode[] {
  const section = readme.split('## Exit codes\n')[1]?.split('\n## ')[0] ?? '';
  const rows = section.matchAll(/^\| ([\d, ]+) \| (.+) \|$/gm);
  return [...rows].map(([, codes = '', meaning = '']) => ({ codes, meaning: meaning.replaceAll('`', '') }));
}

/** @returns texts by the name of their file, such as `static-export-get.1` */
export function manPages(
  commands: readonly CommandReference[],
  exitCodes: readonly ExitCode[],
  version: string,
): ReadonlyMap<string, string> {
  const page = (words: string, summary: string, sections: readonly string[]): readonly [string, string] =>
    pageText(pageOf(words), summary, sections, version);
  const groups = groupsOf(commands);
  const top = [...new Set(commands.map(({ words }) => words.split(' ')[0] ?? ''))];
  return new Map([
    page('', 'exports a docs site, checks the archive and writes it', [
      '.SH SYNOPSIS',
      `.B ${roff(programName)}`,
      '.I COMMAND',
      '[flags]',
      '.SH COMMANDS',
      ...commands.flatMap(({ words, summary }) => item(bold(words), summary)),
      '.SH ENVIRONMENT',
      'Each flag has a variable, which its page names. The flag wins.',
      '.SH EXIT STATUS',
      ...exitCodes.flatMap(({ codes, meaning }) => item(bold(codes), meaning)),
      ...seeAlso(top),
    ]),
    ...groups.map(({ words, commands: within }) =>
      page(words, `commands: ${within.map((one) => one.words.slice(words.length + 1)).join(', ')}`, [
        '.SH COMMANDS',
        ...within.flatMap((one) => item(bold(one.words), one.summary)),
        ...seeAlso(['', ...within.map((one) => one.words)]),
      ]),
    ),
    ...commands.map(({ words, summary, usage, args, flags, examples }) =>
      page(words, summary, [
        '.SH SYNOPSIS',
        roff(usage),
        ...(args.length === 0 ? [] : ['.SH ARGUMENTS']),
        ...args.flatMap(({ placeholder, describe }) => item(`\\fI${roff(placeholder)}\\fR`, describe)),
        '.SH OPTIONS',
        ...flags.flatMap((flag) => item(termOf(flag), ...textOf(flag))),
        ...(examples.length === 0 ? [] : ['.SH EXAMPLES', '.EX']),
        ...examples.flatMap((example) => example.split('\n').map(roff)),
        ...(examples.length === 0 ? [] : ['.EE']),
        ...seeAlso([
          '',
          ...groups.filter((one) => words.startsWith(`${one.words} `)).map((one) => one.words),
        ]),
      ]),
    ),
  ]);
}

function pageText(
  name: string,
  summary: string,
  sections: readonly string[],
  version: string,
): readonly [string, string] {
  const head = [
    `.TH "${name.toUpperCase()}" "1" "" "${programName} ${version}" "User Commands"`,
    // A name that is broken at the end of a line cannot be copied.
    '.nh',
    '.ad l',
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary)}`,
  ];
  return [`${name}.1`, `${[...head, ...sections].join('\n')}\n`];
}

/**
 * The page of a program whose help is a text.
 *
 * @param help `Usage:` with its lines, a paragraph about the program, and the rest
 * @returns the name of the file, and its text
 */
export function manPageOfHelp(
  name: string,
  summary: string,
  help: string,
  version: string,
): readonly [string, string] {
  const [usage = '', about = '', ...rest] = help.trimEnd().split('\n\n');
  const lines = (text: string): readonly string[] => ['.EX', ...text.split('\n').map(roff), '.EE'];
  return pageText(
    name,
    summary,
    [
      '.SH SYNOPSIS',
      ...lines(usage.replace(/^Usage: /, '').replaceAll(/\n +/g, '\n')),
      '.SH DESCRIPTION',
      ...about.split('\n').map(roff),
      '.SH OPTIONS',
      ...rest.flatMap((part, at) => [...(at > 0 ? ['.PP'] : []), ...lines(part)]),
      ...seeAlso(['', 'conversations export']),
    ],
    version,
  );
}

const pageOf = (words: string): string => [programName, ...words.split(' ')].filter(Boolean).join('-');
const bold = (text: string): string => `\\fB${roff(text)}\\fR`;

function item(term: string, ...sentences: readonly string[]): readonly string[] {
  return ['.TP', term, ...sentences.map((one) => roff(/[.!?]$/.test(one) ? one : `${one}.`))];
}

function termOf({ names, value }: FlagReference): string {
  const all = names.map(bold).join(', ');
  return value === undefined ? all : `${all} \\fI${roff(value)}\\fR`;
}

function textOf({
  describe,
  isRequired,
  isRepeatable,
  defaultText,
  variable,
}: FlagReference): readonly string[] {
  return [
    describe,
    ...(isRequired ? ['Required.'] : []),
    ...(isRepeatable ? ['Repeatable.'] : []),
    ...(defaultText === '' ? [] : [`Default: ${defaultText}`]),
    `Variable: ${variable}`,
  ];
}

function seeAlso(words: readonly string[]): readonly string[] {
  const pages = words.map((one) => `${bold(pageOf(one))}(1)`);
  return ['.SH SEE ALSO', pages.join(',\n')];
}

/** Text as a line of its own, for any formatter: plain ASCII, and no request. */
function roff(text: string): string {
  const plain = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(
      /[^ -~]/gu,
      (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  return plain.replace(/^(?=[.'])/, '\\&');
}
