// From the address and format of a destination to the sink behind it. Owns which formats go where, and loads a sink's code
// when it is opened. Refuses a combination without a meaning.

import { basename, dirname, resolve } from 'node:path';
import type { Bucket } from '#mirror/s3/bucket.ts';
import { readBucketReference } from '#mirror/s3/bucket-address.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import type { BucketPlace } from './bucket-sink.ts';
import { csv } from './csv.ts';
import { type LineFormat, lineFileSink, lineFolderSink, lineStreamSink, ndjson } from './line-sink.ts';
import type { Fields } from './singer-catalog.ts';
import type { WebhookTarget } from './webhook-sink.ts';

export const sinkFormats = ['ndjson', 'csv', 'parquet', 'sqlite', 'singer'] as const;
export type SinkFormat = (typeof sinkFormats)[number];

export interface SinkDependencies {
  readonly ledger: PartLedger;
  /** Resolves when standard output has taken the text. */
  readonly writeOut: (text: string) => Promise<void>;
  readonly openBucket: (name: string) => Promise<Bucket>;
  /** A folder of this run alone, for a partition while it is merged with what the bucket has. */
  readonly scratch: string;
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
  parquet: ['path', 'bucket'],
  sqlite: ['path'],
  singer: ['stream'],
};
const placeNames: Readonly<Record<PlaceKind, string>> = {
  path: 'a path',
  stream: '-',
  bucket: 's3://BUCKET/PREFIX',
  webhook: 'https://…',
};

/** Formats by the ending of a file's name. */
const endings: readonly (readonly [SinkFormat, RegExp])[] = [
  ['ndjson', /\.(?:ndjson|jsonl)$/i],
  ['csv', /\.csv$/i],
  ['parquet', /\.parquet$/i],
  ['sqlite', /\.(?:sqlite3?|db)$/i],
];
const formatByName = (to: string): SinkFormat | undefined =>
  endings.find(([, ending]) => ending.test(to))?.[0];

/** @returns what is wrong with the combination */
export function checkPlace(format: SinkFormat, to: string): string | undefined {
  const kind = placeKind(to);
  const places = placesOf[format];
  if (kind !== undefined && places.includes(kind)) {
    // Without its --format, turns.csv would become a folder of NDJSON.
    const named = kind === 'path' ? formatByName(to) : undefined;
    if (named === undefined || named === format) return undefined;
    return `--to has the ending of ${named}, and --format is ${format}; add --format ${named}, or name a path with another ending`;
  }
  return `--format ${format} needs --to with ${places.map((place) => placeNames[place]).join(', ')}`;
}

const lineFormats: Readonly<Record<'ndjson' | 'csv', LineFormat>> = { ndjson, csv };

export interface SinkDestination {
  readonly format: SinkFormat;
  /** A folder, a file by its ending, `-`, `s3://` or `https://`. */
  readonly to: string;
  readonly project: string;
  /** Of Singer: those that the catalog selects. */
  readonly fields?: Fields | undefined;
}

/**
 * @throws {PublishableError} `DestinationUnknown`
 */
export async function openSink(
  { format, to, project, fields }: SinkDestination,
  dependencies: SinkDependencies,
): Promise<Sink> {
  const wrong = checkPlace(format, to);
  if (wrong !== undefined) throw new PublishableError('DestinationUnknown', wrong);
  switch (format) {
    case 'singer':
      return (await import('./singer-sink.ts')).singerSink(project, dependencies.writeOut, fields);
    case 'sqlite':
      return (await import('./sqlite-sink.ts')).openSqliteSink(resolve(to));
    case 'parquet':
      return openParquetSink(to, dependencies);
    default:
      return openLineSink(format, to, dependencies);
  }
}

async function openParquetSink(
  to: string,
  { ledger, openBucket, scratch, signal }: SinkDependencies,
): Promise<Sink> {
  const { parquetSink } = await import('./parquet-sink.ts');
  const { bucketPartitions, folderPartitions } = await import('./partition-store.ts');
  if (placeKind(to) === 'path') return await parquetSink(folderPartitions(resolve(to)), ledger);
  return await parquetSink(await bucketPartitions(await openPlace(to, openBucket), scratch, signal), ledger);
}

async function openPlace(to: string, openBucket: SinkDependencies['openBucket']): Promise<BucketPlace> {
  const place = readBucketReference(to.replace(/^s3:/i, 's3:'));
  if (place !== undefined) return { bucket: await openBucket(place.bucket), prefix: place.prefix };
  const message =
    '--to is not s3://BUCKET/PREFIX with letters, digits and any of . _ = + @ - in each part of the prefix';
  throw new PublishableError('DestinationUnknown', message);
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
      return bucketSink(await openPlace(to, openBucket), lines, ledger, signal);
    }
    case 'webhook': {
      const { webhookSink } = await import('./webhook-sink.ts');
      return webhookSink({ url: to, ...(await openWebhook()) }, signal);
    }
    default: {
      const path = resolve(to);
      return formatByName(to) === format
        ? lineFileSink(dirname(path), basename(path), lines, ledger)
        : lineFolderSink(path, lines, ledger);
    }
  }
}
