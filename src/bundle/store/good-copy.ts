// Looks for a good copy in one place after another. A fault of the disk ends the search, or is passed: the caller decides,
// because it knows how long the fault has lasted. Invariant: a fault is never taken for "no copy".

import type { StoredBundle } from './stored-bundle.ts';

export type Search = () => Promise<StoredBundle | undefined>;

/**
 * @param passesFaults whether a copy behind a fault is taken
 * @returns the first bundle found
 * @throws the first fault, if nothing is returned
 */
export async function firstGood(
  passesFaults: boolean,
  searches: readonly Search[],
): Promise<StoredBundle | undefined> {
  const faults: unknown[] = [];
  for (const search of searches) {
    const found = await search().catch((error: unknown) => {
      if (!passesFaults) throw error;
      faults.push(error);
    });
    if (found !== undefined) return found;
  }
  if (faults.length > 0) throw faults[0];
  return undefined;
}
