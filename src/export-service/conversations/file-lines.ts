// The NDJSON file of conversations: one JSON object a line, of the contract's shape plus an optional projectId. Refuses
// all that is read for one bad line. The error names the line and its fault, never its content. Only the thread that
// indexes conversations loads this file.

import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { conversationSchema } from '#export-api/contract.ts';
import { readLines } from '#platform/runtime/lines.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { StoredConversation } from './cursor.ts';

const lineSchema = conversationSchema.extend({ projectId: z.string().min(1).max(200).optional() });

/** Longer lines would make one row larger than a quarter of a page, and a reader would hold it whole. */
const maxLineBytes = 256 * 1024;

export interface ReadingOptions {
  /** The project of rows that name none. */
  readonly defaultProject: string;
  /** A last line that has no newline and is not JSON is still being written, and is left out. */
  readonly mayGrow: boolean;
}

/** The rows as they are read; a bad line ends them with its error. The last line needs no newline. */
export async function* readConversations(
  file: FileHandle,
  { defaultProject, mayGrow }: ReadingOptions,
): AsyncGenerator<StoredConversation> {
  let isInLastLine = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* file.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 });
    isInLastLine = true;
    yield Buffer.from('\n');
  }
  const tooLong = (line: number): Error => invalid(line, `is longer than ${maxLineBytes} bytes`);
  let lines = 0;
  try {
    for await (const line of readLines(chunks(), maxLineBytes, tooLong)) {
      lines += 1;
      if (isInLastLine && mayGrow && !isJson(line)) return;
      if (line.trim() !== '') yield readLine(line, lines, defaultProject);
    }
  } catch (cause) {
    throw cause instanceof PublishableError ? cause : unreadable(cause);
  }
}

/** @returns the error for a file that cannot be opened or read */
export function unreadable(cause: unknown): PublishableError {
  const code = publishableCode(cause);
  return new PublishableError(code, `cannot read the conversations file (${code})`, { cause });
}

function invalid(lineNumber: number, what: string): PublishableError {
  return new PublishableError(
    'ConversationsInvalid',
    `line ${lineNumber} of the conversations file ${what}: correct it, or remove the line`,
  );
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** @param lineNumber from 1. @throws {PublishableError} `ConversationsInvalid` */
function readLine(line: string, lineNumber: number, defaultProject: string): StoredConversation {
  const refuse = (what: string): PublishableError => invalid(lineNumber, what);
  let json: unknown;
  try {
    json = JSON.parse(line.replace(/^\uFEFF/, ''));
  } catch {
    throw refuse('is not JSON');
  }
  const parsed = lineSchema.safeParse(json);
  if (!parsed.success) {
    const fields = new Set(parsed.error.issues.map((issue) => String(issue.path[0] ?? 'the object')));
    throw refuse(`does not fit the contract in ${[...fields].join(', ')}`);
  }
  const { projectId, ...document } = parsed.data;
  const at = Date.parse(document.timestamp);
  if (!(at >= 0)) throw refuse('has a timestamp before 1970');
  return { project: projectId ?? defaultProject, at, document };
}
