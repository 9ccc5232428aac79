// A log line of this project's programs, as JSON, read and shown for a person. Pure. Refuses: text that is not printable,
// and lines that are not JSON, such as those of Node.

import * as z from 'zod';
import { printable, printableValue } from '#platform/wire/printable-text.ts';
import type { StaticExportAnswer } from './documents.ts';

const lineShape = z.looseObject({
  time: z.string(),
  level: z.string(),
  msg: z.string(),
  object: z.string(),
});

export type ProgramLogLine = StaticExportAnswer<'LogLines'>['fields']['lines'][number];

/** @returns `undefined` for a line of another form */
export function readLogLine(text: string): ProgramLogLine | undefined {
  const read = lineShape.safeParse(parseJson(text));
  if (!read.success) return undefined;
  const { time, level, msg, object, ...fields } = read.data;
  const shown = printableValue(fields);
  return {
    time: printable(time, 40),
    level: printable(level, 10),
    message: printable(msg, 1024),
    object,
    fields: typeof shown === 'object' && shown !== null ? { ...shown } : {},
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `2026-11-22T19:21:23Z WARN  refresh failed reason=ServerError count=3` */
export function formatLogLine({ time, level, message, fields }: ProgramLogLine): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${time.replace(/\.\d+Z$/, 'Z')} ${level.toUpperCase().padEnd(5)} ${message}${rest.join('')}`;
}

/** Quoted where a space or a quote would hide where it ends. */
function valueText(value: unknown): string {
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  if (isPlain || (typeof value === 'string' && /^[^\s"=]+$/.test(value))) return String(value);
  return JSON.stringify(value);
}

/** Splits a stream of bytes into lines. A line longer than 1 MiB is dropped. */
export async function* programLogLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!isTooLong) yield line;
      isTooLong = false;
    }
    if (rest.length <= longestLineChars) continue;
    rest = '';
    isTooLong = true;
  }
  if (rest !== '' && !isTooLong) yield rest;
}

const longestLineChars = 1024 * 1024;
