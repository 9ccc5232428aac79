// JSON of the API server, parsed in pieces of bounded cost. Objects are a tenant's: 1.5 MiB of labels or of empty keys
// takes ten times as long to parse as 1.5 MiB of text. The cost of a text is the number of its tokens, which a scan
// counts without parsing.
// Invariant: no piece that is parsed has more than `maxTokens`; a scan's own time grows with the length alone.

import { ClusterError } from '#platform/wire/cluster-error.ts';
import { isRecord } from '#platform/wire/json-text.ts';

/** Strings, numbers and brackets of one object. A StaticExport with a full status has about 2,000. */
const maxTokens = 50_000;
/** A text of this length holds no more than that many. */
const shortText = 2 * maxTokens;

const quote = 0x22;
const backslash = 0x5c;

/** True where parsing would block the main thread. */
export function isCostly(text: string): boolean {
  if (text.length <= shortText) return false;
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    // A separator or an opening bracket stands before each token but the first.
    if (code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b) tokens += 1;
    if (tokens > maxTokens) return true;
  }
  return false;
}

/**
 * @throws {SyntaxError} for what is not JSON
 * @throws {ClusterError} `Unavailable` for an object of too many fields
 */
export function parseObject(text: string): unknown {
  if (isCostly(text)) {
    throw new ClusterError(
      'Unavailable',
      `the object has more than ${maxTokens} fields and values and is not read; remove labels, keys or managed fields`,
    );
  }
  return JSON.parse(text);
}

/** Parsed without a pause. */
const sliceChars = 256 * 1024;

/**
 * A list, item by item. An item of too many fields is left out, because one tenant's object must not end the list.
 *
 * @param pause lets other work run
 * @param onLeftOut called for each item that is left out
 * @throws as {@link parseObject}
 */
export async function parseList(
  text: string,
  pause: () => Promise<void>,
  onLeftOut: () => void,
): Promise<unknown> {
  const isSimple = text.length <= sliceChars && !isCostly(text);
  const parts = isSimple ? undefined : splitList(text);
  if (parts === undefined) return parseObject(text);
  const envelope = parseObject(parts.envelope);
  const items: unknown[] = [];
  let chars = 0;
  for (const item of parts.items) {
    if (isCostly(item)) onLeftOut();
    else items.push(JSON.parse(item));
    chars += item.length;
    if (chars < sliceChars) continue;
    chars = 0;
    await pause();
  }
  return isRecord(envelope) ? { ...envelope, items } : envelope;
}

/** A list's text without its items, and each item's text. */
export interface ListTexts {
  readonly envelope: string;
  readonly items: readonly string[];
}

/** @returns `undefined` where the text is not an object with an array `items` */
export function splitList(text: string): ListTexts | undefined {
  const items: string[] = [];
  let listFrom: number | undefined;
  let itemFrom = 0;
  let lastKey = '';
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (depth === 1) lastKey = text.slice(at + 1, end);
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      const isItems = listFrom === undefined && code === 0x5b && depth === 2 && lastKey === 'items';
      if (isItems) listFrom = itemFrom = at + 1;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (listFrom !== undefined && depth === 1) {
        addItem(items, text.slice(itemFrom, at));
        return { envelope: text.slice(0, listFrom) + text.slice(at), items };
      }
    } else if (code === 0x2c && depth === 2 && listFrom !== undefined) {
      addItem(items, text.slice(itemFrom, at));
      itemFrom = at + 1;
    }
  }
  return undefined;
}

function addItem(items: string[], text: string): void {
  if (text.trim() !== '') items.push(text);
}

/** @returns where the string that begins at `at` has its closing quote, or the text's end */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
