// What the keeper of precompressed variants and its thread have in common. Apart from variant-making.ts, which compresses
// and which only the thread loads.

import type { ContentEncoding } from '../http/content-encoding.ts';

/** Crosses to the thread. */
export interface VariantTask {
  /** Folder of the committed bundle. */
  readonly folder: string;
  readonly digest: string;
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

/** In a bundle's folder: the bodies of its variants. */
export const variantPackName = 'variants';
