// Writes JSON lines to where the program says. Owns the two rules that keep secrets out: an error is written as code,
// publishable message and stack frames (never a foreign message), and known secret fields are censored. Invariant: no
// line holds a hidden character, escaped or not, or an unbounded text, whatever its source.

import { pino, stdTimeFunctions } from 'pino';
import { isPrintable, longestShown, printableValue } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Names under which a caller could log a secret by mistake. */
const censored = ['apiKey', 'key', 'authorization', 'bundleUrl', 'url', 'link', 'token', 'headers', 'body'];

/** @param write where each finished line goes, newline included */
export function createLogger(level: LogLevel, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: censored.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      serializers: { error: serializeError, err: serializeError },
    },
    { write: (line: string) => write(printableLine(line)) },
  );
}

/** A longer line holds an overlong value; this project's own lines are shorter. */
const longestLine = 4 * longestShown;

/** Nearly every line is fine as it is. What JSON escapes, a viewer of logs shows as what it stands for. */
function printableLine(line: string): string {
  const isFine = line.length <= longestLine && !/\\[bfnrtu]/.test(line) && isPrintable(line.slice(0, -1));
  return isFine ? line : `${JSON.stringify(printableValue(JSON.parse(line)))}\n`;
}

/**
 * An error as it may be logged: code, publishable message, causes by code. Only an unexpected error gets its frames,
 * without their message line. The message explains an expected failure, and frames would bury it.
 */
export function serializeError(error: unknown): object {
  const causes: string[] = [];
  for (let at = error instanceof Error ? error.cause : undefined; at !== undefined && causes.length < 5; ) {
    causes.push(publishableCode(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  const isForeseen = error instanceof PublishableError;
  const frames =
    error instanceof Error && !isForeseen
      ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
      : [];
  return {
    code: publishableCode(error),
    message: publishableMessage(error),
    ...(causes.length > 0 && { causes }),
    ...(frames.length > 0 && whereOf(frames)),
  };
}

/** Columns of code that was minified: its frames tell a reader nothing, and the first one finds the line with a source map. */
const minified = /:\d+:\d{3,}\)?$/;

function whereOf(frames: readonly string[]): object {
  const [first = ''] = frames;
  if (!minified.test(first)) return { stack: frames.slice(0, 8).map((line) => line.trim()) };
  return { at: first.replace(/^.*[/(\s]([^/(\s]+:\d+:\d+)\)?$/, '$1') };
}

/** Writes nothing. For tests, and for libraries without a logger. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
