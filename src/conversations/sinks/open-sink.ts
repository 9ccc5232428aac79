// From the address and format of a destination to the sink behind it. Owns which formats go where, and loads a sink's code
// when it is opened. Refuses a combination without a meaning.

import { basename, dirname, resolve } from 'node:path';
import type { Bucket } from '../../s3/bucket.ts';
import { ConversationError } from '../conversation-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import { csv } from './csv.ts';
import { type LineFormat, lineFileSink, lineFolderSink, lineStreamSink, ndjson } from './line-sink.ts';
import type { WebhookTarget } from './webhook-sink.ts';

export const sinkFormats = ['ndjson', 'csv', 'parquet', 'sqlite', 'singer'] as const;
export type SinkFormat = (typeof sinkFormats)[number];

export interface SinkDependencies {
  readonly ledger: PartLedger;
  /** Resolves when standard output has taken the text. */
  readonly writeOut: (text: string) => Promise<void>;
  readonly openBucket: (name: string) => Promise<Bucket>;
  readonly openWebhook: () => Promise<Omit<WebhookTarget, 'url'>>;
  readonly signal: AbortSignal;
}

export type PlaceKind = 'stream' | 'path' | 'bucket' | 'webhook';

/** @returns `undefined` for an address of another scheme */
export function placeKind(to: string): PlaceKind | undefined {
  if (to === '-') return 'stream';
  if (/^s3:\/\/[^/]/i.test(to)) return 'bucket';
  // Turns in clear text stay on this machine.
  if (/^https:\/\/|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/]/i.test(to)) return 'webhook';
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(to) ? undefined : 'path';
}

const placesOf: Readonly<Record<SinkFormat, readonly PlaceKind[]>> = {
  ndjson: ['path', 'stream', 'bucket', 'webhook'],
  csv: ['path', 'stream', 'bucket'],
  parquet: ['path'],
  sqlite: ['path'],
  singer: ['stream'],
};
const placeNames: Readonly<Record<PlaceKind, string>> = {
  path: 'a path',
  stream: '-',
  bucket: 's3://BUCKET/PREFIX',
  webhook: 'https://…',
};

/** @returns what is wrong with the combination */
export function checkPlace(format: SinkFormat, to: string): string | undefined {
  const kind = placeKind(to);
  const places = placesOf[format];
  if (kind !== undefined && places.includes(kind)) return undefined;
  return `--format ${format} needs --to with ${places.map((place) => placeNames[place]).join(', ')}`;
}

const lineFormats: Readonly<Record<'ndjson' | 'csv', LineFormat>> = { ndjson, csv };
const fileEndings: Readonly<Record<'ndjson' | 'csv', RegExp>> = {
  ndjson: /\.(?:ndjson|jsonl)$/,
  csv: /\.csv$/,
};

/**
 * @param to a folder, a file by its ending, `-`, `s3://` or `https://`
 * @throws {ConversationError} `DestinationUnknown`
 */
export async function openSink(
  { format, to, project }: { readonly format: SinkFormat; readonly to: string; readonly project: string },
  dependencies: SinkDependencies,
): Promise<Sink> {
  const wrong = checkPlace(format, to);
  if (wrong !== undefined) throw new ConversationError('usage', 'DestinationUnknown', wrong);
  const { ledger, writeOut } = dependencies;
  const path = resolve(to);
  switch (format) {
    case 'singer':
      return (await import('./singer-sink.ts')).singerSink(project, writeOut);
    case 'sqlite':
      return (await import('./sqlite-sink.ts')).openSqliteSink(path);
    case 'parquet':
      return (await import('./parquet-sink.ts')).parquetSink(path, ledger);
    default:
      return openLineSink(format, to, dependencies);
  }
}

async function openLineSink(
  format: 'ndjson' | 'csv',
  to: string,
  { ledger, writeOut, openBucket, openWebhook, signal }: SinkDependencies,
): Promise<Sink> {
  const lines = lineFormats[format];
  switch (placeKind(to)) {
    case 'stream':
      return lineStreamSink(writeOut, lines);
    case 'bucket': {
      const { bucketSink } = await import('./bucket-sink.ts');
      const [, name = '', prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/i.exec(to) ?? [];
      return bucketSink({ bucket: await openBucket(name), prefix }, lines, ledger, signal);
    }
    case 'webhook': {
      const { webhookSink } = await import('./webhook-sink.ts');
      return webhookSink({ url: to, ...(await openWebhook()) }, signal);
    }
    default: {
      const path = resolve(to);
      return fileEndings[format].test(to)
        ? lineFileSink(dirname(path), basename(path), lines, ledger)
        : lineFolderSink(path, lines, ledger);
    }
  }
}
