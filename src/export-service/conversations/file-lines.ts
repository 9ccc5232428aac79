// The NDJSON file of conversations: one JSON object a line, of the contract's shape plus an optional projectId. Refuses
// all that is read for one bad line. The error names the line and its fault, never its content. Only the thread that
// indexes conversations loads this file.

import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { conversationSchema } from '../../export-api/contract.ts';
import { readLines } from '../../runtime/lines.ts';
import { PublishableError, publishableCode } from '../../wire/publishable-error.ts';
import type { StoredConversation } from './cursor.ts';

const lineSchema = conversationSchema.extend({ projectId: z.string().min(1).max(200).optional() });

/** Longer lines would make one row larger than a quarter of a page, and a reader would hold it whole. */
const maxLineBytes = 256 * 1024;

export class ConversationFileError extends PublishableError {}

/** How much of a file was read: whole lines only. */
export interface ReadPosition {
  readonly bytes: number;
  readonly lines: number;
}

export interface FileReading {
  /** The rows as they are read; a bad line ends them with its error. To be iterated once. */
  readonly rows: AsyncIterable<StoredConversation>;
  /** After the last newline. A last line without newline is read again next time. */
  readonly position: () => ReadPosition;
}

/**
 * @param from reads what follows it. `undefined`: the whole file, whose last line needs no newline. In what follows, a
 *   last line that has none and is not JSON is still being written, and is left for the next time.
 * @param defaultProject the project of rows that name none
 */
export function readConversations(
  file: FileHandle,
  from: ReadPosition | undefined,
  defaultProject: string,
): FileReading {
  const start = from ?? { bytes: 0, lines: 0 };
  const before = start.lines;
  let position = start;
  const input = countNewlines(file, start.bytes);
  const tooLong = (line: number): Error => invalid(before + line, `is longer than ${maxLineBytes} bytes`);
  async function* rows(): AsyncGenerator<StoredConversation> {
    let lines = before;
    try {
      for await (const line of readLines(input.chunks, maxLineBytes, tooLong)) {
        lines += 1;
        const isComplete = !input.isInLastLine();
        if (!isComplete && from !== undefined && !isJson(line)) return;
        if (isComplete) position = { bytes: input.linesEnd(), lines };
        if (line.trim() !== '') yield readLine(line, lines, defaultProject);
      }
    } catch (cause) {
      throw cause instanceof ConversationFileError ? cause : unreadable(cause);
    }
  }
  return { rows: rows(), position: () => position };
}

/** The bytes from `start` on, the last line ended by a newline, and where the newlines were. */
function countNewlines(file: FileHandle, start: number) {
  let read = start;
  let linesEnd = start;
  let isInLastLine = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const stream = file.createReadStream({ start, autoClose: false, highWaterMark: 256 * 1024 });
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      const last = bytes.lastIndexOf(0x0a);
      if (last >= 0) linesEnd = read + last + 1;
      read += bytes.length;
      yield bytes;
    }
    if (read === linesEnd) return;
    isInLastLine = true;
    yield Buffer.from('\n');
  }
  return { chunks: chunks(), linesEnd: () => linesEnd, isInLastLine: () => isInLastLine };
}

/** @returns the error for a file that cannot be opened or read */
export function unreadable(cause: unknown): ConversationFileError {
  const code = publishableCode(cause);
  return new ConversationFileError(code, `cannot read the conversations file (${code})`, { cause });
}

function invalid(lineNumber: number, what: string): ConversationFileError {
  return new ConversationFileError(
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

/** @param lineNumber from 1. @throws {ConversationFileError} `ConversationsInvalid` */
export function readLine(line: string, lineNumber: number, defaultProject: string): StoredConversation {
  const refuse = (what: string): ConversationFileError => invalid(lineNumber, what);
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
