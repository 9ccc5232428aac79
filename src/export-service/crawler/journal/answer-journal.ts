// The answers of one crawl, kept while it runs: for each request what the origin said, and the hash of its body. A crawl that
// was interrupted takes them again, and goes on where it ended. Owns which answer a request gets. Refuses values of cookies:
// an answer that set one is only marked. Invariant: an answer that was recorded is there after any kill of the process, and
// one start takes it once.

import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { CrawlError } from '../crawl-error.ts';
import type { KnownBody } from '../origin/origin-session.ts';
import {
  beginJournalFile,
  hasJournal,
  isReusable,
  type JournalOwner,
  openJournalFile,
} from './journal-file.ts';

/** What decides the answer. A page may be asked for otherwise than a file of the same address. */
export interface JournalRequest {
  readonly address: string;
  readonly asks: 'page' | 'file' | 'unknown';
  /** Names what requests carried at that time. */
  readonly sent: string;
}

export const bodySchema = z.object({ sha256: z.string().regex(/^[\da-f]{64}$/), sizeBytes: z.number() });
const bodyAnswerSchema = z.object({
  kind: z.literal('body'),
  contentType: z.string(),
  body: bodySchema,
  isNotFound: z.boolean(),
  validators: z.object({ etag: z.string().optional(), lastModified: z.string().optional() }).optional(),
});
const redirectSchema = z.object({ kind: z.literal('redirect'), location: z.string() });
const absentSchema = z.object({ kind: z.literal('absent'), reason: z.string() });
const entrySchema = z.object({
  answer: z.discriminatedUnion('kind', [bodyAnswerSchema, redirectSchema, absentSchema]),
  /** Epoch ms. */
  answeredAt: z.number(),
  /** Names what the request that got this answer carried in the end. */
  carried: z.string(),
  /** What the origin asked for in between, see `Learned`. */
  isForwarded: z.boolean(),
  hasCookies: z.boolean(),
});

export type JournalEntry = Readonly<z.infer<typeof entrySchema>>;

/** A body that the origin may say is still the same. */
export interface KnownBodyAnswer extends KnownBody {
  readonly answer: Readonly<z.infer<typeof bodyAnswerSchema>>;
}

export interface TakenEntry {
  readonly entry: JournalEntry;
  /** Among the answers to its request. */
  readonly number: number;
}

export interface AnswerJournal {
  /** The first answer to this request that an earlier start recorded and this one has not taken. */
  take(request: JournalRequest): TakenEntry | undefined;
  /**
   * @param number of an answer that this one replaces
   * @throws {CrawlError} SpoolFailed
   */
  record(request: JournalRequest, entry: JournalEntry, number?: number | null): void;
  close(): void;
}

export interface EarlierAnswers {
  /** The latest body of an address, whichever request got it. */
  find(address: string): KnownBodyAnswer | undefined;
  close(): void;
}

/**
 * Opens the journal of a crawl that was interrupted, or begins one.
 * @param directory of the crawl; exists
 * @param onLost called where one is there that cannot be used
 * @throws {CrawlError} SpoolFailed
 */
export function openJournal(directory: string, owner: JournalOwner, onLost: () => void): AnswerJournal {
  const isThere = hasJournal(directory);
  const known = isThere ? openJournalFile(directory, owner) : undefined;
  if (isThere && known === undefined) onLost();
  return orFailed(() => {
    const connection = known ?? beginJournalFile(directory, owner);
    try {
      return journalOn(connection, known !== undefined);
    } catch (error) {
      connection.close();
      throw error;
    }
  });
}

/**
 * Opens what the last complete crawl left.
 * @param onLost as of {@link openJournal}
 */
export function openEarlier(
  directory: string,
  owner: JournalOwner,
  onLost: () => void,
): EarlierAnswers | undefined {
  if (!hasJournal(directory)) return undefined;
  const connection = openJournalFile(directory, owner);
  if (connection === undefined) onLost();
  return connection && { find: createFind(connection), close: () => connection.close() };
}

function journalOn(connection: DatabaseSync, isContinued: boolean): AnswerJournal {
  // Without a sync for each answer: a power failure may lose the last ones, and a body is checked by its hash. So an answer
  // may be a transaction of its own, and none is lost when the process is killed.
  connection.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; UPDATE owner SET starts = starts + 1;',
  );
  const start = Number(connection.prepare('SELECT starts FROM owner').get()?.['starts']);
  const key = 'address = ? AND asks = ? AND sent = ?';
  const next = connection.prepare(
    `UPDATE answers SET taken_by = ? WHERE ${key} AND number =
     (SELECT min(number) FROM answers WHERE ${key} AND taken_by < ?) RETURNING number, entry`,
  );
  const insert = connection.prepare(
    `INSERT OR REPLACE INTO answers VALUES (?, ?, ?,
     coalesce(?, (SELECT coalesce(max(number), 0) + 1 FROM answers WHERE ${key})), ?, ?)`,
  );
  return {
    take: ({ address, asks, sent }) => {
      if (!isContinued) return undefined;
      const values = [address, asks, sent];
      const row = orFailed(() => next.get(start, ...values, ...values, start));
      const entry = readEntry(row?.['entry']);
      return entry && { entry, number: Number(row?.['number']) };
    },
    record: ({ address, asks, sent }, entry, number = null) => {
      const values = [address, asks, sent];
      orFailed(() => insert.run(...values, number, ...values, start, JSON.stringify(entry)));
    },
    close: () => connection.close(),
  };
}

function createFind(connection: DatabaseSync): EarlierAnswers['find'] {
  const latest = connection.prepare(
    `SELECT entry FROM answers WHERE address = ? AND ${isReusable} ORDER BY entry ->> 'answeredAt' DESC LIMIT 1`,
  );
  return (address) => {
    try {
      return knownBodyAnswer(readEntry(latest.get(address)?.['entry']));
    } catch {
      // A damage that shows only now: the address is asked for without it.
      return undefined;
    }
  };
}

function readEntry(text: unknown): JournalEntry | undefined {
  if (typeof text !== 'string') return undefined;
  const read = entrySchema.safeParse(JSON.parse(text));
  return read.success ? read.data : undefined;
}

/** @returns `undefined` where the origin could not say that the body is still the same */
export function knownBodyAnswer(entry: JournalEntry | undefined): KnownBodyAnswer | undefined {
  const { answer, carried } = entry ?? {};
  if (answer?.kind !== 'body' || answer.validators === undefined || carried === undefined) return undefined;
  return { answer, validators: answer.validators, carried };
}

function orFailed<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const error: CrawlError = new PublishableError(
      'SpoolFailed',
      `the data folder did not store an answer of the site (${publishableCode(cause)}): check its space and permissions`,
      { cause },
    );
    throw error;
  }
}
