// Which pipeline runs the command, and what it can read: outputs by name. Pure. Refuses: a link or a key, because only
// the named fields become outputs. Invariant: an output is one text without hidden characters.

import { printable } from '#platform/wire/printable-text.ts';

export const pipelineChoices = ['auto', 'github', 'gitlab', 'none'] as const;
export type PipelineChoice = (typeof pipelineChoices)[number];
export type Pipeline = Exclude<PipelineChoice, 'auto'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** By the variables that both products document for this. */
export function detectPipeline(choice: PipelineChoice, env: Environment): Pipeline {
  if (choice !== 'auto') return choice;
  if (env['GITHUB_ACTIONS'] === 'true') return 'github';
  return env['GITLAB_CI'] === 'true' ? 'gitlab' : 'none';
}

export const outputNames = ['version', 'digest', 'pages', 'changed', 'path', 'exitCode'] as const;
export type OutputName = (typeof outputNames)[number];
/** In the order of `outputNames`. */
export type Outputs = ReadonlyMap<OutputName, string>;

/** @param fields of the command's document, or what was known when it failed */
export function outputsOf(fields: Readonly<Record<string, unknown>>, exitCode: number): Outputs {
  const { paths } = fields;
  const path = Array.isArray(paths) && paths.length === 1 ? paths[0] : fields['path'];
  const all: Readonly<Record<string, unknown>> = { ...fields, path, exitCode };
  return new Map(
    outputNames.flatMap((name) => {
      const value = all[name];
      const isText = ['string', 'number', 'boolean'].includes(typeof value);
      return isText ? [[name, printable(String(value))]] : [];
    }),
  );
}
