// From the address and format of a destination to the sink behind it. Owns which formats go where, and loads a sink's code
// when it is opened. Refuses a combination without a meaning.

import { basename, dirname, resolve } from 'node:path';
import { ConversationError } from '../conversation-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import { csv } from './csv.ts';
import { type LineFormat, lineFileSink, lineFolderSink, lineStreamSink, ndjson } from './line-sink.ts';

export const sinkFormats = ['ndjson', 'csv'] as const;
export type SinkFormat = (typeof sinkFormats)[number];

export interface SinkDependencies {
  readonly ledger: PartLedger;
  /** Resolves when standard output has taken the text. */
  readonly writeOut: (text: string) => Promise<void>;
}

const lineFormats: Readonly<Record<'ndjson' | 'csv', LineFormat>> = { ndjson, csv };
const fileEndings: Readonly<Record<'ndjson' | 'csv', RegExp>> = {
  ndjson: /\.(?:ndjson|jsonl)$/,
  csv: /\.csv$/,
};

/** @param to a folder, a file by its ending, or `-` @throws {ConversationError} `DestinationUnknown` */
export async function openSink(
  format: SinkFormat,
  to: string,
  { ledger, writeOut }: SinkDependencies,
): Promise<Sink> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(to)) {
    const message = '--to must be a folder, a file or -';
    throw new ConversationError('usage', 'DestinationUnknown', message);
  }
  if (to === '-') return lineStreamSink(writeOut, lineFormats[format]);
  const path = resolve(to);
  return fileEndings[format].test(to)
    ? lineFileSink(dirname(path), basename(path), lineFormats[format], ledger)
    : lineFolderSink(path, lineFormats[format], ledger);
}
