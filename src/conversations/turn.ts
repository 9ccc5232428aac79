// A turn of an assistant conversation, as every sink stores it: one question, its answer, and what is known about both.
// Owns the row's shape, its key and its content hash. Refuses to drop a row: what is missing or unreadable is null.
// Invariant: the same row of the export API has the same key in every run.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { ConversationRow, ConversationSource } from '#export-api/conversation-answers.ts';
import { readForeignInstant } from '#export-api/instants.ts';

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** UTC with milliseconds: `2026-11-26T14:40:00.000Z`. */
const instant = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
const text = z.nullable(z.string());

/** A line of NDJSON, and a row of SQLite with `sources` in a table of their own. */
export const turnSchema = z.object({
  turn_key: sha256,
  project: z.string(),
  /** `id` of the export API, which turns of one conversation share. */
  conversation: text,
  /** Null where `timestamp_raw` is missing, or is not an instant between the years 1 and 9999. */
  timestamp: z.nullable(instant),
  /** As the export API wrote it. */
  timestamp_raw: text,
  query: text,
  /** Null also with `--drop-response`. */
  response: text,
  category: text,
  /** `answered` or `unanswered`; the export API may add others, or send none. */
  resolution_status: text,
  page_url: text,
  sources: z.array(z.object({ title: z.string(), url: z.string() })),
  /** SHA-256 of what may change while the key stays. */
  content_hash: sha256,
  /** `update`: a turn with this key was delivered before, with other content. */
  change: z.enum(['insert', 'update']),
  /** When this program read it. */
  observed_at: instant,
});

export type Turn = Readonly<Omit<z.infer<typeof turnSchema>, 'sources'>> & {
  readonly sources: readonly ConversationSource[];
};

/** In the order of every table. */
export const turnColumns = z.keyof(turnSchema).options;
export type TurnColumn = (typeof turnColumns)[number];
/** Those that hold an instant. */
export const instantColumns: ReadonlySet<TurnColumn> = new Set(['timestamp', 'observed_at']);

/** A turn before it is known whether a sink has it. */
export type ReadTurn = Omit<Turn, 'turn_key' | 'content_hash' | 'change' | 'observed_at'>;

/** @param project of the request, because a row does not name it */
export function readTurn(row: ConversationRow, project: string): ReadTurn {
  return {
    project,
    conversation: row.id ?? null,
    timestamp: utcText(readForeignInstant(row.timestamp)),
    timestamp_raw: row.timestamp ?? null,
    query: row.query ?? null,
    response: row.response ?? null,
    category: row.queryCategory,
    resolution_status: row.resolutionStatus ?? null,
    page_url: row.pageUrl,
    sources: row.sources,
  };
}

/** @returns the turn with each text that came from the export API changed */
export function withTexts(turn: ReadTurn, change: (text: string) => string): ReadTurn {
  const changed = (text: string | null): string | null => (text === null ? null : change(text));
  // In the order of every table, and without a spread: a new column that is forgotten here does not compile.
  return {
    project: turn.project,
    conversation: changed(turn.conversation),
    timestamp: turn.timestamp,
    timestamp_raw: changed(turn.timestamp_raw),
    query: changed(turn.query),
    response: changed(turn.response),
    category: changed(turn.category),
    resolution_status: changed(turn.resolution_status),
    page_url: changed(turn.page_url),
    sources: turn.sources.map(({ title, url }) => ({ title: change(title), url: change(url) })),
  };
}

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** @param epochMs outside the years 1 to 9999, readers of tables fail */
export function utcText(epochMs: number | undefined): string | null {
  const isReadable = epochMs !== undefined && epochMs >= earliest && epochMs <= latest;
  return isReadable ? new Date(epochMs).toISOString() : null;
}

/**
 * SHA-256 in hexadecimal of project, `id`, `timestamp` as it was sent, and query. Exact twins differ in their ordinal.
 * @param ordinal from 0
 */
export function turnKey(
  turn: Pick<ReadTurn, 'project' | 'conversation' | 'timestamp_raw' | 'query'>,
  ordinal: number,
): string {
  const { project, conversation, timestamp_raw: timestamp, query } = turn;
  return hashFields([project, conversation, timestamp, query, ...(ordinal === 0 ? [] : [ordinal])]);
}

type KeyColumn = 'project' | 'conversation' | 'timestamp' | 'timestamp_raw' | 'query';
type ContentColumn = Exclude<keyof ReadTurn, KeyColumn>;
/**
 * The form of the content hash that began with a column; a new column begins the next. Hashes of earlier forms stay
 * comparable, so that a new column makes no delivered turn an update.
 */
const hashedSince = {
  response: 1,
  category: 1,
  resolution_status: 1,
  page_url: 1,
  sources: 1,
} as const satisfies Readonly<Record<ContentColumn, number>>;
const presentForm = Math.max(...Object.values(hashedSince));
const isContent = (column: TurnColumn): column is ContentColumn => Object.hasOwn(hashedSince, column);

/** SHA-256 in hexadecimal of everything that is not part of the key. @param form of the hash; the present one by default */
export function contentHash(turn: Pick<ReadTurn, ContentColumn>, form: number = presentForm): string {
  const columns = turnColumns.filter(isContent).filter((column) => hashedSince[column] <= form);
  return hashFields(
    columns.flatMap((column) => {
      const value = turn[column];
      return typeof value === 'string' || value === null
        ? [value]
        : value.flatMap(({ title, url }) => [title, url]);
    }),
  );
}

/** Hashes that earlier versions of this program made of the same content. */
export const earlierHashes = (
  turn: Pick<ReadTurn, ContentColumn>,
  form: number = presentForm,
): readonly string[] => Array.from({ length: form - 1 }, (_, index) => contentHash(turn, index + 1));

/** JSON keeps the fields apart, whatever they hold. */
export function hashFields(fields: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
