// The frame around every command: finds it, reads its flags, runs it, prints its result, and sets the exit code. The
// process comes in as a value. Owns the two signals: the first ends a command in order, the second at once.

import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import type { Configured } from '#platform/runtime/flags/configured.ts';
import { variableName } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError, failureOf } from './cli-error.ts';
import { type CommandSection, calledName, programName } from './command.ts';
import { readConfiguration } from './config/configuration.ts';
import type { CliContext } from './context.ts';
import { exitCodes, type Outcome } from './exit-code.ts';
import { findCommand } from './find-command.ts';
import { formatFailure } from './output/format.ts';
import { hasColours } from './output/paint.ts';
import { detectPipeline } from './output/pipeline.ts';
import type { FinalText } from './output/report.ts';
import { askedFormat, usageFailure } from './output/usage-failure.ts';
import { withoutWorkflowCommand } from './output/workflow-text.ts';

/** What `bin` composes: the programs of worker threads, and servers. */
export type CliParts = Pick<
  CliContext,
  | 'bundleWorker'
  | 'listingWorker'
  | 'siteWorker'
  | 'valuesWorker'
  | 'mirrorWorker'
  | 'gitWorker'
  | 'demoWorker'
  | 'serve'
>;

/** What a command uses of its process. A test plays it, and so runs a command without another process. */
export interface CliProcess extends Pick<EventEmitter, 'on' | 'emit'> {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  exitCode?: number | string | null | undefined;
  cwd(): string;
  /** Absent where the system has no numbers of users. */
  getuid?(): number;
  exit(code: number): void;
}

/** The word with which scripts of shells, and of kubectl, ask what may follow. Not for people, and in no help. */
const completionWord = 'complete';

const startOfCommand = new RegExp(`^${programName}(?= )`);

/** Runs the command that the arguments name, and sets the exit code. Never throws. */
export async function runCli(
  process: CliProcess,
  sections: readonly CommandSection[],
  parts: CliParts,
  clock: Clock = systemClock,
): Promise<void> {
  // A reader that has enough, such as `head`, changes nothing of the answer; a full disk loses it.
  let answer: number = exitCodes.bug;
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? answer : exitCodes.notWritten),
  );
  process.stderr.on('error', () => {});
  const commands = sections.flatMap((section) => section.commands);
  const called = calledName(process.argv[1] ?? '');
  const argv = process.argv.slice(2);
  const print = (text: string): void => {
    answer = exitCodes.done;
    process.exitCode = answer;
    process.stdout.write(text);
  };
  const refuse = async (
    command: string,
    text: string,
    reason: string,
    code?: string,
    isGroup?: boolean,
  ): Promise<void> => {
    const failure = { ...usageFailure(command, reason, isGroup), ...(code !== undefined && { code }) };
    const format = askedFormat(argv, process.env[variableName(programName, 'output')]);
    const { stdout } = await formatFailure(command, failure, format);
    answer = exitCodes[failure.outcome];
    process.exitCode = answer;
    const { usageText } = await import('./output/report.ts');
    const { prose, renderBlocks, screenOf } = await import('./output/screen.ts');
    const lines = usageText(command, text, process.env).split('\n');
    const screen = screenOf(process.stderr, false, clock.now());
    process.stderr.write(
      renderBlocks(
        lines.map((line) => (line === '' ? line : prose(line, '', '  '))),
        screen,
      ).join('\n'),
    );
    process.stdout.write(stdout);
  };
  const [word, ...typed] = argv;
  if (word === completionWord) {
    const { answerShell } = await import('./completion/answer.ts');
    const { env } = process;
    const context = { clock, env, cwd: process.cwd(), userId: process.getuid?.() };
    const offer = await answerShell(typed, commands, context);
    process.stdout.write(offer, () => process.exit(exitCodes.done));
    return;
  }
  const found = findCommand(argv, sections, version, called);
  if (found.kind === 'print') return print(found.text);
  if (found.kind === 'refuse') return refuse(found.command, found.text, found.reason, undefined, true);
  const { command, args } = found;
  const name = `${called} ${command.words}`;
  const warnings: string[] = [];
  let configured: Configured;
  try {
    const userId = process.getuid?.();
    configured = await readConfiguration(command, args, commands, {
      cwd: process.cwd(),
      env: process.env,
      userId,
      warn: (text) => void warnings.push(text),
    });
  } catch (error) {
    const { message, code } = failureOf(error);
    return refuse(name, `${name}: ${message} (${code})\n`, message, code);
  }
  const line = command.read(args, process.env, configured, called);
  if (line.outcome === 'print') return print(line.text);
  if (line.outcome === 'refuse') return refuse(name, line.text, line.reason);
  // Only what runs needs these: help stays cheap.
  const { systemRandom } = await import('#platform/runtime/random.ts');
  const { createReport, warningLine } = await import('./output/report.ts');
  const { renderBlocks } = await import('./output/screen.ts');
  const { quiet, output: format, ci, resultsDir } = line.values;
  const plan = {
    command: name,
    pipeline: detectPipeline(ci, process.env),
    resultsDir,
    env: process.env,
    random: systemRandom,
    clock,
    stdout: process.stdout,
    stderr: process.stderr,
    colours: { stdout: hasColours(process.stdout), stderr: hasColours(process.stderr) },
    format,
    quiet,
  };
  for (const hint of [...warnings, ...line.hints]) process.stderr.write(warningLine(plan, hint));
  const report = createReport(plan);
  const finish = async ({ stdout, stderr, exitCode }: FinalText): Promise<void> => {
    report.progress.end();
    answer = exitCode;
    process.stderr.write(stderr);
    // A pipe that is not flushed would lose the end of the document.
    await new Promise<void>((resolve) => void process.stdout.write(stdout, () => resolve()));
    process.exit(exitCode);
  };
  const fail = async (error: unknown): Promise<void> => {
    const failure = failureOf(error);
    const next = failure.next.map((step) => step.replace(startOfCommand, called));
    await finish(await report.ofFailure({ ...failure, next }));
  };
  process.on('unhandledRejection', (error) => void fail(error));
  process.on('uncaughtException', (error) => void fail(error));
  const signal = stopSignal(process);
  try {
    await report.prepare();
    const result = await line.run({
      ...parts,
      clock,
      random: systemRandom,
      signal,
      called,
      output: format,
      env: process.env,
      progress: report.progress,
      isWatched: process.stderr.isTTY === true,
      confirm: (question) => confirmOn(process, question, signal),
      print: (block) => {
        // A reader such as `head` may close the pipe after any line.
        answer = exitCodes.done;
        const lines = renderBlocks([block], report.screen());
        process.stdout.write(lines.map((text) => `${withoutWorkflowCommand(text)}\n`).join(''));
      },
      writeOut: (text) => {
        answer = exitCodes.done;
        return new Promise((resolve) => void process.stdout.write(text, () => resolve()));
      },
      readStdin: () => {
        if (process.stdin.isTTY) report.progress.note('Reading standard input. Ctrl-D ends it.');
        return readAll(process.stdin, signal);
      },
    });
    await finish(await report.ofResult(result));
  } catch (error) {
    // Clients have an error of their own for it.
    const isStopped = signal.aborted && publishableCode(error) === 'Aborted';
    await fail(isStopped ? signal.reason : error);
  }
}

const signalOutcomes = { SIGINT: 'interrupted', SIGTERM: 'terminated' } as const satisfies Record<
  string,
  Outcome
>;

function stopSignal(process: CliProcess): AbortSignal {
  const controller = new AbortController();
  for (const [name, outcome] of Object.entries(signalOutcomes)) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCodes[outcome]);
      controller.abort(new CliError(outcome, 'Stopped', `stopped by ${name}`));
    });
  }
  // The terminal was closed. Without one, nohup lets a command go on.
  if (process.stderr.isTTY) process.on('SIGHUP', () => process.emit('SIGTERM'));
  return controller.signal;
}

async function confirmOn(
  process: CliProcess,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: stdin, output: stderr });
  // While it reads, the terminal sends a byte for Ctrl-C, and no signal.
  terminal.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    terminal.close();
  }
}

/** The longest key or manifest that anybody pipes in. */
const longestStdin = 1024 * 1024;

async function readAll(stream: Readable, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  signal.addEventListener('abort', () => stream.destroy(signal.reason));
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longestStdin)
      throw new CliError('usage', 'InputTooLong', 'standard input is longer than 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
