// The pages that agents read last, as text: an agent reads a long page in parts, and each part would read and write the whole page.
// Refuses more memory than a limit. Invariant: what was asked for longest ago goes first.

export interface RecentPages<Page> {
  find(name: string): Page | undefined;
  /** @param bytes that the page takes; one that takes more than all may take is not kept */
  keep(name: string, page: Page, bytes: number): void;
}

/** @param mostBytes of all pages together */
export function createRecentPages<Page>(mostBytes: number): RecentPages<Page> {
  const kept = new Map<string, { readonly page: Page; readonly bytes: number }>();
  let total = 0;
  const drop = (name: string): void => {
    total -= kept.get(name)?.bytes ?? 0;
    kept.delete(name);
  };
  return {
    find: (name) => {
      const found = kept.get(name);
      if (found === undefined) return undefined;
      kept.delete(name);
      kept.set(name, found);
      return found.page;
    },
    keep: (name, page, bytes) => {
      drop(name);
      if (bytes > mostBytes) return;
      kept.set(name, { page, bytes });
      total += bytes;
      for (const oldest of kept.keys()) {
        if (total <= mostBytes) return;
        drop(oldest);
      }
    },
  };
}
