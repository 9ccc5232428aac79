// The `values.yaml` of the outputs: the group `staticExport` that the vendor's chart reads, for `helm upgrade -f`. Each
// reconcile compares both outputs with it, and the library takes a third of a millisecond for such a text.
// Refuses: any other YAML. Invariant: each text is read back as it was, by YAML 1.1 and 1.2.

/** What the group holds; a key that is undefined is left out. */
export interface ValuesGroup {
  readonly bundleUrl?: string | undefined;
  readonly version: string;
  readonly ref?: string | undefined;
  readonly digest?: string | undefined;
}

/** The group as a document, enabled. */
export function formatValues({ bundleUrl, version, ref, digest }: ValuesGroup): string {
  const keys = Object.entries({ bundleUrl, version, ref, digest });
  const given = keys.flatMap(([key, text]) =>
    text === undefined ? [] : [`  ${key}: ${formatScalar(text)}\n`],
  );
  return `staticExport:\n  enabled: true\n${given.join('')}`;
}

/** Addresses, versions and digests: no space, no quote, no comment, no end of a key. */
const plainText = /^[A-Za-z0-9][\w./:?&=%+~@-]*[\w/=]$/;
/** What YAML 1.1 or 1.2 reads as a number, a truth value or nothing. */
const otherType =
  /^(?:\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?|e[-+]?\d+|0x[\da-f_]+|0o[0-7]+|0b[01_]+|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|true|false|yes|no|on|off|null|\d{4}-\d\d?-\d\d?.*)$/i;

/** A text of JSON is one of YAML too. */
function formatScalar(text: string): string {
  return plainText.test(text) && !otherType.test(text) ? text : JSON.stringify(text);
}
