// Which text is not UTF-8, as its first bytes say: a BOM, the declaration of a page, style sheet or XML file, or bytes that
// UTF-8 does not have. A `charset` in the header overrules what a page declares, so such text is sent without one.
// Refuses to guess the other encoding: the browser reads the declaration itself.

/** Browsers look for a declaration in so many bytes. */
export const declarationBytes = 1024;

const parameter = '; charset=utf-8';

/** True for a type that names the encoding of its text. */
export function namesCharset(contentType: string): boolean {
  return contentType.endsWith(parameter);
}

/**
 * The type without its `charset` where the text is not UTF-8.
 *
 * @param start of the file, at most {@link declarationBytes}
 */
export function typeOfText(contentType: string, start: Buffer): string {
  return isUtf8(contentType, start) ? contentType : contentType.slice(0, -parameter.length);
}

function isUtf8(contentType: string, start: Buffer): boolean {
  const declared = markedCharset(start) ?? declaredEncoding(contentType, start.toString('latin1'));
  return declared === undefined ? !start.includes(0) && isWellFormed(start) : declared === 'utf-8';
}

/**
 * Whether a browser finds this encoding by itself, where the text is sent without a `charset`, or overrules the header.
 *
 * @param media type without parameters
 * @param start of the file, at most {@link declarationBytes}
 */
export function declaresCharset(media: string, start: Buffer, charset: string): boolean {
  // A browser looks into a plain text or a program for nothing else.
  const mayDeclare = /html$|css$|xml$/.test(media);
  return (
    markedCharset(start) !== undefined ||
    (mayDeclare && declaredEncoding(media, start.toString('latin1')) === charset)
  );
}

/**
 * Whether ASCII that is added to a text between two of its tags is the same ASCII to a browser.
 *
 * @param contentType of the file, with the charset that its export kept
 * @param start of the file, at most {@link declarationBytes}
 */
export function isAsciiCompatible(contentType: string, start: Buffer): boolean {
  const kept = namesCharset(contentType) ? undefined : /; charset=(.*)$/.exec(contentType)?.[1];
  const encoding =
    markedCharset(start) ?? kept ?? declaredEncoding(contentType, start.toString('latin1')) ?? 'utf-8';
  return !/^(?:utf-16|iso-2022-jp)/.test(encoding) && !start.includes(0);
}

/** By a byte order mark. Browsers believe it more than a header. */
function markedCharset([first, second, third]: Buffer): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** The last character may be cut off. */
function isWellFormed(start: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function declaredEncoding(contentType: string, text: string): string | undefined {
  if (contentType.startsWith('text/html')) return declaredByPage(text);
  const [, label] = (contentType.startsWith('text/css') ? ofStyles : ofXml).exec(text) ?? [];
  return label === undefined ? undefined : encodingOf(label);
}

const ofStyles = /^@charset "([^"]*)";/;
const ofXml = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)["']/;
const comment = /<!--.*?(?:-->|$)/gs;
const meta = /<meta[\s/]((?:"[^"]*"|'[^']*'|[^"'>])*)>/gi;
const attribute = /([^\s=/>"']+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/g;

/** As the HTML standard's prescan: the first `meta` that names an encoding, outside of comments. */
function declaredByPage(text: string): string | undefined {
  for (const [, attributes = ''] of text.replace(comment, '').matchAll(meta)) {
    const values = new Map<string, string>();
    for (const [, name = '', ...quoted] of attributes.matchAll(attribute)) {
      const lower = name.toLowerCase();
      if (!values.has(lower)) values.set(lower, quoted.find((value) => value !== undefined) ?? '');
    }
    const isAboutType = values.get('http-equiv')?.toLowerCase() === 'content-type';
    const ofContent = isAboutType
      ? /charset\s*=\s*["']?\s*([^\s"';]+)/i.exec(values.get('content') ?? '')
      : null;
    const encoding = encodingOf(values.get('charset') ?? ofContent?.[1] ?? '');
    // Bytes that spell the declaration are not UTF-16, and browsers take them for UTF-8.
    if (encoding !== undefined) return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  }
  return undefined;
}

/** `undefined` for a label that browsers do not know, which they pass over. */
function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
