// The limits of an inspection, as flags and the resource set them. Pure. Invariant: an error about a size names its limit, and
// the flag or field that sets it.

import { type BundleLimits, defaultLimits } from '#bundle/limits.ts';
import { sizeText } from '#platform/runtime/flags/flag-kinds.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface ArchiveSizes {
  readonly maxArchiveBytes: number;
  /** After decompression. */
  readonly maxBundleBytes: number;
}

/** @param maxBytes of the resource, packed and unpacked */
export function archiveLimits(
  { maxArchiveBytes, maxBundleBytes }: ArchiveSizes,
  maxBytes = Number.POSITIVE_INFINITY,
): BundleLimits {
  return {
    ...defaultLimits,
    maxArchiveBytes: Math.min(maxArchiveBytes, maxBytes),
    maxTotalBytes: Math.min(maxBundleBytes, maxBytes),
  };
}

/** Adds the limit to an error about a size. */
export function withLimit(error: unknown, limits: BundleLimits): unknown {
  const { maxArchiveBytes, maxTotalBytes, maxFileBytes, maxFiles, maxPathBytes } = limits;
  if (!(error instanceof PublishableError)) return error;
  const { code, message } = error;
  const texts: ReadonlyMap<string, string> = new Map([
    ['ArchiveTooLarge', `${sizeText(maxArchiveBytes)}: spec.promotion.maxBundleSize or --max-archive-size`],
    ['ContentTooLarge', `${sizeText(maxTotalBytes)}: spec.promotion.maxBundleSize or --max-bundle-size`],
    ['FileTooLarge', `limit ${sizeText(maxFileBytes)}`],
    ['TooManyFiles', `limit ${maxFiles.toLocaleString('en-US')}`],
    ['PathTooLong', `limit ${maxPathBytes.toLocaleString('en-US')} bytes`],
  ]);
  const limit = texts.get(code);
  return limit === undefined ? error : error.saying(`${message} (${limit})`);
}
