// Opens what a crawl takes its answers from, and closes it: the journal in its directory, and what the last complete crawl left.
// Also makes such a rest of a crawl that is packed. Refuses what cannot be used, with a line in the log. Invariant: a rest has
// the answers that the next crawl can ask about, their bodies, and no other file.

import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#platform/runtime/folder.ts';
import type { CrawlContext, CrawlRequest } from '../contract.ts';
import type { OriginSession } from '../origin/origin-session.ts';
import type { CrawlSpool } from '../spool.ts';
import { bodySchema, openEarlier, openJournal } from './answer-journal.ts';
import { isReusable, journalFileNames, openJournalFile } from './journal-file.ts';
import { createRecordedSession, type RecordedSession } from './recorded-session.ts';

export interface CrawlAnswers {
  readonly session: RecordedSession;
  /** The same for another host. @param host scheme, host and port */
  sessionFor(host: string, session: OriginSession): RecordedSession;
  close(): void;
}

export interface AnswersContext {
  readonly session: OriginSession;
  readonly spool: CrawlSpool;
  readonly context: Pick<CrawlContext, 'clock' | 'logger'>;
}

/** @throws {CrawlError} SpoolFailed */
export async function openAnswers(
  request: CrawlRequest,
  { session, spool, context: { clock, logger } }: AnswersContext,
): Promise<CrawlAnswers> {
  const { domain, spoolDirectory, earlierDirectory, limits } = request;
  await makeFolder(spoolDirectory, 0o700);
  const journal = openJournal(spoolDirectory, request, () =>
    logger.warn(
      { domain },
      'the answers of the interrupted crawl cannot be used; the crawl starts from nothing',
    ),
  );
  const known =
    earlierDirectory &&
    openEarlier(earlierDirectory, request, () =>
      logger.warn({ domain }, 'the answers of the last crawl cannot be used; every body is downloaded'),
    );
  const earlier = known ? { answers: known, directory: earlierDirectory } : undefined;
  const counts = { fromOrigin: 0, notModified: 0, fromJournal: 0 };
  const sources = { session, spool, journal, earlier, maxAgeMs: limits.timeoutMs, clock, counts };
  return {
    session: createRecordedSession(sources),
    sessionFor: (host, other) => createRecordedSession({ ...sources, session: other, host }),
    close: () => {
      journal.close();
      earlier?.answers.close();
    },
  };
}

/**
 * Reduces the directory of a packed crawl to what the next crawl of the site can use.
 * @returns the bytes of its bodies; 0 where there is nothing to use
 */
export async function keepAnswers(request: CrawlRequest): Promise<number> {
  const { spoolDirectory } = request;
  const connection = openJournalFile(spoolDirectory, request);
  if (connection === undefined) return 0;
  const sizes = new Map<string, number>();
  try {
    // Of a site without validators nothing is kept: then the caller removes the directory as a whole.
    if (connection.prepare(`SELECT 1 FROM answers WHERE ${isReusable} LIMIT 1`).get() === undefined) return 0;
    connection.exec(`DELETE FROM answers WHERE NOT (${isReusable});`);
    const bodies = connection.prepare("SELECT entry ->> '$.answer.body' AS body FROM answers");
    for (const row of bodies.iterate()) {
      const { sha256, sizeBytes } = bodySchema.parse(JSON.parse(String(row['body'])));
      sizes.set(sha256, sizeBytes);
    }
    // The next crawl only reads it, and then needs no other file.
    connection.exec('PRAGMA journal_mode = DELETE; VACUUM;');
  } finally {
    connection.close();
  }
  for await (const { name } of await opendir(spoolDirectory)) {
    if (!sizes.has(name) && !journalFileNames.includes(name)) await rm(join(spoolDirectory, name));
  }
  return sizes.values().reduce((sum, size) => sum + size, 0);
}
