// The folders of crawls in the data folder: `spool/<job>` of each job that is not finished, and `crawls/<domain>` with what the
// next crawl of a domain can use. Owns what becomes of a folder when its job ends and when the service starts. Refuses to fail
// a job for them: a folder that cannot be kept costs the next crawl its downloads. Invariant: `crawls/<domain>` is a whole
// folder of one complete crawl, or is not there.

import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#platform/runtime/folder.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { KeptCrawlStore } from './store/kept-crawls.ts';

export interface CrawlFolders {
  /** Where a crawl of this job works. */
  spoolOf(jobId: string): string;
  earlierOf(domain: string): string;
  /** Removes what an earlier process left and no job needs. */
  recover(unfinishedJobs: ReadonlySet<string>): Promise<void>;
  /** What a completed job left becomes the domain's, in place of the last one. */
  keep(job: { readonly id: string; readonly domain: string }, keptBytes: number, now: number): Promise<void>;
  /** Removes the kept crawls for which the archives leave no room. @throws the store's error */
  evict(): Promise<void>;
  removeSpool(jobId: string): Promise<void>;
}

/** @param maxBytes of archives and kept crawls together */
export function createCrawlFolders(
  directory: string,
  store: KeptCrawlStore,
  maxBytes: number,
  logger: Logger,
): CrawlFolders {
  const spool = join(directory, 'spool');
  const crawls = join(directory, 'crawls');
  const spoolOf = (jobId: string): string => join(spool, jobId);
  const earlierOf = (domain: string): string => join(crawls, domain);
  const remove = async (path: string): Promise<void> => {
    await rm(path, { recursive: true, force: true }).catch((error: unknown) =>
      logger.warn({ error }, 'a folder of a crawl could not be removed'),
    );
  };
  const removeExcept = async (folder: string, names: ReadonlySet<string>): Promise<void> => {
    for (const name of await readdir(folder)) if (!names.has(name)) await remove(join(folder, name));
  };
  const replace = async (domain: string, jobId: string): Promise<void> => {
    const old = `${spoolOf(jobId)}.old`;
    await rename(earlierOf(domain), old).catch(() => {});
    try {
      await rename(spoolOf(jobId), earlierOf(domain));
    } finally {
      await remove(old);
    }
  };
  return {
    spoolOf,
    earlierOf,
    recover: async (unfinishedJobs) => {
      // Before any job: if two jobs create them at once, one of them fails.
      for (const folder of [spool, crawls]) await makeFolder(folder, 0o700);
      await removeExcept(spool, unfinishedJobs);
      const kept = new Set(store.domains());
      await removeExcept(crawls, kept);
      const there = new Set(await readdir(crawls));
      for (const domain of kept) if (!there.has(domain)) store.drop(domain);
    },
    keep: async ({ id, domain }, keptBytes, now) => {
      try {
        if (keptBytes > 0) {
          await replace(domain, id);
          store.keep(domain, keptBytes, now);
        } else {
          await remove(earlierOf(domain));
          store.drop(domain);
        }
      } catch (error) {
        logger.warn(
          { error, domain },
          'the crawl is not kept; the next one of the domain downloads every body',
        );
      }
    },
    evict: async () => {
      for (const domain of store.evict(maxBytes)) {
        await remove(earlierOf(domain));
        logger.info(
          { domain },
          'kept crawl removed for archives or newer crawls; to keep it, raise --keep-bytes',
        );
      }
    },
    removeSpool: (jobId) => remove(spoolOf(jobId)),
  };
}
