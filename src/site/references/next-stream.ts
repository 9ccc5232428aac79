// The texts of React's stream that say their length in bytes in front, `2a:T5dc,` and then 1500 bytes. A text whose addresses
// change gets another length, or its reader takes the next row for text. The stream is a file next to a page, or it is pushed
// in pieces by scripts of the page, as JavaScript strings. Never throws; stops at the first row that is none.

/** A part of the source, from its first character to the one after its last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface CountedText {
  /** Where the length stands, in hexadecimal digits. */
  readonly digits: Span;
  readonly bytes: number;
  /** Where the text stands, in one or more pieces. */
  readonly pieces: readonly Span[];
}

const pushed = '__next_f.push([1,"';
/** Tags of rows with a length: text, and binary data. */
const countedTags = 'TAOoUSsLlGgMmVb';

/** The strings that a script pushes, without their quotes. */
export function pushedSpans(source: string, from: number, to: number): readonly Span[] {
  const spans: Span[] = [];
  // Not searched beyond the script, or each script without a piece would read the rest of the page.
  const script = source.slice(from, to);
  for (let at = script.indexOf(pushed); at >= 0; at = script.indexOf(pushed, at)) {
    const start = at + pushed.length;
    at = start;
    while (at < script.length && script[at] !== '"') at += script[at] === '\\' ? 2 : 1;
    spans.push({ from: from + start, to: from + Math.min(at, script.length) });
  }
  return spans;
}

/** One character of the stream. */
interface Unit {
  readonly char: string;
  readonly span: Span;
  readonly bytes: number;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** @param spans pieces of one stream, in order. @param isEscaped as in a JavaScript string */
export function readCountedTexts(
  source: string,
  spans: readonly Span[],
  isEscaped: boolean,
): readonly CountedText[] {
  const units = readUnits(source, spans, isEscaped);
  const found: CountedText[] = [];
  const next = (): Unit | undefined => units.next().value ?? undefined;
  for (;;) {
    let unit = next();
    while (unit !== undefined && /[0-9a-f]/.test(unit.char)) unit = next();
    if (unit?.char !== ':') return found;
    unit = next();
    if (unit === undefined || !countedTags.includes(unit.char)) {
      while (unit !== undefined && unit.char !== '\n') unit = next();
      if (unit === undefined) return found;
      continue;
    }
    let digits: Span | undefined;
    let text = '';
    for (unit = next(); unit !== undefined && /[0-9a-f]/.test(unit.char) && text.length < 8; unit = next()) {
      digits = { from: digits?.from ?? unit.span.from, to: unit.span.to };
      text += unit.char;
    }
    if (digits === undefined || unit?.char !== ',') return found;
    const bytes = Number.parseInt(text, 16);
    const pieces: Span[] = [];
    let left = bytes;
    while (left > 0) {
      unit = next();
      if (unit === undefined) return found;
      left -= unit.bytes;
      const last = pieces.at(-1);
      if (last?.to === unit.span.from) pieces[pieces.length - 1] = { from: last.from, to: unit.span.to };
      else pieces.push(unit.span);
    }
    if (source.slice(digits.from, digits.to) === text) found.push({ digits, bytes, pieces });
  }
}

function* readUnits(source: string, spans: readonly Span[], isEscaped: boolean): Generator<Unit, undefined> {
  for (const { from, to } of spans) {
    for (let at = from; at < to; ) {
      const char = source[at] ?? '';
      const start = at;
      if (!isEscaped || char !== '\\') {
        at += 1;
        yield { char, span: { from: start, to: at }, bytes: 1 };
        continue;
      }
      const name = source[at + 1] ?? '';
      const code = name === 'u' ? Number.parseInt(source.slice(at + 2, at + 6), 16) : Number.NaN;
      const isCode = !Number.isNaN(code);
      at += isCode ? 6 : 2;
      const meant = isCode ? String.fromCharCode(code) : (escapes[name] ?? name);
      yield { char: meant, span: { from: start, to: at }, bytes: isCode ? utf8Bytes(code) : 1 };
    }
  }
  return undefined;
}

/** Of a UTF-16 code unit; a pair counts at its first half. */
function utf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code < 0xdc00) return 4;
  return code >= 0xdc00 && code < 0xe000 ? 0 : 3;
}
