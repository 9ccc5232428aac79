// Of which domains the last complete crawl is kept, and how large it is. Rows only; the files are the runner's. Refuses to
// remove an archive for a crawl: archives are what clients asked for, a kept crawl only saves requests.

import type { Database } from './database.ts';

export interface KeptCrawlStore {
  /** In place of the domain's last one. */
  keep(domain: string, bytes: number, now: number): void;
  drop(domain: string): void;
  domains(): readonly string[];
  /**
   * Removes the crawls for which the archives leave no room, the oldest first.
   * @param maxBytes of archives and crawls together
   * @returns their domains
   */
  evict(maxBytes: number): readonly string[];
}

export function createKeptCrawlStore({ connection, transact }: Database): KeptCrawlStore {
  const keep = connection.prepare('INSERT OR REPLACE INTO kept_crawls VALUES (?, ?, ?)');
  const drop = connection.prepare('DELETE FROM kept_crawls WHERE domain = ?');
  const all = connection.prepare('SELECT domain FROM kept_crawls');
  const beyond = connection.prepare(
    `SELECT domain FROM
     (SELECT domain, sum(bytes) OVER (ORDER BY kept_at DESC, domain ROWS UNBOUNDED PRECEDING) AS total FROM kept_crawls)
     WHERE total + (SELECT coalesce(sum(archive_bytes), 0) FROM jobs) > ?`,
  );
  return {
    keep: (domain, bytes, now) => void keep.run(domain, bytes, now),
    drop: (domain) => void drop.run(domain),
    domains: () => all.all().map((row) => String(row['domain'])),
    evict: (maxBytes) =>
      transact(() => {
        const gone = beyond.all(maxBytes).map((row) => String(row['domain']));
        for (const domain of gone) drop.run(domain);
        return gone;
      }),
  };
}
