// E-mail and IP addresses in foreign text, each by its own grammar. Owns what distinguishes them from versions, times and
// names in code. Refuses patterns whose time grows faster than the text. Invariant: letters, digits and escapes next to an
// address do not hide it, because text within text is escaped: `\n10.0.0.1`, `%2010.0.0.1`.

import { isIPv6 } from 'node:net';
import { isRecord } from './json-text.ts';

/** @returns what takes the place of an address */
type Shown = (address: string) => string;

const word = String.raw`[\p{L}\p{N}._%+-]`;
/** RFC 5322 §3.2.3: further signs, within a local part alone, because around it they are punctuation. */
const sign = "['!#$*^{|}~]";
/** As itself, full width, or escaped for a URL, JSON or HTML. */
const at = String.raw`(?:@|＠|%40|\\u0040|\\x40|&#0?64;|&#x0?40;|&commat;)`;
const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?`;
/** The last label has letters alone: `name@1.2.x` is a version. Or an address in brackets. */
const domain = String.raw`(?:(?:${label}\.){1,8}(?:\p{L}{2,63}|xn--[\p{L}\p{N}-]{1,59})|\[(?:IPv6:)?[\da-f.:]{2,45}\])`;
/** What an escape leaves before a local part. */
const escaped = String.raw`(?<before>(?<=\\)(?:[abfnrtv]|u[\da-f]{4}|x[\da-f]{2})|(?:%[\da-f]{2}){1,3})`;
const email = new RegExp(
  String.raw`(?<!${word}|${word}${sign}{1,8})${escaped}?(?<address>${word}+(?:${sign}{1,8}${word}+)*${sign}{0,8}${at}${domain})|(?<quoted>"[^"\\\r\n]{1,64}"${at}${domain})`,
  'giu',
);

export function replaceEmails(text: string, shown: Shown): string {
  return text.replace(email, (...match: readonly unknown[]) => {
    const groups = match.at(-1);
    const of = (name: string): string =>
      isRecord(groups) && typeof groups[name] === 'string' ? groups[name] : '';
    return `${of('before')}${shown(of('address') || of('quoted'))}`;
  });
}

/** Digits of an escape before it are not a part of it. `v1.2.3.4` and `1.2.3.4-rc1` are versions. */
const ipv4 =
  /(?:(?<!\d|\d\.|(?<![\p{L}\p{N}])v)|(?<=%[\da-f]{2}|\\x[\da-f]{2}|\\u[\da-f]{4}))(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d|[-.]?(?:rc|alpha|beta|dev|post)\d?)/giu;
/** Wider than RFC 4291 §2.2: the match is checked, and shortened, until it is an address. */
const ipv6 = /(?:[\da-f]{1,4}:|:(?=:))(?:[\da-f]{0,4}:){1,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f]{0,4})/gi;
/** Global, unique local, link-local, mapped and translated addresses: `::` of a name in code has none of them. */
const certain = /^(?:[23][\da-f]{3}|f[cd][\da-f]{2}|fe[89ab][\da-f]|64:ff9b):|^::(?:ffff:)?\d{1,3}\./i;
const whole = /^(?:[\da-f]{1,4}:){7}[\da-f]{1,4}$/i;

export function replaceIpAddresses(text: string, shown: Shown): string {
  const isBeside = (place: number): boolean => /[\p{L}\p{N}_]/u.test(text.charAt(place));
  const pattern = new RegExp(ipv6);
  let done = '';
  let at = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found] = match;
    const { index } = match;
    const address = ipv6Within(found);
    const end = index + address.length;
    const isAfterWord = isBeside(index - 1);
    const isKnown = certain.test(address) || (!isAfterWord && whole.test(address));
    const isCode = text.startsWith('::', end) || text.slice(0, index).endsWith('::');
    if (address === '' || isCode || ((isAfterWord || isBeside(end)) && !isKnown)) {
      // The end of a word may be hexadecimal: `source:2001:db8::1`.
      pattern.lastIndex = index + found.indexOf(':') + 1;
      continue;
    }
    done += replaceIpv4(text.slice(at, index), shown) + shown(address);
    at = end;
    pattern.lastIndex = end;
  }
  return done + replaceIpv4(text.slice(at), shown);
}

const replaceIpv4 = (text: string, shown: Shown): string =>
  text.replace(ipv4, (match) =>
    match.split('.').every((part) => Number(part) <= 255) ? shown(match) : match,
  );

/** @returns the longest beginning that is an address; empty where there is none */
function ipv6Within(match: string): string {
  for (let end = match.length; end > 2; ) {
    const beginning = match.slice(0, end);
    if (isIPv6(beginning) && beginning !== '::') return beginning;
    // Without its last group, and then without the colon before it.
    const last = Math.max(beginning.lastIndexOf(':'), beginning.lastIndexOf('.'));
    end = last === end - 1 ? last : last + 1;
  }
  return '';
}
