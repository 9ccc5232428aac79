// Whether a file begins as JSON, decided from its first bytes while the archive is read. Refuses to guess: a template that
// begins with a brace is not JSON. Invariant: no more than the first 512 bytes of a file are looked at.

/** White space before the first token beyond this is taken for a page. */
const mostBytes = 512;

const space = '[ \\t\\r\\n]*';
/** After a whole object or array comes the end, or that of the one around it. `[1] See` and `[ ] todo` are texts. */
const close = `${space}(?:$|[\\]}])`;
const object = `\\{${space}(?:"|\\}${close})`;
const value = '(?:-?\\d[\\d.eE+-]*|true|false|null)';
const array = `(?:\\[${space})+(?:"|${object}|\\]${close}|${value}${space}(?:,|\\]${close}))`;
/** A byte order mark, white space, and the first tokens of an object or array. `{{`, `{%` and `[[x` begin templates. */
const jsonStart = new RegExp(`^(?:\\u00ef\\u00bb\\u00bf)?${space}(?:${object}|${array})`);

export interface JsonStart {
  /** To be called with each piece of the file in turn; pieces beyond the first bytes cost nothing. */
  take(chunk: Uint8Array): void;
  /** Of what was taken so far. */
  isJson(): boolean;
}

/** For one file. */
export function createJsonStart(): JsonStart {
  let start = '';
  return {
    take: (chunk) => {
      if (start.length >= mostBytes) return;
      const { buffer, byteOffset, length } = chunk;
      start += Buffer.from(buffer, byteOffset, Math.min(length, mostBytes - start.length)).toString('latin1');
    },
    isJson: () => jsonStart.test(start),
  };
}
