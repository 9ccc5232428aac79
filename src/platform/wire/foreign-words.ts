// The words of another service, as an excerpt that people may read: one line, printable, bounded, without tokens, links and
// addresses. Refuses: bodies that are not a message, such as pages, XML and long text. Invariant: the time is bounded,
// because only the beginning of a text is read.

import { replaceEmails, replaceIpAddresses } from './address-forms.ts';
import { isRecord } from './json-text.ts';
import { printable } from './printable-text.ts';
import { plainRandomText, tokenForms } from './token-forms.ts';

/** The longest excerpt that is shown. */
export const longestExcerpt = 240;
/** Longer than the excerpt, so that a token that begins within it is found whole. */
const longestRead = 2048;
/** A message of a service is shorter. A longer text is a page or a dump. */
const longestMessage = 8192;

const hidden = '[redacted]';

/** @returns the excerpt; `undefined` where nothing is left to read */
export function excerptOf(text: string): string | undefined {
  const isCut = text.length > longestRead;
  // A token that the cut goes through would not be found.
  const start = isCut ? text.slice(0, longestRead).replace(/\S*$/, '') : text;
  const line = start.replace(/\s+/gu, ' ').trim();
  const linkless = line.replace(/\b[a-z][a-z\d+.-]{0,15}:\/\/[^\s"'<>]+/gi, withoutQuery);
  const tokenless = [...tokenForms, plainRandomText].reduce(
    (left, { pattern, isToken }) => left.replace(pattern, (found) => (isToken(found) ? hidden : found)),
    linkless,
  );
  const shown = replaceIpAddresses(
    replaceEmails(tokenless, () => hidden),
    () => hidden,
  );
  const excerpt = printable(shown, longestExcerpt);
  return /[\p{L}\p{N}]/u.test(excerpt.replaceAll(hidden, '')) ? excerpt : undefined;
}

/** A query, and what stands before the host, may be a permission. */
function withoutQuery(address: string): string {
  const [path = '', ...rest] = address.split(/[?#]/);
  const plain = path.replace(/:\/\/[^/]*@/, `://${hidden}@`);
  return rest.length === 0 ? plain : `${plain}?${hidden}`;
}

/** In the order in which they are most specific. */
const members = ['error', 'message', 'detail', 'error_description', 'reason', 'title'];

/**
 * The message in an error answer: of JSON the usual members and its details, of plain text the text itself.
 *
 * @param json the body as parsed; `undefined` where it is not JSON
 * @returns `undefined` for a page, XML, a long body and a body without a message
 */
export function messageIn(body: string, json: unknown): string | undefined {
  if (json === undefined) return body.length > longestMessage || /^\s*</.test(body) ? undefined : body;
  if (typeof json === 'string') return json;
  const found = messageOfMember(json, 0);
  if (!isRecord(json)) return found;
  const details = [json['details'], json['errors']]
    .flatMap((list) => (Array.isArray(list) ? list.slice(0, 3) : []))
    .map((one: unknown) => messageOfMember(one, 0))
    .filter((text) => text !== undefined);
  const all = [...new Set([...(found === undefined ? [] : [found]), ...details])];
  return all.length === 0 ? undefined : all.join('; ');
}

function messageOfMember(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.slice(0, longestMessage);
  if (!isRecord(value) || depth > 2) return undefined;
  for (const member of members) {
    const text = Object.hasOwn(value, member) ? messageOfMember(value[member], depth + 1) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}
