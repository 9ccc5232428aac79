// A command of the program: its words, flags and help, which are cheap to load, and its work, which is loaded when the
// command runs. Refuses: loading anything of a command for the help of another.

import { basename } from 'node:path';
import type { Configured } from '#platform/runtime/flags/configured.ts';
import { oneOf, path, text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import {
  type Argument,
  type Flags,
  type FlagValues,
  type Invocation,
  type ProgramDescription,
  readInvocation,
} from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import type { CliContext, CommandResult, DocumentShapes, ResultOf } from './context.ts';
import { pipelineChoices } from './output/pipeline.ts';
import { documentFormats, type OutputFormat } from './output-format.ts';

export const programName = 'static-export';

/** @returns as its user calls it; kubectl finds it as a plugin by the name of its file */
export function calledName(file: string): string {
  return basename(file) === 'kubectl-static_export' ? `kubectl ${programName}` : programName;
}

/** Flags that every command has. */
const commonFlags = (formats: readonly OutputFormat[]) => ({
  output: {
    ...oneOf(formats).withDefault('text', 'Format of the result on standard output'),
    short: 'o',
  },
  ci: oneOf(pipelineChoices).withDefault(
    'auto',
    'The pipeline that runs the command: annotations, sections and outputs as it reads them',
  ),
  resultsDir: path.optional('Folder that gets one file for each output: version, digest, pages, ...'),
  profile: text.optional('Profile of ~/.config/static-export/config.yaml (default: its currentProfile)'),
  quiet: { ...toggle('Print no progress on standard error'), short: 'q' },
});

export interface CommandDefinition<F extends Flags, D extends DocumentShapes> {
  /** The words after the program's name: `bundle inspect`. */
  readonly words: string;
  readonly summary: string;
  readonly arguments?: readonly Argument[];
  readonly flags: F;
  /** Of `--output`; absent: text and documents. */
  readonly formats?: readonly OutputFormat[];
  /** As for a program: the error in a combination of flags. */
  check?(values: FlagValues<F>): string | undefined;
  /** Without the program's name. */
  readonly examples: readonly string[];
  /** Loads the work. */
  readonly run: () => Promise<CommandWork<F, NoInfer<D>>>;
  /** Loads the published documents. The program never does, because its start would pay for zod. */
  readonly documents: () => Promise<D>;
}

export type CommandWork<F extends Flags, D extends DocumentShapes> = (
  values: FlagValues<F>,
  args: readonly string[],
  context: CliContext,
) => Promise<ResultOf<D>>;

type ReadLine = Invocation<ReturnType<typeof commonFlags>>;

export type CommandLine =
  | Exclude<ReadLine, { outcome: 'run' }>
  | (Extract<ReadLine, { outcome: 'run' }> & {
      /** Does the command's work. */
      readonly run: (context: CliContext) => Promise<CommandResult>;
    });

export interface Command {
  readonly words: string;
  readonly summary: string;
  readonly description: ProgramDescription<Flags>;
  readonly documents: () => Promise<DocumentShapes>;
  /**
   * @param args after the command's words
   * @param called how texts name the program
   */
  read(
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    configured?: Configured,
    called?: string,
  ): CommandLine;
}

/** Commands that `--help` shows under one title. */
export interface CommandSection {
  readonly title: string;
  readonly commands: readonly Command[];
}

export function defineCommand<F extends Flags, D extends DocumentShapes>(
  definition: CommandDefinition<F, D>,
): Command {
  const { words, summary, flags, examples, check, documents } = definition;
  const describe = (called: string): ProgramDescription<F & ReturnType<typeof commonFlags>> => ({
    name: `${called} ${words}`,
    variablePrefix: programName,
    summary,
    flags: { ...flags, ...commonFlags(definition.formats ?? documentFormats) },
    arguments: definition.arguments ?? [],
    examples: examples.map((example) => `${called} ${example}`),
    ...(check && { check: (values) => check(values) }),
  });
  return {
    words,
    summary,
    description: describe(programName),
    documents,
    read: (args, env, configured, called = programName) => {
      const invocation = readInvocation(describe(called), version, args, env, configured);
      if (invocation.outcome !== 'run') return invocation;
      const run = async (context: CliContext): Promise<CommandResult> =>
        (await definition.run())(invocation.values, invocation.args, context);
      return { ...invocation, run };
    },
  };
}
