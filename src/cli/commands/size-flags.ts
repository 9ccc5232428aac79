// Flags that commands about archives share: how much an archive may hold. The defaults are those of the servers. Refuses:
// flags of one command, which stand with it.

import { defaultLimits } from '../../bundle/limits.ts';
import { positiveBytes, sizeText } from '../../runtime/flags/flag-kinds.ts';

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
