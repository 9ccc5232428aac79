// The frame around every program's main: flags, logger, signals, exit codes. The process comes in as a value, so that
// only `bin` uses globals. Exit 0: done or asked to stop; 1: failed; 2: wrong usage.

import { publishableMessage } from '#platform/wire/publishable-error.ts';
import { type Clock, systemClock } from './clock.ts';
import { oneOf } from './flags/flag-kinds.ts';
import { type Flags, type FlagValues, type ProgramDescription, readInvocation } from './flags/flags.ts';
import { createLogger, type Logger, logLevels } from './logger.ts';
import { type Random, systemRandom } from './random.ts';
import { version } from './version.ts';

/** What a main is given besides its flags. */
export interface ProgramContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Aborts on the first SIGTERM, SIGINT or SIGQUIT; a second one ends the process at once. */
  readonly shutdown: AbortSignal;
}

/** Where a program logs. Its standard output is for data, if it prints any. */
export type LogStream = 'stdout' | 'stderr';

function commonFlags(logTo: LogStream) {
  const stream = logTo === 'stdout' ? 'standard output' : 'standard error';
  return { logLevel: oneOf(logLevels).withDefault('info', `How much to log, as JSON lines on ${stream}`) };
}

/** Runs `main` to its end and sets the exit code. */
export async function runProgram<F extends Flags>(
  process: NodeJS.Process,
  description: ProgramDescription<F>,
  main: (values: FlagValues<F>, context: ProgramContext) => Promise<void>,
  logTo: LogStream = 'stdout',
): Promise<void> {
  const program = { ...description, flags: { ...description.flags, ...commonFlags(logTo) } };
  const invocation = readInvocation(program, version, process.argv.slice(2), process.env);
  if (invocation.outcome !== 'run') {
    (invocation.outcome === 'print' ? process.stdout : process.stderr).write(invocation.text);
    process.exitCode = invocation.outcome === 'print' ? 0 : 2;
    return;
  }
  const all: Readonly<Record<string, unknown>> = invocation.values;
  const level = logLevels.find((one) => one === all['logLevel']) ?? 'info';
  const logger = createLogger(level, (line) => process[logTo].write(line));
  const fail = (error: unknown): void => {
    const words = invocation.nameSources(publishableMessage(error));
    logger.error({ error }, `${program.name} ends: ${words}`);
    process.exit(1);
  };
  for (const hint of invocation.hints) logger.warn({}, hint);
  process.on('unhandledRejection', fail);
  process.on('uncaughtException', fail);
  const shutdown = shutdownSignal(process, logger);
  try {
    await main(invocation.values, { clock: systemClock, random: systemRandom, logger, shutdown });
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

function shutdownSignal(process: NodeJS.Process, logger: Logger): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(1);
    logger.info({ signal }, 'stopping');
    controller.abort();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, stop);
  // SIGHUP means that the terminal closed. Without a terminal, other programs take it as a request to reload files.
  process.on('SIGHUP', (signal) => {
    if (process.stdout.isTTY) stop(signal);
    else logger.info({ signal }, 'SIGHUP has no effect; mounted files are read again when they change');
  });
  return controller.signal;
}
