// Jobs as rows: every transition of a job is one statement or one transaction here, and nowhere else. queued → running
// → completed | failed; running → queued only by recovery or release. Refuses a transition from any other state than
// the named one, so that a late worker changes nothing.

import * as z from 'zod';
import { basePaths, type ExportBasePath, jobStatuses } from '#export-api/contract.ts';
import type { Exported } from '../site-export.ts';
import type { Database } from './database.ts';

const rowSchema = z.object({
  id: z.string(),
  domain: z.string(),
  basePath: z.enum(basePaths).nullable(),
  status: z.enum(jobStatuses),
  attempts: z.number(),
  pageCount: z.number(),
  error: z.string().nullable(),
  archiveBytes: z.number().nullable(),
  archiveSha256: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
const columns = `jobs.id, domain, base_path AS basePath, status, attempts, page_count AS pageCount, error, archive_bytes AS archiveBytes,
  archive_sha256 AS archiveSha256, created_at AS createdAt, updated_at AS updatedAt`;

/** Instants are epoch ms. The archive's fields are set exactly when the job is completed. */
export type JobRow = Readonly<z.infer<typeof rowSchema>>;

/** An Idempotency-Key in the scope of the credential that sent it. */
export interface OnceKey {
  readonly credential: string;
  readonly key: string;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly job: JobRow }
  | { readonly kind: 'replayed'; readonly job: JobRow }
  /** The key was used for another domain. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'queueFull' };

export type ProjectStartOutcome =
  | { readonly kind: 'started'; readonly job: JobRow }
  /** A job of the same domain is queued or running, whichever form started it. */
  | { readonly kind: 'anotherRuns' }
  /** `freeAt`: epoch ms at which the budget has room again. */
  | { readonly kind: 'budgetUsed'; readonly freeAt: number }
  | { readonly kind: 'queueFull' };

export type CompletedSite = Pick<Exported, 'pageCount' | 'sizeBytes' | 'sha256'>;

/** The window of the budget of starts. */
const budgetWindowMs = 60 * 60 * 1000;

/** Keys of expired links removed in one go. A client may leave hundreds of thousands. */
const sweptAtOnce = 500;

export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore({ connection, transact }: Database) {
  const one = (sql: string) => {
    const statement = connection.prepare(sql);
    return (...values: (string | number)[]): JobRow | undefined => {
      const row = statement.get(...values);
      return row === undefined ? undefined : rowSchema.parse(row);
    };
  };
  const change = (sql: string) => {
    const statement = connection.prepare(sql);
    return (...values: (string | number | null)[]): number => Number(statement.run(...values).changes);
  };
  const ids = (sql: string) => {
    const statement = connection.prepare(sql);
    return (...values: (string | number)[]): readonly string[] =>
      statement.all(...values).map((row) => String(row['id']));
  };

  const byId = one(`SELECT ${columns} FROM jobs WHERE id = ?`);
  const byKey = one(
    `SELECT ${columns} FROM start_keys JOIN jobs ON jobs.id = job_id WHERE credential = ? AND key = ?`,
  );
  const insert = change(
    "INSERT INTO jobs (id, domain, base_path, status, created_at, updated_at, used_at) VALUES (?, ?, ?, 'queued', ?, ?, ?)",
  );
  const countActive = connection.prepare(
    "SELECT count(*) AS n FROM jobs WHERE domain = ? AND status IN ('queued', 'running')",
  );
  // A start later than now is of a clock that was set back: it would close the budget for the difference.
  const nthLatestStart = connection.prepare(
    'SELECT started_at FROM project_starts WHERE started_at > ? AND started_at <= ? ORDER BY started_at DESC LIMIT 1 OFFSET ?',
  );
  const dropStarts = change('DELETE FROM project_starts WHERE started_at <= ? OR started_at > ?');
  const keepStart = change('INSERT INTO project_starts (started_at) VALUES (?)');
  const insertKey = change('INSERT INTO start_keys (credential, key, job_id) VALUES (?, ?, ?)');
  const countQueued = connection.prepare("SELECT count(*) AS n FROM jobs WHERE status = 'queued'");
  const claim = one(
    `UPDATE jobs SET status = 'running', attempts = attempts + 1, updated_at = ?
     WHERE id = (SELECT id FROM jobs WHERE status = 'queued' ORDER BY sequence LIMIT 1) RETURNING ${columns}`,
  );
  const setCompleted = change(
    `UPDATE jobs SET status = 'completed', page_count = ?, archive_bytes = ?, archive_sha256 = ?,
     updated_at = ?, used_at = ? WHERE id = ? AND status = 'running'`,
  );
  const setFailed = change(
    "UPDATE jobs SET status = 'failed', error = ?, page_count = ?, updated_at = ?, used_at = ? WHERE id = ? AND status = 'running'",
  );
  const setReleased = change(
    "UPDATE jobs SET status = 'queued', attempts = attempts - 1, updated_at = ? WHERE id = ? AND status = 'running'",
  );
  const failExhausted = change(
    "UPDATE jobs SET status = 'failed', error = ?, updated_at = ? WHERE status = 'running' AND attempts >= ?",
  );
  const requeue = change("UPDATE jobs SET status = 'queued', updated_at = ? WHERE status = 'running'");
  const touch = change('UPDATE jobs SET used_at = max(used_at, ?) WHERE id = ?');
  const issuedBy = connection.prepare(
    'SELECT expires_at FROM issue_keys WHERE credential = ? AND key = ? AND job_id = ?',
  );
  const keepIssued = change(
    'INSERT OR REPLACE INTO issue_keys (credential, key, job_id, expires_at) VALUES (?, ?, ?, ?)',
  );
  const dropUnusableLinks = change(
    `DELETE FROM issue_keys WHERE (credential, key, job_id) IN
     (SELECT credential, key, job_id FROM issue_keys WHERE expires_at <= ? LIMIT ${sweptAtOnce})`,
  );
  const evictable = ids(
    `SELECT id FROM jobs WHERE domain = ? AND status IN ('completed', 'failed') AND used_at < ? AND id NOT IN
     (SELECT id FROM jobs WHERE domain = ? AND status IN ('completed', 'failed') ORDER BY used_at DESC, sequence DESC LIMIT ?)`,
  );
  const beyond = ids(
    `SELECT id FROM (
       SELECT id, used_at, row_number() OVER lately AS position, sum(coalesce(archive_bytes, 0)) OVER lately AS bytes
       FROM jobs WHERE status IN ('completed', 'failed')
       WINDOW lately AS (ORDER BY used_at DESC, sequence DESC ROWS UNBOUNDED PRECEDING)
     ) WHERE used_at < ? AND (bytes > ? OR position > ?)`,
  );
  const remove = change('DELETE FROM jobs WHERE id = ?');
  const removeAll = (gone: readonly string[]): readonly string[] => {
    for (const id of gone) remove(id);
    return gone;
  };
  const isQueueFull = (maxQueued: number): boolean => Number(countQueued.get()?.['n']) >= maxQueued;
  const queue = (id: string, domain: string, basePath: ExportBasePath | null, now: number): JobRow => {
    insert(id, domain, basePath, now, now, now);
    const job = byId(id);
    if (job === undefined) throw new Error('a job just written cannot be read');
    return job;
  };
  const completedIds = ids("SELECT id FROM jobs WHERE status = 'completed'");
  const unfinishedIds = ids("SELECT id FROM jobs WHERE status IN ('queued', 'running')");

  return {
    find: (id: string): JobRow | undefined => byId(id),

    /** One transaction: the same key of the same credential finds the job it started, as long as that is kept. */
    start(request: {
      id: string;
      domain: string;
      now: number;
      maxQueued: number;
      once?: OnceKey | undefined;
    }) {
      const { id, domain, now, maxQueued, once } = request;
      return transact((): StartOutcome => {
        const earlier = once === undefined ? undefined : byKey(once.credential, once.key);
        if (earlier !== undefined) {
          return earlier.domain === domain ? { kind: 'replayed', job: earlier } : { kind: 'mismatch' };
        }
        if (isQueueFull(maxQueued)) return { kind: 'queueFull' };
        const job = queue(id, domain, null, now);
        if (once !== undefined) insertKey(once.credential, once.key, id);
        return { kind: 'started', job };
      });
    },

    /**
     * Starts a job of a project, if no other of its domain is queued or running and the budget has room. Only a job that
     * was started counts. The starts are rows of their own, because a job may be removed before its hour is over.
     *
     * @param request.startsPerHour of all projects together; `undefined`: no budget
     */
    startOfProject(request: {
      id: string;
      domain: string;
      basePath: ExportBasePath | null;
      now: number;
      maxQueued: number;
      startsPerHour: number | undefined;
    }) {
      const { id, domain, basePath, now, maxQueued, startsPerHour } = request;
      return transact((): ProjectStartOutcome => {
        if (Number(countActive.get(domain)?.['n']) > 0) return { kind: 'anotherRuns' };
        const blocking =
          startsPerHour === undefined
            ? undefined
            : nthLatestStart.get(now - budgetWindowMs, now, startsPerHour - 1)?.['started_at'];
        if (blocking !== undefined) return { kind: 'budgetUsed', freeAt: Number(blocking) + budgetWindowMs };
        if (isQueueFull(maxQueued)) return { kind: 'queueFull' };
        dropStarts(now - budgetWindowMs, now);
        keepStart(now);
        return { kind: 'started', job: queue(id, domain, basePath, now) };
      });
    },

    /** The oldest queued job, now running. */
    claimNext: (now: number): JobRow | undefined => claim(now),
    complete: (id: string, { pageCount, sizeBytes, sha256 }: CompletedSite, now: number): boolean =>
      setCompleted(pageCount, sizeBytes, sha256, now, now, id) > 0,
    /** @param error safe to publish */
    fail: (id: string, error: string, pageCount: number, now: number): boolean =>
      setFailed(error, pageCount, now, now, id) > 0,
    /** Puts a running job back without counting the attempt: it was stopped on purpose. */
    release: (id: string, now: number): boolean => setReleased(now, id) > 0,

    /** After a start: what ran when the process ended runs again, or fails if it did so too often. */
    recover: (maxAttempts: number, now: number): { readonly failed: number; readonly requeued: number } =>
      transact(() => ({
        failed: failExhausted(`interrupted ${maxAttempts} times by a stop of the service`, now, maxAttempts),
        requeued: requeue(now),
      })),

    /**
     * Records that a link was issued, and returns its expiry: the same key gets the same instant
     * again while more than half of `freshUntil` is still ahead.
     */
    issue(request: { jobId: string; freshUntil: number; now: number; once?: OnceKey | undefined }): number {
      const { jobId, freshUntil, now, once } = request;
      return transact(() => {
        touch(now, jobId);
        dropUnusableLinks(now);
        if (once === undefined) return freshUntil;
        const stored = issuedBy.get(once.credential, once.key, jobId)?.['expires_at'];
        const earlier = typeof stored === 'number' ? stored : 0;
        if (earlier - now > (freshUntil - now) / 2) return earlier;
        keepIssued(once.credential, once.key, jobId, freshUntil);
        return freshUntil;
      });
    },

    /** Removes some keys of links that have expired. @returns whether there may be more */
    sweepExpired: (now: number): boolean => transact(() => dropUnusableLinks(now) === sweptAtOnce),

    /**
     * Removes finished jobs of a domain beyond the `keep` most recently used, but none used since `usedSince`.
     * @returns their ids; no job uses their archives any more
     */
    evict: (domain: string, keep: number, usedSince: number): readonly string[] =>
      transact(() => removeAll(evictable(domain, usedSince, domain, keep))),

    /**
     * Removes the least recently used finished jobs of all domains beyond the bounds, but none used since
     * `usedSince`. A domain that no client requests again has no next job that would make room.
     * @returns their ids; no job uses their archives any more
     */
    evictBeyond: (maxBytes: number, maxJobs: number, usedSince: number): readonly string[] =>
      transact(() => removeAll(beyond(usedSince, maxBytes, maxJobs))),

    completedIds: (): readonly string[] => completedIds(),
    unfinishedIds: (): readonly string[] => unfinishedIds(),
    queuedCount: (): number => Number(countQueued.get()?.['n']),
  };
}
