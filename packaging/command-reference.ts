// The commands as a reference describes them, from the same tree that parses command lines. Pure. Refuses: text of its own
// about a command.

import { type Command, programName } from '#cli/command.ts';
import type { Flag } from '#platform/runtime/flags/flag-kinds.ts';
import { argumentTerm, flagName, variableName } from '#platform/runtime/flags/flags.ts';

export interface FlagReference {
  /** `-o`, if there is one, and `--output`. */
  readonly names: readonly string[];
  /** `text|json|yaml`; `undefined` for a switch. */
  readonly value: string | undefined;
  readonly describe: string;
  readonly isRequired: boolean;
  readonly isRepeatable: boolean;
  /** Empty: none. */
  readonly defaultText: string;
  readonly variable: string;
}

export interface CommandReference {
  readonly words: string;
  readonly summary: string;
  /** `static-export get [NAME] [flags]`. */
  readonly usage: string;
  readonly args: readonly { readonly placeholder: string; readonly describe: string }[];
  readonly flags: readonly FlagReference[];
  readonly examples: readonly string[];
}

/** Words that begin several commands, and these commands. */
export interface GroupReference {
  readonly words: string;
  readonly commands: readonly CommandReference[];
}

export function referenceOf({ words, summary, description }: Command): CommandReference {
  const { flags, arguments: args = [], examples = [] } = description;
  return {
    words,
    summary,
    usage: [description.name, ...args.map(argumentTerm), '[flags]'].join(' '),
    args: args.map(({ placeholder, describe }) => ({ placeholder, describe })),
    flags: Object.entries(flags).map(([key, flag]) => flagReference(key, flag)),
    examples,
  };
}

function flagReference(key: string, flag: Flag<unknown>): FlagReference {
  const { short, placeholder, describe, isRequired, isRepeatable, defaultText = '' } = flag;
  return {
    names: [...(short === undefined ? [] : [`-${short}`]), `--${flagName(key)}`],
    value: placeholder,
    describe,
    isRequired,
    isRepeatable,
    // A switch that is not given is off; to say so of each would say nothing.
    defaultText: placeholder === undefined ? '' : defaultText,
    variable: variableName(programName, key),
  };
}

export function groupsOf(commands: readonly CommandReference[]): readonly GroupReference[] {
  const beginnings = commands
    .filter(({ words }) => words.includes(' '))
    .map(({ words }) => words.split(' ')[0] ?? '');
  return [...new Set(beginnings)].map((words) => ({
    words,
    commands: commands.filter((one) => one.words.startsWith(`${words} `)),
  }));
}
