// The addresses of one wave, some at a time: of the site, and of what its pages load from other hosts. Invariant: outcomes come in
// the order of the wave, and the first failure ends the requests of all.

/**
 * @param failed aborted with the first failure; the requests must end with its signal
 * @throws that failure, when nothing runs any more
 */
export async function askWave<Item, Outcome>(
  wave: readonly Item[],
  concurrency: number,
  failed: AbortController,
  ask: (item: Item) => Promise<Outcome> | Outcome,
): Promise<readonly (readonly [Item, Outcome])[]> {
  const queue = wave.entries();
  const outcomes = new Map<number, readonly [Item, Outcome]>();
  const work = async (): Promise<void> => {
    try {
      for (const [index, item] of queue) outcomes.set(index, [item, await ask(item)]);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work));
  // The reason of the abort is the first failure; what the other workers threw followed from it.
  if (workers.some(({ status }) => status === 'rejected')) throw failed.signal.reason;
  return [...outcomes].sort(([a], [b]) => a - b).map(([, pair]) => pair);
}
