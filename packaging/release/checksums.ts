// The sums of a release, in the form that `sha256sum --check` reads, and their signature, which `minisign -V` verifies. Pure.
// One order and one form, so that the same files give the same bytes.

import { type SignKey, signBytes } from '#mirror/kit/minisign.ts';
import { checksumsFile } from './release-files.ts';

export interface FileSum {
  readonly name: string;
  readonly sha256: string;
}

export function formatChecksums(sums: readonly FileSum[]): string {
  const lines = sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  return lines.sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1)).join('');
}

/** As the first line of the signature names it. */
export const signedSubject = 'a static-export-operator release';

/** The signature names file and version, and no time: the same key gives the same bytes. */
export const signChecksums = (text: string, version: string, key: SignKey): string =>
  signBytes(Buffer.from(text), `file:${checksumsFile} version:${version}`, key, signedSubject);
