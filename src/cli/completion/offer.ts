// What may follow the words that were typed: commands, flags, values of flags, and arguments. Pure. Names in a cluster
// are left to the caller, because only they cost time.

import type { Candidates } from '#platform/runtime/flags/flag-kinds.ts';
import { flagName } from '#platform/runtime/flags/flags.ts';
import type { Command } from '../command.ts';

export interface OfferedWord {
  readonly value: string;
  readonly describe?: string | undefined;
}

export interface Offer {
  /** What is typed of the word already; values begin with it. */
  readonly typed: string;
  readonly candidates: Candidates;
  /** Of the candidates that have one. */
  readonly descriptions: ReadonlyMap<string, string>;
  /** Absent where the command is not complete yet. */
  readonly command?: Command;
  /** The words after those of the command, without the last one. */
  readonly rest: readonly string[];
  /** The values of flags before, by key. */
  readonly given: ReadonlyMap<string, string>;
  /** The arguments before. */
  readonly args: readonly string[];
}

interface TypedArgs {
  readonly given: Map<string, string>;
  readonly args: string[];
  /** The flag that waits for its value. */
  pending: string | undefined;
  /** After `--`. */
  hasOnlyArguments: boolean;
}

/** @param words after the program's name; the last one, which may be empty, is to be completed */
export function offerFor(words: readonly string[], commands: readonly Command[]): Offer {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const command = commands.find((one) => one.words.split(' ').every((word, at) => before[at] === word));
  if (command === undefined) return offerOf(typed, nextWords(before, commands, typed));
  const rest = before.slice(command.words.split(' ').length);
  const state = readArgs(command, rest);
  const { flags, arguments: wanted = [] } = command.description;
  const found = { command, rest, given: state.given, args: state.args };
  if (state.pending !== undefined) {
    return { ...offerOf(typed), candidates: flags[state.pending]?.candidates ?? [], ...found };
  }
  if (typed.startsWith('-') && !state.hasOnlyArguments) {
    const [name = '', ...value] = typed.split('=');
    if (value.length === 0) return offerOf(typed, flagCandidates(command, state.given));
    const candidates = flags[keyOf(command, name) ?? '']?.candidates ?? [];
    return { ...offerOf(value.join('=')), candidates, ...found };
  }
  const next = wanted[state.args.length] ?? wanted.findLast(({ isRepeatable }) => isRepeatable);
  return { ...offerOf(typed), candidates: next?.candidates ?? [], ...found };
}

function offerOf(typed: string, candidates: readonly OfferedWord[] = []): Offer {
  return {
    typed,
    candidates: candidates.map(({ value }) => value),
    descriptions: new Map(candidates.map(({ value, describe = '' }) => [value, describe])),
    rest: [],
    given: new Map(),
    args: [],
  };
}

function nextWords(
  before: readonly string[],
  commands: readonly Command[],
  typed: string,
): readonly OfferedWord[] {
  const isHelp = before[0] === 'help';
  const group = isHelp ? before.slice(1) : before;
  if (typed.startsWith('-')) return before.length === 0 ? [help, programVersion] : [help];
  const within = commands.filter(({ words }) => group.every((word, at) => words.split(' ')[at] === word));
  const next = new Map<string, string>();
  for (const { words, summary } of within) {
    const [word, ...rest] = words.split(' ').slice(group.length);
    if (word === undefined) continue;
    const known = next.get(word);
    const describe = rest.length === 0 ? summary : rest.join(' ');
    next.set(word, known === undefined ? describe : `${known}, ${describe}`);
  }
  if (before.length === 0) next.set('help', 'lists the commands of a group');
  return [...next].map(([value, describe]) => ({ value, describe }));
}

const help = { value: '--help', describe: 'Print the help' };
const programVersion = { value: '--version', describe: 'Print the version' };

/** Those that may still be given. */
function flagCandidates(
  { description }: Command,
  given: ReadonlyMap<string, string>,
): readonly OfferedWord[] {
  const left = Object.entries(description.flags).filter(
    ([key, { isRepeatable }]) => isRepeatable || !given.has(key),
  );
  return [...left.map(([key, { describe }]) => ({ value: `--${flagName(key)}`, describe })), help];
}

function readArgs(command: Command, words: readonly string[]): TypedArgs {
  const state: TypedArgs = { given: new Map(), args: [], pending: undefined, hasOnlyArguments: false };
  for (const word of words) {
    if (state.pending !== undefined) {
      state.given.set(state.pending, word);
      state.pending = undefined;
    } else if (state.hasOnlyArguments || !word.startsWith('-') || word === '-') {
      state.args.push(word);
    } else if (word === '--') {
      state.hasOnlyArguments = true;
    } else {
      readFlag(command, word, state);
    }
  }
  return state;
}

/** `--flag`, `--flag=value`, `-f` and `-fvalue`. */
function readFlag(command: Command, word: string, state: TypedArgs): void {
  const isLong = word.startsWith('--');
  const [name = '', ...rest] = isLong ? word.split('=') : [word.slice(0, 2)];
  const key = keyOf(command, name);
  if (key === undefined) return;
  const value = isLong ? rest.join('=') : word.slice(2);
  const isSwitch = command.description.flags[key]?.placeholder === undefined;
  if (isSwitch || rest.length > 0 || value !== '') state.given.set(key, value);
  else state.pending = key;
}

function keyOf({ description }: Command, name: string): string | undefined {
  const found = Object.entries(description.flags).find(
    ([key, { short }]) => name === `--${flagName(key)}` || (short !== undefined && name === `-${short}`),
  );
  return found?.[0];
}
