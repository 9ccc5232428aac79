// Takes keys and links out of text that leaves the cluster for a support case. The report is made of chosen fields; this is
// the second line, for text that people and programs wrote. Pure. In doubt it takes out too much: of a URL only scheme and
// host stay, and of a pair whose name speaks of a secret only the name. Text within text may be escaped, so that no pattern
// asks for a boundary before a secret.

import { operatorProgram } from '#operator/flags.ts';
import { flagName } from '#platform/runtime/flags/flags.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { tokenForms } from '#platform/wire/token-forms.ts';

const redacted = '[redacted]';

/** Also with `\/`, `\u002f` and `%2F`. A quote ends it, a backslash does not. */
const url =
  /([a-z][a-z0-9+.-]{0,20})(?::|%3a|\\+u003a)(?:\\*\/|%2f|\\+u002f){2}((?:[^\s"<>`\\]|\\+(?!["\\]))*)/gi;
/** Host and port where neither a user nor an escape is before the path. */
const authority =
  /^([a-z0-9.-]+(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?)(?=$|\\*[/?#]|[,;.!)'\]}]+$)(.*)$/is;

const nameOfSecret =
  '(?:(?:secret|token|passw|passphrase|pwd|signature|credential|auth(?!or(?!i))|cookie|key|x-(?:amz|goog)-)[\\w.-]{0,60}|sig)';
const separator = String.raw`\\*["']?\]?\s*(?:[:=]+>?|%3[ad]|\\+u003[ad])\s*`;
/**
 * In quotes up to the same quote, with all that is escaped once more; a list; a block of YAML; a word. A word ends before
 * the name of another secret, whose value would stay otherwise.
 */
const value = String.raw`(?:(?<quote>\\*)"(?:[^"\\]|\\+(?![\\"])|(?!\k<quote>")\\+")*\\*"?|'[^']*'?|[[{][^\]}]*[\]}]?|[|>][-+]?(?:\s|\\+[nrt])+\S+|(?:(?!${nameOfSecret}${separator})\S)*)`;

const secrets: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  new RegExp(String.raw`(?<label>(?:authorization|cookie)${separator})[^\r\n]+`, 'gi'),
  /(?<label>(?:Bearer|Basic)(?:\s|\\+[nrt]|\\+u00[0-9a-f]{2}|%20|\+)+)[^\s"]+/gi,
  // After tokens with a scheme, whose scheme alone would be the value.
  new RegExp(`(?<label>${nameOfSecret}${separator})${value}`, 'gi'),
  /(?<label>)svc_[^\s"]+/g,
  /(?<label>)eyJ[\w-]{1,1000}\.[\w.-]+/g,
];

/** The same text without keys, tokens, and what follows the host in URLs. Text that is JSON stays JSON. */
export function redactText(text: string): string {
  const document = parseDocument(text);
  if (document !== undefined) return JSON.stringify(redactValue(document));
  // Before URLs: what looks like one may hold the name of a secret whose value stands after it.
  const unnamed = secrets.reduce((left, pattern) => left.replace(pattern, replacementOf), text);
  return tokenForms
    .reduce(
      (left, { pattern, isToken }) => left.replace(pattern, (found) => (isToken(found) ? redacted : found)),
      unnamed,
    )
    .replace(url, (_, scheme: string, rest: string) => redactUrl(scheme, rest))
    .replace(/[\w+=-]{40,}/g, (word) => (isRandom(word) ? redacted : word));
}

function replacementOf(...match: readonly unknown[]): string {
  const groups = match.at(-1);
  const label = isRecord(groups) ? groups['label'] : undefined;
  return `${typeof label === 'string' ? label : ''}${redacted}`;
}

function redactUrl(scheme: string, rest: string): string {
  const withoutUser = rest.replace(/^[^/?#\\]*@/, '');
  const [, host, path = ''] = authority.exec(withoutUser) ?? [];
  if (host === undefined) return `${scheme}://${redacted}`;
  const isWhole = /^\/?[,;.!)'\]}]*$/.test(path) && rest === withoutUser;
  return isWhole ? `${scheme}://${rest}` : `${scheme}://${host}/${redacted}`;
}

/** Letters of both cases and digits, as in most tokens; a digest has one case. */
const isRandom = (word: string): boolean => /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word);

/** @returns `undefined` for what is not an object or a list */
function parseDocument(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

/** A log: lines of JSON one by one, and lines between them together, because a private key has several. */
export function redactLines(lines: readonly string[]): readonly string[] {
  const done: string[] = [];
  let texts: string[] = [];
  const finish = (): void => {
    if (texts.length > 0) done.push(redactText(texts.join('\n')));
    texts = [];
  };
  for (const line of lines) {
    if (parseDocument(line) === undefined) {
      texts.push(line);
      continue;
    }
    finish();
    done.push(redactText(line));
  }
  finish();
  return done;
}

const secretMember = new RegExp(`${nameOfSecret}$`, 'i');

/** Every text within a JSON value, and all that a member has whose name speaks of a secret; a reference is none. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      redactText(name),
      secretMember.test(name) && !/refs?$/i.test(name) && isGiven(one) ? redacted : redactValue(one),
    ]),
  );
}

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && typeof value !== 'boolean';

const programs: ReadonlySet<string> = new Set(['operator', 'bundle-server', 'export-service']);
/** Whether each is given with a value. No flag of the operator has a secret for a value. */
const shownFlags: ReadonlyMap<string, boolean> = new Map([
  ...Object.entries(operatorProgram.flags).map(
    ([key, { placeholder }]) => [`--${flagName(key)}`, placeholder !== undefined] as const,
  ),
  // Of every program.
  ['--log-level', true],
]);

/** The arguments of an operator's container: its program, and its own flags with their values. */
export function redactArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    if (programs.has(arg)) return arg;
    const [flag = '', ...values] = arg.split('=');
    if (shownFlags.has(flag)) return values.length === 0 ? flag : `${flag}=${redactText(values.join('='))}`;
    const isValue = shownFlags.get(args[at - 1] ?? '') === true && !arg.startsWith('-');
    return isValue ? redactText(arg) : redacted;
  });
}
