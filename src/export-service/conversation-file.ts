// The NDJSON file of conversations: one JSON object a line, of the contract's shape plus an optional projectId. Refuses
// the whole file for one bad line. The error names the line and its fault, never its content.

import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { conversationSchema } from '../export-api/contract.ts';
import { PublishableError, publishableCode } from '../wire/publishable-error.ts';
import type { StoredConversation } from './store/conversations.ts';

const lineSchema = conversationSchema.extend({ projectId: z.string().min(1).max(200).optional() });

export class ConversationFileError extends PublishableError {}

/**
 * The rows as they are read; a bad line ends them with its error.
 * @param defaultProject the project of rows that name none
 * @throws {ConversationFileError}
 */
export async function* readConversationFile(
  path: string,
  defaultProject: string,
): AsyncGenerator<StoredConversation> {
  let lineNumber = 0;
  for await (const line of readLines(path)) {
    lineNumber += 1;
    if (line.trim() !== '') yield readLine(line, lineNumber, defaultProject);
  }
}

async function* readLines(path: string): AsyncGenerator<string> {
  const input = createReadStream(path);
  try {
    yield* splitLines(input);
  } catch (cause) {
    if (cause instanceof ConversationFileError) throw cause;
    const code = publishableCode(cause);
    throw new ConversationFileError(code, `cannot read the conversations file (${code})`, { cause });
  } finally {
    input.destroy();
  }
}

/** A line is read in one go; the program answers no request meanwhile. */
const maxLineBytes = 256 * 1024;
const newline = 0x0a;

/** Never holds more than a line and a chunk. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let lineNumber = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const hold = (piece: Uint8Array): void => {
    held.push(piece);
    heldBytes += piece.byteLength;
    refuseLong(heldBytes, lineNumber);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      yield Buffer.concat(held).toString();
      [held, heldBytes] = [[], 0];
      lineNumber += 1;
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
  yield Buffer.concat(held).toString();
}

function refuseLong(lineBytes: number, lineNumber: number): void {
  if (lineBytes > maxLineBytes) throw invalid(lineNumber, `is longer than ${maxLineBytes} bytes`);
}

function invalid(lineNumber: number, what: string): ConversationFileError {
  return new ConversationFileError(
    'ConversationsInvalid',
    `line ${lineNumber} of the conversations file ${what}: correct it, or remove the line`,
  );
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
