// Command line and environment → typed values. Every flag has an environment variable of the same name
// (`--admin-listen` of bundle-server is `BUNDLE_SERVER_ADMIN_LISTEN`); the command line wins.
// Refuses: guessing. What is unknown, missing or malformed is reported with the nearest right thing.

import { parseArgs } from 'node:util';
import { type Flag, FlagValueError } from './flag-kinds.ts';
import { flagName, variableName } from './flag-names.ts';
import { helpText } from './help-text.ts';

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

export interface ProgramDescription<F extends Flags> {
  readonly name: string;
  readonly summary: string;
  readonly flags: F;
  /** Shell lines shown under "Examples". */
  readonly examples?: readonly string[];
  /** What is wrong with flags that are each fine but do not go together; `undefined` when nothing is. */
  check?(values: FlagValues<F>): string | undefined;
}

/** What to do with a command line: run, print and leave with 0, or refuse with 2. */
export type Invocation<F extends Flags> =
  | {
      readonly outcome: 'run';
      readonly values: FlagValues<F>;
      /** Puts the variable in place of each `--flag` of a sentence that was given by its variable. */
      readonly nameSources: (sentence: string) => string;
      /** Variables that look mistyped, a sentence each. */
      readonly hints: readonly string[];
    }
  | { readonly outcome: 'print'; readonly text: string }
  | { readonly outcome: 'refuse'; readonly text: string };

/**
 * @param args without node and script
 * @param env the process's environment
 */
export function readInvocation<F extends Flags>(
  program: ProgramDescription<F>,
  version: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Invocation<F> {
  const given = new Map<string, string[]>();
  const names = new Map(Object.keys(program.flags).map((key) => [flagName(key), key]));
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: parserOptions(program.flags),
  });
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional')
      return refuse(program, `${position(token.index)} is no flag; every value follows its --flag`);
    if (token.name === 'help' || token.name === 'h') return { outcome: 'print', text: helpText(program) };
    const key = names.get(token.name);
    // A program may have a flag of that name (`--version V`): without a value it still prints.
    if (token.name === 'version' && (key === undefined || token.value === undefined)) {
      return { outcome: 'print', text: `${program.name} ${version}\n` };
    }
    // The parser takes a flag that follows for the value.
    if (
      !token.inlineValue &&
      names.has(token.value?.replace(/^--/, '') ?? '') &&
      token.value?.startsWith('--')
    )
      return refuse(program, `${token.rawName} needs a value`);
    if (key === undefined) return refuse(program, unknownFlag(token, [...names.keys(), 'help', 'version']));
    const isSwitch = program.flags[key]?.placeholder === undefined;
    if (token.value === undefined && !isSwitch) return refuse(program, `${token.rawName} needs a value`);
    given.set(key, [...(given.get(key) ?? []), token.value ?? 'true']);
  }
  return readValues(program, given, env);
}

function parserOptions(flags: Flags): Record<string, { type: 'string' | 'boolean'; multiple: true }> {
  return Object.fromEntries(
    Object.entries(flags).map(([key, flag]) => [
      flagName(key),
      { type: flag.placeholder === undefined ? 'boolean' : 'string', multiple: true },
    ]),
  );
}

function readValues<F extends Flags>(
  program: ProgramDescription<F>,
  given: ReadonlyMap<string, readonly string[]>,
  env: Readonly<Record<string, string | undefined>>,
): Invocation<F> {
  const values: Record<string, unknown> = {};
  for (const [key, flag] of Object.entries(program.flags)) {
    const variable = variableName(program.name, key);
    const fromEnv = env[variable];
    const texts = given.get(key) ?? (fromEnv === undefined || fromEnv === '' ? undefined : [fromEnv]);
    const source = given.has(key) ? `--${flagName(key)}` : variable;
    if (texts === undefined && flag.isRequired) {
      return refuse(program, `--${flagName(key)} (or ${variable}) is required: ${flag.describe}`);
    }
    const effective = texts ?? (flag.defaultText === undefined ? undefined : [flag.defaultText]);
    try {
      values[key] = effective === undefined ? undefined : flag.parse(effective);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      return refuse(program, `${source} ${error.message}`);
    }
  }
  const wrong = program.check?.(values as FlagValues<F>);
  const nameSources = sourceNames(program, given, env);
  return wrong === undefined
    ? { outcome: 'run', values: values as FlagValues<F>, nameSources, hints: mistyped(program, env) }
    : refuse(program, nameSources(wrong));
}

/** Whoever set a variable looks for the variable, not for a flag that was never given. */
function sourceNames<F extends Flags>(
  program: ProgramDescription<F>,
  given: ReadonlyMap<string, readonly string[]>,
  env: Readonly<Record<string, string | undefined>>,
): (sentence: string) => string {
  const variables = new Map<string, string>();
  for (const key of Object.keys(program.flags)) {
    const variable = variableName(program.name, key);
    if (!given.has(key) && (env[variable] ?? '') !== '') variables.set(`--${flagName(key)}`, variable);
  }
  return (sentence) => sentence.replace(/--[a-z][a-z-]*[a-z]/g, (flag) => variables.get(flag) ?? flag);
}

/** Only what is nearly a variable of ours: a cluster sets others of the same beginning (`…_SERVICE_HOST`). */
function mistyped<F extends Flags>(
  program: ProgramDescription<F>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const variables = Object.keys(program.flags).map((key) => variableName(program.name, key));
  const beginning = variableName(program.name, '');
  return Object.keys(env)
    .filter((name) => name.startsWith(beginning) && !variables.includes(name))
    .flatMap((name) => {
      const meant = variables.find((variable) => editDistance(name, variable) <= 2);
      return meant === undefined ? [] : [`${name} is no variable of this program; did you mean ${meant}?`];
    });
}

function refuse<F extends Flags>(program: ProgramDescription<F>, reason: string): Invocation<F> {
  return {
    outcome: 'refuse',
    text: `${program.name}: ${reason}\nRun "${program.name} --help" for all flags.\n`,
  };
}

/** By place and not by text: what was meant for a flag may be a link or a key. */
function position(index: number): string {
  return `argument ${index + 1}`;
}

interface GivenFlag {
  readonly rawName: string;
  readonly index: number;
}

function unknownFlag({ rawName, index }: GivenFlag, names: readonly string[]): string {
  if (!/^--?[A-Za-z][A-Za-z-]{0,40}$/.test(rawName)) return `${position(index)} is no flag`;
  const wanted = rawName.replace(/^-+/, '');
  const nearest = names
    .map((name) => ({ name, distance: editDistance(wanted, name) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const hint = nearest !== undefined && nearest.distance <= Math.max(3, wanted.length / 2);
  return `unknown flag ${rawName}${hint ? `; did you mean --${nearest.name}?` : ''}`;
}

/** Levenshtein, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
