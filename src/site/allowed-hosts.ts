// Hosts from which a site may load, as a user names them: `cdn.example.com`, `cdn.example.com:8443`, `*.example.com` for all
// names below, or `*` for every host. Refuses addresses and paths. A name is compared as browsers write it, without the usual
// port.

/** @returns the host in its one form; `undefined` for another text */
export function readAllowedHost(text: string): string | undefined {
  if (text === '*') return text;
  const [, wildcard = '', name = ''] = /^(\*\.)?([^\s/?#@\\*]{1,255})$/.exec(text) ?? [];
  if (name === '') return undefined;
  // A usual port is left out under one scheme alone.
  const url = URL.parse(`http://${name}/`);
  const host = url?.host.replace(/:443$/, '') ?? '';
  return host === '' ? undefined : `${wildcard}${host}`;
}

/** @param allowed as {@link readAllowedHost} returns them. @param host of a URL */
export function allowsHost(allowed: readonly string[], host: string): boolean {
  return allowed.some(
    (one) => one === '*' || (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one),
  );
}
