// What the keeper of precompressed variants and its thread have in common. Apart from variant-making.ts, which compresses
// and which only the thread loads.

import type { Additions } from '../content/additions.ts';
import type { ContentEncoding } from '../http/content-encoding.ts';
import type { StoredFolder } from '../made/stored-files.ts';

/** Crosses to the thread. */
export interface VariantTask extends StoredFolder {
  /** What is served with the bundle, and is compressed in place of its own pages. */
  readonly additions?: Additions | undefined;
  readonly encodings: readonly ContentEncoding[];
  /** Share of one core that compression may take, 1 to 100. */
  readonly cpuPercent: number;
  /** Limit on disk for variants, and for what the bundle takes in addition to its files' own size. */
  readonly maxBytes: number;
}

/** Crosses back. */
export interface PreparedVariants {
  /** See `variant-table.ts`. */
  readonly numbers: Float64Array;
  readonly isPartial: boolean;
  /** True when they were on disk already. */
  readonly isFound: boolean;
}
