// The `values.yaml` of the outputs: the group `staticExport` that the vendor's chart reads, for `helm upgrade -f`.
// Invariant: every reader of YAML reads printable ASCII back as it was, and links, versions, references and digests are
// that. So each text is quoted: readers disagree about which plain texts are numbers, dates or truth values.

import { stringify } from 'yaml';

/** What the group holds; a key that is undefined is left out. */
export interface ValuesGroup {
  readonly bundleUrl?: string | undefined;
  readonly version: string;
  readonly ref?: string | undefined;
  readonly digest?: string | undefined;
}

/** The group as a document, enabled. */
export function formatValues({ bundleUrl, version, ref, digest }: ValuesGroup): string {
  const staticExport = { enabled: true, bundleUrl, version, ref, digest };
  return stringify({ staticExport }, style);
}

/** Never folded: a line for each key. */
const style = { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' } as const;
