// Bodies of hot files in memory, least recently used first to go, so that a page does not read the disk for
// every visitor. Keyed by content, so a swap keeps what did not change.
// Invariant: the bytes held never exceed the budget; one file is read once however many ask at the same time.

export interface BodyCache {
  /** Files larger than this are never held. */
  readonly maxEntryBytes: number;
  get(sha256: string): Buffer | undefined;
  /** Reads through: `read` is called at most once at a time for one content. Rejects as `read` does. */
  load(sha256: string, read: () => Promise<Buffer>): Promise<Buffer>;
  readonly heldBytes: () => number;
}

const mostForOneFile = 1024 * 1024;

/** @param budgetBytes 0 holds nothing */
export function createBodyCache(budgetBytes: number): BodyCache {
  const maxEntryBytes = Math.min(mostForOneFile, Math.floor(budgetBytes / 4));
  // A Map keeps the order of insertion: the first key is the one longest unused.
  const held = new Map<string, Buffer>();
  const loading = new Map<string, Promise<Buffer>>();
  let heldBytes = 0;

  const get = (sha256: string): Buffer | undefined => {
    const body = held.get(sha256);
    if (body !== undefined) {
      held.delete(sha256);
      held.set(sha256, body);
    }
    return body;
  };

  const put = (sha256: string, body: Buffer): void => {
    if (body.length > maxEntryBytes || held.has(sha256)) return;
    held.set(sha256, body);
    heldBytes += body.length;
    for (const [oldest, dropped] of held) {
      if (heldBytes <= budgetBytes) break;
      held.delete(oldest);
      heldBytes -= dropped.length;
    }
  };

  const load = (sha256: string, read: () => Promise<Buffer>): Promise<Buffer> => {
    const underWay = loading.get(sha256);
    if (underWay !== undefined) return underWay;
    const started = read()
      .then((body) => {
        put(sha256, body);
        return body;
      })
      .finally(() => loading.delete(sha256));
    loading.set(sha256, started);
    return started;
  };

  return { maxEntryBytes, get, load, heldBytes: () => heldBytes };
}
