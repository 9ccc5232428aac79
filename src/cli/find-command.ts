// Which command a command line names, and the help of the program and of its groups of commands. A wrong word is
// refused with the nearest command. Refuses: repeating a word that may be a key or a link.

import { nearest } from '#platform/runtime/flags/nearest.ts';
import { type Command, type CommandSection, programName } from './command.ts';

export type FoundCommand =
  | { readonly kind: 'command'; readonly command: Command; readonly args: readonly string[] }
  | { readonly kind: 'print'; readonly text: string }
  | {
      readonly kind: 'refuse';
      /** The program, or the group whose command is missing or wrong: what `--help` explains. */
      readonly command: string;
      readonly text: string;
      readonly reason: string;
    };

const summary = 'exports a docs site, checks the archive and writes it';
const wordPattern = /^[a-z][a-z-]{0,30}$/;

/**
 * @param args without node and script
 * @param called how texts name the program
 */
export function findCommand(
  args: readonly string[],
  sections: readonly CommandSection[],
  version: string,
  called: string = programName,
): FoundCommand {
  const commands = sections.flatMap((section) => section.commands);
  const end = args.findIndex((arg) => !wordPattern.test(arg));
  const words = end < 0 ? args : args.slice(0, end);
  const [first = ''] = args;
  if (first === 'help') {
    const named = commands.find((one) => one.words === args.slice(1).join(' '));
    if (named !== undefined) return { kind: 'command', command: named, args: ['--help'] };
  }
  const command = commands.find((one) => isPrefix(one.words.split(' '), words));
  if (command !== undefined) {
    return { kind: 'command', command, args: args.slice(command.words.split(' ').length) };
  }
  if (['--version', '-V', '-v'].includes(first)) return print(`${programName} ${version}\n`);
  const isHelp = first === 'help' || args.includes('--help') || args.includes('-h');
  const group = (first === 'help' ? args.slice(1) : words).join(' ');
  const within = commands.filter((one) => `${one.words} `.startsWith(group === '' ? '' : `${group} `));
  const help = (): string =>
    helpOf(called, group, group === '' ? sections : [{ title: 'Commands', commands: within }]);
  if (isHelp && within.length > 0) return print(help());
  // Flags alone name no command either.
  const isGroup = words.length > 0 && within.length > 0 && (args[words.length] ?? '-').startsWith('-');
  if (args.length === 0 || isGroup) {
    const reason = 'a command is missing';
    const subject = [called, group].filter((part) => part !== '').join(' ');
    return { kind: 'refuse', command: subject, text: `${subject}: ${reason}\n\n${help()}`, reason };
  }
  const reason = first.startsWith('-') ? 'flags follow the command' : wrongWord(words, commands);
  const isOfGroup = commands.some((one) => one.words.startsWith(`${words[0]} `));
  const subject = isOfGroup ? `${called} ${words[0]}` : called;
  const text = `${subject}: ${reason}\nRun "${subject} --help" for all commands.\n`;
  return { kind: 'refuse', command: subject, text, reason };
}

function print(text: string): FoundCommand {
  return { kind: 'print', text };
}

function isPrefix(prefix: readonly string[], words: readonly string[]): boolean {
  return prefix.every((word, at) => words[at] === word);
}

function wrongWord(words: readonly string[], commands: readonly Command[]): string {
  const names = commands.map((one) => one.words);
  const groups = names.map((name) => name.split(' ', 1)[0] ?? '');
  const [given, first = ''] = [words.slice(0, 2).join(' '), words[0]];
  const habit = habitOf(words);
  if (habit !== undefined) return `there is no such command; ${habit}`;
  const inGroups = names.filter((name) => name.endsWith(` ${first}`));
  if (inGroups.length > 0) return `there is no such command; did you mean ${quoted(inGroups)}?`;
  const near = nearest(given, names, mostEdits(given)) ?? nearest(first, groups, mostEdits(first));
  // The group itself was right.
  const meant = near === first ? undefined : near;
  return meant === undefined
    ? 'there is no such command'
    : `there is no such command; did you mean "${meant}"?`;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(' or ');

/** Words of other programs, and what does here what they do there. The longest match wins. */
const habits: ReadonlyMap<string, string> = new Map(
  [
    ['list ls show', 'use "get", which lists StaticExports'],
    ['describe info', 'use "status NAME"'],
    ['watch', 'use "get --watch"'],
    [
      'create add apply',
      'StaticExports are created by "kubectl apply -f FILE"; without a cluster, use "run -f FILE"',
    ],
    ['delete remove rm', 'StaticExports are deleted by "kubectl delete staticexport NAME"'],
    ['edit', 'use "kubectl edit staticexport NAME"'],
    [
      'install upgrade uninstall deploy',
      'the operator is installed by "helm upgrade --install" with its chart; "doctor --pre" checks the cluster first',
    ],
    ['init new', 'nothing is set up first; use "export DOMAIN --to FOLDER", or "demo" without a key'],
    ['keygen', '"minisign -G -p kit.pub -s kit.key" makes the keys of kits'],
    ['login auth', 'each command reads the key from --key-file, or from STATIC_EXPORT_API_KEY'],
    ['publish', 'use "export" without a cluster, or "promote NAME" for a candidate'],
    ['sync trigger start', 'use "request NAME", which starts an export'],
    ['refresh renew', 'use "refresh-link NAME"'],
    ['pause stop', 'use "suspend NAME"'],
    ['unpause unsuspend', 'use "resume NAME"'],
    ['approve', 'use "promote NAME"'],
    ['undo revert', 'use "rollback NAME"'],
    ['check validate lint test', 'use "doctor" for a cluster, or "bundle verify ARCHIVE" for an archive'],
    ['download', 'use "export DOMAIN --to FOLDER"'],
    ['versions', 'use "history NAME"'],
  ].flatMap(([words = '', text = '']) => words.split(' ').map((word) => [word, text] as const)),
);

/** Of a group, where the word means something else: `bundle list`. */
const groupHabits: ReadonlyMap<string, string> = new Map([
  ['bundle list', 'use "bundle inspect ARCHIVE --files"'],
  ['bundle ls', 'use "bundle inspect ARCHIVE --files"'],
  ['bundle create', 'use "bundle pack FOLDER ARCHIVE"'],
  ['bundle export', 'use "export DOMAIN --to ARCHIVE"'],
  ['bundle extract', 'use "tar xf ARCHIVE"'],
  ['bundle unpack', 'use "tar xf ARCHIVE"'],
  ['kit list', 'use "kit inspect KIT"'],
  ['kit show', 'use "kit inspect KIT"'],
  ['kit export', 'use "kit create"'],
  ['kit keygen', '"minisign -G -p kit.pub -s kit.key" makes the keys of kits'],
]);

function habitOf([first = '', second = '']: readonly string[]): string | undefined {
  return groupHabits.get(`${first} ${second}`) ?? habits.get(first);
}

const mostEdits = (word: string): number => Math.ceil(word.length / 3);

function helpOf(called: string, group: string, sections: readonly CommandSection[]): string {
  const parts = sections.map(({ title, commands }) => {
    // Of each section, because the longest words of all would move some lines over the edge of a terminal.
    const width = Math.max(...commands.map(({ words }) => words.length));
    return [`${title}:`, ...commands.map((one) => `  ${one.words.padEnd(width)}  ${one.summary}`), ''];
  });
  const usage = [called, group, 'COMMAND [flags]'].filter((part) => part !== '').join(' ');
  return [
    `Usage: ${usage}`,
    '',
    ...(group === '' ? [`${called} ${summary}.`, ''] : []),
    ...parts.flat(),
    `"${called} COMMAND --help" explains a command and its flags.`,
    '',
  ].join('\n');
}
