// The `Host` of a request (RFC 9112 §3.2): there, once, and of a form that names a host. What it names is no part of
// any look-up. It is checked because a proxy and this server may read different hosts from one request.

/** RFC 3986 §3.2.2, §3.2.3: a name, an address, or one in brackets, and a port; the empty text is allowed. */
const form = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::\d*)?$/;

export function isHostValue(value: string): boolean {
  return form.test(value);
}

/**
 * @param rawHeaders names and values in turns
 * @param isRequired false for HTTP/1.0, which knew no such field
 */
export function isHostWellFormed(rawHeaders: readonly string[], isRequired: boolean): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    count += 1;
    if (count > 1 || !isHostValue(rawHeaders[at + 1] ?? '')) return false;
  }
  return count === 1 || !isRequired;
}
