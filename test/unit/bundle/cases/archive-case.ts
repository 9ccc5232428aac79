// One archive for one row of the verdict table. What is to become of it stands in the table, not here.

import type { BundleLimits } from '#bundle/limits.ts';

export interface ArchiveCase {
  readonly bytes: Buffer;
  readonly limits?: Partial<BundleLimits>;
  /** What the bundle must hold, for rows that are not rejected: text by path. */
  readonly holds?: Readonly<Record<string, string>>;
}

export type ArchiveCases = Readonly<Record<string, () => ArchiveCase>>;
