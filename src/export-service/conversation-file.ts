// The NDJSON file of conversations: one JSON object a line, of the contract's shape plus an optional projectId. Refuses
// the whole file for one bad line. The error names the line and its fault, never its content.

import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { conversationSchema } from '../export-api/contract.ts';
import { readLines } from '../runtime/lines.ts';
import { PublishableError, publishableCode } from '../wire/publishable-error.ts';
import type { StoredConversation } from './store/conversations.ts';

const lineSchema = conversationSchema.extend({ projectId: z.string().min(1).max(200).optional() });

/** A line is parsed in one go, and no request is answered meanwhile. */
const maxLineBytes = 256 * 1024;

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
  for await (const line of readFileLines(path)) {
    lineNumber += 1;
    if (line.trim() !== '') yield readLine(line, lineNumber, defaultProject);
  }
}

async function* readFileLines(path: string): AsyncGenerator<string> {
  const input = createReadStream(path);
  try {
    yield* readLines(withLastNewline(input), maxLineBytes, (line) =>
      invalid(line, `is longer than ${maxLineBytes} bytes`),
    );
  } catch (cause) {
    if (cause instanceof ConversationFileError) throw cause;
    const code = publishableCode(cause);
    throw new ConversationFileError(code, `cannot read the conversations file (${code})`, { cause });
  } finally {
    input.destroy();
  }
}

async function* withLastNewline(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
  yield Buffer.from('\n');
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
