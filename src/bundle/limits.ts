// How much an archive, a link or a reader may cost before it is rejected. Plain data, so that a flag or a test can
// tighten each limit. Invariant: every loop over bytes from outside checks one of these limits.

/** All bounds are inclusive. */
export interface BundleLimits {
  /** Bytes of the archive as downloaded. */
  readonly maxArchiveBytes: number;
  /** Bytes after decompression, headers and padding of the archive format included. */
  readonly maxTotalBytes: number;
  readonly maxFileBytes: number;
  /** Entries of any kind: folders and links count too. */
  readonly maxFiles: number;
  /** Decompressed over compressed, judged from 16 MiB of output on. */
  readonly maxRatio: number;
  /** Frames of a zstd stream, skippable ones included: `pzstd` makes one of some megabytes each. */
  readonly maxFrames: number;
  /** What a zstd decoder must hold in memory; a power of two. */
  readonly maxWindowBytes: number;
  /** Bytes of one path in UTF-8. */
  readonly maxPathBytes: number;
  readonly maxPathSegments: number;
  /** Sum of all paths; and of the extended headers before any one entry (never more than 1 MiB there). */
  readonly maxMetadataBytes: number;
  /** From the first byte asked for to the last one received, resumes and redirects included. */
  readonly downloadTimeoutMs: number;
  /** Longest time without data from the other side. */
  readonly idleTimeoutMs: number;
  readonly maxRedirects: number;
}

const mib = 1024 * 1024;

export const defaultLimits: BundleLimits = {
  maxArchiveBytes: 4096 * mib,
  maxTotalBytes: 8192 * mib,
  maxFileBytes: 512 * mib,
  maxFiles: 200_000,
  maxRatio: 250,
  maxFrames: 10_000,
  // What RFC 8878 §3.1.1.1.2 wants every decoder to support, and no encoder to exceed for others.
  maxWindowBytes: 8 * mib,
  maxPathBytes: 1024,
  maxPathSegments: 64,
  maxMetadataBytes: 32 * mib,
  downloadTimeoutMs: 30 * 60 * 1000,
  idleTimeoutMs: 30 * 1000,
  maxRedirects: 5,
};
