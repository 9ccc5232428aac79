// What of a request is kept when a reader does not find something: the address without its query, or the text of a search.
// Pure. Refuses text that may say who a reader is, or that is a secret: e-mail and IP addresses, tokens, long numbers.
// Invariant: what is returned is printable, composed (NFC), and not longer than its bound.

import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { replaceEmails, replaceIpAddresses } from '#platform/wire/address-forms.ts';
import { isPrintable } from '#platform/wire/printable-text.ts';
import { plainRandomText, tokenForms } from '#platform/wire/token-forms.ts';
import { readRequestPath } from '../http/request-path.ts';

const longestAddress = 300;
const longestSearch = 200;

/**
 * The address as a browser shows it: decoded, with the base path, without query.
 *
 * @param target of the request, as received
 * @returns `undefined` for one that is too long, or that programs try and no reader opens: a name that begins with a dot, or
 *   that is hidden wherever a bundle has it
 */
export function readMissingAddress(target: string): string | undefined {
  const read = readRequestPath(target, '');
  if (read.outcome !== 'path' || read.path.length > longestAddress || read.path.includes('/.')) {
    return undefined;
  }
  const address = read.path.normalize('NFC');
  if (isHiddenFile(address.slice(1))) return undefined;
  return address.length <= longestAddress && isPrintable(address) ? address : undefined;
}

/**
 * The text of a search: trimmed, in lower case, one space between words, without hidden joiners.
 *
 * @param target of the request, as received: `/_sx/search/none?q=TEXT`
 * @returns `undefined` for a text that is empty, too long, or has control characters
 */
export function readSearchText(target: string): string | undefined {
  const typed = new URLSearchParams(target.slice(target.indexOf('?') + 1)).get('q') ?? '';
  if (typed.length > 2 * longestSearch || /\p{Cc}/u.test(typed)) return undefined;
  const text = typed
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase()
    // At the end: a hidden joiner stands between a letter and its mark, and two spellings would be two entries.
    .normalize('NFC');
  return text !== '' && text.length <= longestSearch && isPrintable(text) ? text : undefined;
}

/** Nine digits in a row, as of a telephone, a card or an account; a few separators may stand between them. */
const longNumber = /\p{Nd}(?:[ .()/-]{0,3}\p{Nd}){8}/u;

/** @param text that is bounded, because several patterns are tried */
export function isPersonalText(text: string): boolean {
  if (longNumber.test(text)) return true;
  let isFound = false;
  const find = (): string => {
    isFound = true;
    return '';
  };
  replaceEmails(text, find);
  replaceIpAddresses(text, find);
  return (
    isFound ||
    [...tokenForms, plainRandomText].some(
      ({ pattern, isToken }) => text.match(pattern)?.some(isToken) === true,
    )
  );
}
