// Flags that commands about archives share: how much an archive may hold, the digest of its content, and where it is
// served. The defaults are those of the servers. Refuses: flags of one command, which stand with it.

import { defaultLimits } from '#bundle/limits.ts';
import { FlagValueError, kind, positiveBytes, sizeText } from '#platform/runtime/flags/flag-kinds.ts';

export const sizeFlags = {
  maxArchiveSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxArchiveBytes),
    'Largest archive to read',
  ),
  maxBundleSize: positiveBytes.withDefault(
    sizeText(defaultLimits.maxTotalBytes),
    'Largest archive after decompression',
  ),
};

export const contentDigest = kind('SHA256', (text) => {
  // Registries and checksum files write the algorithm before the digits.
  const digits = text.replace(/^sha256:/, '');
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new FlagValueError('must be 64 lower-case hexadecimal digits');
  return digits;
});

/** Without `.`, `..` and empty parts. A test holds that the server accepts it. */
const plainPath = /^\/*(?:(?!\.{1,2}(?:\/|$))[^\s/?#\\%]+(?:\/(?!\/)|$))*\/*$/;

/** Refused before the archive is read, which may take minutes. */
export const basePath = kind('PATH', (text) => {
  if (plainPath.test(text)) return text;
  throw new FlagValueError('must be a plain path such as /docs');
});
