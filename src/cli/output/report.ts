// How a command reports to a person and to a pipeline: progress, result or failure, and outputs. Refuses: standard output
// for anything but the result.

import type { Clock } from '#platform/runtime/clock.ts';
import type { CommandFailure } from '../cli-error.ts';
import type { CommandResult } from '../context.ts';
import { exitCodes } from '../exit-code.ts';
import type { OutputFormat } from '../output-format.ts';
import { findingsOf, findingsText } from './findings.ts';
import { formatFailure, formatResult } from './format.ts';
import { annotation } from './github-workflow.ts';
import { type OutputsPlan, prepareResults, writeStepOutputs } from './outputs-writer.ts';
import type { Screen } from './paint.ts';
import { detectPipeline, outputsOf } from './pipeline.ts';
import { createProgress, type Progress, type ProgressStream, silentProgress } from './progress.ts';
import { screenOf } from './screen.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

export interface ReportPlan extends OutputsPlan {
  readonly format: OutputFormat;
  readonly quiet: boolean;
  readonly stdout: Pick<ProgressStream, 'isTTY' | 'columns'>;
  readonly stderr: ProgressStream;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Which streams get colours. */
  readonly colours: { readonly stdout: boolean; readonly stderr: boolean };
}

/** What to write, and how to exit. */
export interface FinalText {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface Report {
  readonly progress: Progress;
  /** Of standard output, now. */
  screen(): Screen;
  /** Before the command's work. @throws {CliError} `ResultsFolderRefused` */
  prepare(): Promise<void>;
  /** @throws {CliError} `DestinationNotWritten` where an output could not be written */
  ofResult(result: CommandResult): Promise<FinalText>;
  ofFailure(failure: CommandFailure): Promise<FinalText>;
}

export function createReport(plan: ReportPlan): Report {
  const { command, format, pipeline, quiet, stderr, clock, colours } = plan;
  const screen = (): Screen => screenOf(plan.stdout, colours.stdout, clock.now());
  // A log is read later, when "in 12 min" is wrong.
  const errorTime = (): number => (stderr.isTTY === true ? clock.now() : Number.NaN);
  const warningText = (texts: readonly string[]): string =>
    texts.map((text) => warningLine(plan, text)).join('');
  // A folder that was refused gets no results of the failure.
  let outputsPlan: OutputsPlan = { ...plan, resultsDir: undefined };
  return {
    progress: quiet ? silentProgress : createProgress(stderr, clock, pipeline, colours.stderr),
    screen,
    prepare: async () => {
      await prepareResults(plan);
      outputsPlan = plan;
    },
    ofResult: async (result) => {
      const exitCode = result.exitCode ?? exitCodes[result.outcome];
      const findings = findingsOf(result);
      const errors = findings.filter(({ level }) => level === 'error');
      const [first] = errors;
      const failure = first && { code: first.code, lines: errors.flatMap(({ lines }) => lines) };
      const warnings = await writeStepOutputs(outputsOf(result.fields, exitCode), failure, outputsPlan);
      const stdout = await formatResult(result, format, screen());
      const stderr = findingsText(command, findings, pipeline) + warningText(warnings);
      return { stdout, stderr, exitCode };
    },
    ofFailure: async (failure) => {
      const exitCode = exitCodes[failure.outcome];
      const outputs = outputsOf({ version: failure.version, ...failure.known }, exitCode);
      // The failure that ended the command keeps its exit code; this one comes second.
      const shortly = { code: failure.code, lines: [failure.message, ...failure.next] };
      const warnings = await writeStepOutputs(outputs, shortly, outputsPlan).catch((error: unknown) => [
        error instanceof Error ? error.message : '',
      ]);
      const { stdout, stderr } = await formatFailure(
        command,
        failure,
        format,
        screenOf(plan.stderr, colours.stderr, errorTime()),
      );
      const lines = [`${failure.message} (${failure.code})`, ...failure.next];
      const shown = pipeline === 'github' ? `${annotation('error', command, lines)}\n` : stderr;
      // Outputs that could not be written may be the failure itself.
      const others = warnings.filter((text) => text !== failure.message);
      return { stdout, stderr: shown + warningText(others), exitCode };
    },
  };
}

/** A warning about the command line or the outputs, as the pipeline shows warnings. */
export function warningLine(
  { command, pipeline }: Pick<OutputsPlan, 'command' | 'pipeline'>,
  text: string,
): string {
  return pipeline === 'github'
    ? `${annotation('warning', command, [text])}\n`
    : `${command}: ${withoutWorkflowCommand(text)}\n`;
}

/** Wrong usage. The flags could not be read, so the environment alone says which pipeline runs the command. */
export function usageText(
  command: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (detectPipeline('auto', env) !== 'github')
    return text.split('\n').map(withoutWorkflowCommand).join('\n');
  const [first = '', ...rest] = text.split('\n');
  const reason = first.startsWith(`${command}: `) ? first.slice(command.length + 2) : first;
  return [annotation('error', command, [reason]), ...rest.map(withoutWorkflowCommand)].join('\n');
}
