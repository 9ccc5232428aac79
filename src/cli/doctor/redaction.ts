// Takes keys and links out of text that leaves the cluster for a support case. The report is made of chosen fields; this is
// the second line, for text that people and programs wrote. Pure. Refuses nothing: text without secrets stays as it is.

const redacted = '[redacted]';

/** A URL to something that may be private: with a user, a query or a fragment. */
const privateUrl = /\b([a-z][a-z0-9+.-]{0,20}):\/\/(?:[^\s"'<>\\/@]*@)?([^\s"'<>\\/?#@]*)[^\s"'<>\\]*/gi;
const secrets: readonly RegExp[] = [
  /\bsvc_[\w.~+/=-]+/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // What is left of a signed link without its scheme.
  /\b(?:X-Amz-[A-Za-z]+|X-Goog-[A-Za-z]+|Signature|sig|token|access_token|apiKey|api_key|password|secret)=[^\s&"']+/gi,
];

/** The same text without keys, tokens, and links that have a query. */
export function redactText(text: string): string {
  const withoutLinks = text.replace(privateUrl, (url, scheme: string, host: string) =>
    /[?#@]/.test(url) ? `${scheme}://${host}/${redacted}` : url,
  );
  return secrets.reduce((left, pattern) => left.replace(pattern, redacted), withoutLinks);
}

/** Every text within a JSON value. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, redactValue(one)]));
}

/** Flags whose value is shown: the others may name what is private. */
const shownFlag =
  /^--(?:lease|watch|instance|workers|admin-listen|listen|log-level|request-timeout|inspect|reconcile|max|allow|bundle-file|store|keep|base-path|deployment-type|readiness|memory|poll|startup|drain|peers|api-base-url|cluster-timeout|encoding|fast-path|access-log)/;

/** The arguments of a container: flags of this project's programs with their values, others by name alone. */
export function redactArgs(args: readonly string[]): readonly string[] {
  return args.map((arg) => {
    if (shownFlag.test(arg) || /^[a-z-]{1,32}$/.test(arg)) return redactText(arg);
    return arg.startsWith('--') && arg.includes('=')
      ? `${arg.slice(0, arg.indexOf('='))}=${redacted}`
      : redacted;
  });
}
