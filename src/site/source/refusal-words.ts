// The server's own flag in the words of a refusal that a flag could change. The readers know limits, not flags: the
// operator uses them too. Refuses: changing anything but the words.

import { BundleError } from '../../bundle/bundle-error.ts';
import { sizeText } from '../../runtime/flags/flag-kinds.ts';
import type { BundleServerFlags } from '../server-flags.ts';

type Limits = Pick<BundleServerFlags, 'maxArchiveSize' | 'maxBundleSize' | 'maxFileSize' | 'maxFiles'>;

/** @returns the error as it is, or the same one with the flag to look at */
export function nameFlag(error: unknown, limits: Limits): unknown {
  const flag = error instanceof BundleError ? flagOf(error.code, limits) : undefined;
  if (!(error instanceof BundleError) || flag === undefined) return error;
  return new BundleError(error.kind, error.code, `${error.message} (${flag})`, { cause: error });
}

function flagOf(code: string, limits: Limits): string | undefined {
  switch (code) {
    case 'ArchiveTooLarge':
      return `--max-archive-size is ${sizeText(limits.maxArchiveSize)}`;
    case 'ContentTooLarge':
      return `--max-bundle-size is ${sizeText(limits.maxBundleSize)}`;
    case 'FileTooLarge':
      return `--max-file-size is ${sizeText(limits.maxFileSize)}`;
    case 'TooManyFiles':
      return `--max-files is ${limits.maxFiles}`;
    case 'FileLink':
      return 'give --allow-file-links if this is meant';
    default:
      return undefined;
  }
}
