// Command line and environment → typed values. Commander parses the command line and prints `--help`. Every flag has a
// variable of the same name (`--admin-listen` of bundle-server is `BUNDLE_SERVER_ADMIN_LISTEN`); the flag wins.
// Refuses: guessing. An error names the flag or the variable. It never repeats an argument, which may be a link or a key.

import { Command, CommanderError, Option } from 'commander';
import { type Configured, noneConfigured } from './configured.ts';
import { type Candidates, type Flag, FlagValueError } from './flag-kinds.ts';
import { nearest } from './nearest.ts';
import { spellOut } from './short-flags.ts';

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** A value without a flag, such as the archive of `bundle inspect ARCHIVE`. */
export interface Argument {
  readonly placeholder: string;
  readonly describe: string;
  readonly isRequired: boolean;
  /** Of the last one: it may be given more than once. */
  readonly isRepeatable?: boolean;
  /** Default: none. */
  readonly candidates?: Candidates;
}

/** As usage lines show it. */
export function argumentTerm({ placeholder, isRequired, isRepeatable = false }: Argument): string {
  const term = isRepeatable ? `${placeholder}...` : placeholder;
  return isRequired ? term : `[${term}]`;
}

export interface ProgramDescription<F extends Flags> {
  /** With the words of its command, if it is one of several: `static-export bundle inspect`. */
  readonly name: string;
  readonly summary: string;
  readonly flags: F;
  /** In order; required ones first. Default: none. */
  readonly arguments?: readonly Argument[];
  /** What variables begin with, if not the name: commands of one program share theirs. */
  readonly variablePrefix?: string;
  /** Shell lines for "Examples" of `--help`; a long one is continued by `\` and a line break. */
  readonly examples?: readonly string[];
  /** The error in a combination of flags that are each valid; `undefined` when there is none. */
  check?(values: FlagValues<F>): string | undefined;
}

/** What to do with a command line: run, print and exit with 0, or refuse with 2. */
export type Invocation<F extends Flags> =
  | {
      readonly outcome: 'run';
      readonly values: FlagValues<F>;
      /** The given arguments, in order. */
      readonly args: readonly string[];
      /** Replaces each `--flag` of a sentence by the variable or the field that gave its value. */
      readonly nameSources: (sentence: string) => string;
      /** Variables that look mistyped, a sentence each. */
      readonly hints: readonly string[];
    }
  | { readonly outcome: 'print'; readonly text: string }
  | {
      readonly outcome: 'refuse';
      readonly text: string;
      /** The same without the name of the program and the next step. */
      readonly reason: string;
    };

/** `allowedApiHosts` → `allowed-api-hosts`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableName(program: string, key: string): string {
  return `${program}-${flagName(key)}`.toUpperCase().replaceAll('-', '_');
}

function variableOf<F extends Flags>(
  { name, variablePrefix = name }: ProgramDescription<F>,
  key: string,
): string {
  return variableName(variablePrefix, key);
}

/**
 * @param args without node and script
 * @param env the process's environment
 * @param configured what is left where neither says anything
 */
export function readInvocation<F extends Flags>(
  program: ProgramDescription<F>,
  version: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  configured: Configured = noneConfigured,
): Invocation<F> {
  const names = Object.keys(program.flags).map(flagName);
  const given = new Map<string, readonly string[]>();
  const printed: string[] = [];
  const command = commandOf(program, (key, text) => {
    // Commander takes a flag that follows for the value.
    if (text.startsWith('--') && names.includes(text.slice(2)))
      throw new FlagValueError(`--${flagName(key)} needs a value`);
    given.set(key, [...(given.get(key) ?? []), text]);
  });
  const versionText = `${program.name} ${version}\n`;
  command.configureOutput({
    writeOut: (text) => printed.push(text),
    outputError: () => {},
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  });
  if (!names.includes('version')) command.version(versionText.trimEnd(), '--version', 'Print the version');
  try {
    const flags = Object.entries(program.flags).map(([key, flag]) => ({ ...flag, name: flagName(key) }));
    const spelt = spellOut(args, flags, (program.arguments ?? []).length > 0);
    command.parse(spelt, { from: 'user' });
  } catch (error) {
    if (error instanceof FlagValueError) return refuse(program, error.message);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { outcome: 'print', text: printed.join('') };
    // The one error that is left to commander: the last flag has no value. `--version` may be a flag of the program.
    const last = args.at(-1);
    return last === '--version'
      ? { outcome: 'print', text: versionText }
      : refuse(program, `${last} needs a value`);
  }
  const wanted = program.arguments ?? [];
  const mostArgs = wanted.at(-1)?.isRepeatable === true ? Number.POSITIVE_INFINITY : wanted.length;
  const stray = command.args.find((arg, at) => at >= mostArgs || arg.startsWith('-'));
  if (stray !== undefined) {
    return refuse(
      program,
      strayArgument(stray, args.indexOf(stray) + 1, [...names, 'help', 'version'], wanted.length),
    );
  }
  const filled = [...command.args];
  for (const { placeholder } of wanted.slice(filled.length)) {
    const text = configured.arguments.get(placeholder);
    if (text === undefined) break;
    filled.push(text);
  }
  const missing = wanted.slice(filled.length).find(({ isRequired }) => isRequired);
  return missing === undefined
    ? readValues(program, given, filled, env, configured)
    : refuse(program, `${missing.placeholder} is missing: ${missing.describe}`);
}

const columns = 80;

function commandOf<F extends Flags>(
  program: ProgramDescription<F>,
  take: (key: string, text: string) => void,
): Command {
  const { name, summary, flags, examples = [], arguments: args = [] } = program;
  const command = new Command(name)
    .description(summary)
    .usage([...args.map(argumentTerm), '[flags]'].join(' '))
    .optionsGroup('Flags:')
    .helpOption('-h, --help', 'Print this help')
    .configureHelp({
      optionDescription: (option) => option.description,
      // A switch that is off by default needs no value; `=false` is for a variable that sets it.
      optionTerm: (option) => option.flags.replace(/[<>]| \[true\|false\]$/g, ''),
      formatItem: (term, _width, description, help) =>
        `  ${term}\n${help.boxWrap(description, columns - 6)}`.replaceAll('\n', '\n      '),
    })
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride();
  for (const { placeholder, describe } of args) command.argument(`[${placeholder}]`, describe);
  if (examples.length > 0) command.addHelpText('after', `\nExamples:\n  ${examples.join('\n  ')}`);
  for (const [key, flag] of Object.entries(flags)) {
    const value = flag.placeholder === undefined ? '[true|false]' : `<${flag.placeholder}>`;
    const notes = [
      ...(flag.isRequired ? ['required'] : []),
      ...(flag.isRepeatable ? ['repeatable'] : []),
      ...(flag.defaultText && flag.placeholder !== undefined ? [`default ${flag.defaultText}`] : []),
      variableOf(program, key),
    ];
    const short = flag.short === undefined ? '' : `-${flag.short}, `;
    const option = new Option(
      `${short}--${flagName(key)} ${value}`,
      `${flag.describe}\n[${notes.join('; ')}]`,
    );
    command.addOption(option.preset('true').argParser((text) => take(key, text)));
  }
  return command;
}

function readValues<F extends Flags>(
  program: ProgramDescription<F>,
  given: ReadonlyMap<string, readonly string[]>,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  configured: Configured,
): Invocation<F> {
  const values: Record<string, unknown> = {};
  /** Of values that the command line does not give: variables, and fields of files. */
  const sources = new Map<string, string>();
  for (const [key, flag] of Object.entries(program.flags)) {
    const name = `--${flagName(key)}`;
    const variable = variableOf(program, key);
    const fromVariable = given.has(key) ? undefined : env[variable] || undefined;
    const fromFile = given.has(key) || fromVariable !== undefined ? undefined : configured.flags.get(key);
    const source = fromFile?.source ?? (fromVariable === undefined ? undefined : variable);
    if (source !== undefined) sources.set(name, source);
    const text = fromVariable ?? flag.defaultText;
    const texts = given.get(key) ?? fromFile?.texts ?? (text === undefined ? undefined : [text]);
    if (texts === undefined && flag.isRequired) {
      return refuse(program, `${name} (or ${variable}) is required: ${flag.describe}`);
    }
    try {
      values[key] = texts === undefined ? undefined : flag.parse(texts);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      return refuse(program, `${sources.get(name) ?? name} ${error.message}`);
    }
  }
  const nameSources = (sentence: string): string =>
    sentence.replace(/--[a-z][a-z-]*[a-z]/g, (flag) => sources.get(flag) ?? flag);
  const wrong = program.check?.(values as FlagValues<F>);
  return wrong === undefined
    ? { outcome: 'run', values: values as FlagValues<F>, args, nameSources, hints: mistyped(program, env) }
    : refuse(program, nameSources(wrong));
}

/** Only near misses: a cluster sets other variables with the same beginning (`…_SERVICE_HOST`). */
function mistyped<F extends Flags>(
  program: ProgramDescription<F>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const variables = Object.keys(program.flags).map((key) => variableOf(program, key));
  const beginning = variableOf(program, '');
  return Object.keys(env)
    .filter((name) => name.startsWith(beginning) && !variables.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, variables, 2);
      return meant === undefined ? [] : [`${name} is not a variable of this program; did you mean ${meant}?`];
    });
}

function refuse<F extends Flags>(program: ProgramDescription<F>, reason: string): Invocation<F> {
  return {
    outcome: 'refuse',
    reason,
    text: `${program.name}: ${reason}\nRun "${program.name} --help" for all flags.\n`,
  };
}

/** By position and not by text, unless the text can be nothing but a flag: it may be a link or a key. */
function strayArgument(
  argument: string,
  position: number,
  names: readonly string[],
  wantedCount: number,
): string {
  if (!argument.startsWith('-')) {
    const rule =
      wantedCount === 0 ? 'every value follows its --flag' : `at most ${wantedCount} may have no flag`;
    return `argument ${position} is not a flag; ${rule}`;
  }
  const [flag = ''] = argument.split('=');
  if (!/^--?[A-Za-z][A-Za-z-]{0,40}$/.test(flag)) return `argument ${position} is not a flag`;
  const meant = meantFlags(flag.replace(/^-+/, ''), names).map((name) => `--${name}`);
  return `unknown flag ${flag}${meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`}`;
}

/** The flags that begin with the word, such as `--key-file` for `--key`; otherwise the nearest. */
function meantFlags(word: string, names: readonly string[]): readonly string[] {
  const longer = names.filter((name) => name.startsWith(`${word}-`));
  if (longer.length > 0 && longer.length <= 3) return longer;
  const mostEdits = Math.min(word.length - 1, Math.max(3, word.length / 2));
  return [nearest(word, names, mostEdits)].filter((name) => name !== undefined);
}
