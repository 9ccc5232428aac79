// An HTML page in place of a redirect of the origin, because a file server cannot redirect. Its links are relative, so
// that it works under any prefix. Invariant: the same target gives the same bytes.

/**
 * @param source percent-encoded path of the address that redirected
 * @param target percent-encoded path it leads to; with its fragment, if any
 */
export function redirectStub(source: string, target: string, fragment: string): Uint8Array {
  const href = escapeHtml(`${relativePath(source, target)}${fragment}`);
  return Buffer.from(
    `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>Redirecting</title>
<meta http-equiv="refresh" content="0; url=${href}">
<meta name="robots" content="noindex">
<link rel="canonical" href="${href}">
</head>
<body><p>This page is at <a href="${href}">${href}</a>.</p></body>
</html>
`,
  );
}

/** From one path to another, always starting with `./` or `../`, so that no segment reads as a scheme. */
function relativePath(source: string, target: string): string {
  const from = source.split('/').slice(1, -1);
  const to = target.split('/').slice(1);
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared += 1;
  const up = '../'.repeat(from.length - shared);
  return `${up === '' ? './' : up}${to.slice(shared).join('/')}`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
