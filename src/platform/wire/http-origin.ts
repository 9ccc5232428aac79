// The origin of an http(s) URL (scheme, host and port) in one spelling, and the short form that users write. `host`
// is https on 443, `host:port` is https on that port, and http must be written out. Pure. Refuses: wildcards,
// paths, credentials, and IPv6 addresses without brackets.

const entryForm = /^(?:(https?):\/\/)?([^\s/?#@\\*%:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

/** @returns such as `https://api.example.com:8443`; `undefined` for text that is not an http(s) URL or has credentials */
export function readHttpOrigin(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return undefined;
  // One trailing dot names the same host; two do not.
  return `${protocol}//${hostname.replace(/(?<=[^.])\.$/, '')}${port === '' ? '' : `:${port}`}`;
}

/** @returns the origin that the entry names; `undefined` for text that is not an entry */
export function readOriginEntry(entry: string): string | undefined {
  const match = entryForm.exec(entry);
  if (match === null) return undefined;
  const [, scheme = 'https', host = '', port] = match;
  return readHttpOrigin(`${scheme}://${host}${port === undefined ? '' : `:${port}`}`);
}

/** The shortest entry that names an origin of {@link readHttpOrigin}. */
export function shortOriginEntry(origin: string): string {
  return origin.replace(/^https:\/\//, '');
}
