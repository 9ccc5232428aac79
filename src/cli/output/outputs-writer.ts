// Hands the outputs of a command to the pipeline: one file for each in the results folder, which Tekton and Argo
// Workflows read, a dotenv report, and GitHub's two files. Refuses: replacing a file of the folder that no run wrote.
// Invariant: a result file is whole; none of an earlier run is left when the command begins.

import { access, appendFile, constants, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Random } from '#platform/runtime/random.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { notWritten, writeWhole } from './destination.ts';
import { outputEntries, type ShownFailure, summaryText } from './github-workflow.ts';
import { dotenvText, isDotenvText } from './gitlab-log.ts';
import { type Outputs, outputNames, type Pipeline } from './pipeline.ts';

/** Also the mark of an earlier run: it is written first and removed last. */
const dotenvFile = 'results.env';

export interface OutputsPlan {
  /** As people type it. */
  readonly command: string;
  readonly pipeline: Pipeline;
  readonly resultsDir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly random: Pick<Random, 'uuid'>;
}

/** @throws {CliError} `ResultsFolderRefused` */
export async function prepareResults({ resultsDir }: Pick<OutputsPlan, 'resultsDir'>): Promise<void> {
  if (resultsDir === undefined) return;
  try {
    await mkdir(resultsDir, { recursive: true });
    await access(resultsDir, constants.W_OK);
    await removeEarlier(resultsDir);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const cause = await causeOf(resultsDir, error);
    const message = `--results-dir cannot be written (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('usage', 'ResultsFolderRefused', message, { cause });
  }
}

/** For a folder that cannot be made, Node may say that its parent is missing. What exists above it says why. */
async function causeOf(folder: string, error: unknown): Promise<unknown> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK);
      return error;
    } catch (cause) {
      if (publishableCode(cause) !== 'ENOENT' || dirname(path) === path) return cause;
    }
  }
}

/** Other files of the folder stay: Tekton's has the results of other steps. */
async function removeEarlier(folder: string): Promise<void> {
  const inFolder = new Set(await readdir(folder));
  const found = [...outputNames, dotenvFile].filter((name) => inFolder.has(name));
  const [first] = found;
  if (first === undefined) return;
  if (!inFolder.has(dotenvFile) || !isDotenvText(await readFile(join(folder, dotenvFile), 'utf8'))) {
    const message = `--results-dir has a file ${first} that is not of an earlier run; name another folder, or move it away`;
    throw new CliError('usage', 'ResultsFolderRefused', message);
  }
  for (const name of found) await rm(join(folder, name), { force: true });
}

/**
 * @param failure `undefined` where the command succeeded
 * @returns warnings, a sentence each
 * @throws {CliError} `DestinationNotWritten`
 */
export async function writeStepOutputs(
  outputs: Outputs,
  failure: ShownFailure | undefined,
  { command, pipeline, resultsDir, env, random }: OutputsPlan,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  if (resultsDir !== undefined) {
    const { text, leftOut } = dotenvText(outputs);
    const write = (name: string, content: string): Promise<void> =>
      writeWhole(join(resultsDir, name), content, undefined).catch((error: unknown) => {
        throw notWritten('--results-dir', error);
      });
    await write(dotenvFile, text);
    for (const [name, value] of outputs) await write(name, value);
    for (const name of leftOut)
      warnings.push(`${name} is not in ${dotenvFile}: a report cannot hold its value`);
  }
  if (pipeline === 'github') {
    const append = async (variable: string, text: string): Promise<void> => {
      const file = env[variable];
      if (file === undefined || file === '') return;
      await appendFile(file, text).catch((error: unknown) => {
        throw notWritten(`the file of ${variable}`, error);
      });
    };
    const delimiter = `static-export-${random.uuid()}`;
    await append('GITHUB_OUTPUT', outputEntries(outputs, delimiter));
    const isWorthShowing = failure !== undefined || outputs.has('digest');
    if (isWorthShowing) await append('GITHUB_STEP_SUMMARY', summaryText(command, outputs, failure));
  }
  return warnings;
}
