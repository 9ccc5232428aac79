// Takes e-mail addresses, IP addresses and tokens out of turns before a sink, a report or the state sees them. Owns the
// patterns. Each match becomes a keyed hash, so that repeats still join, and values cannot be tried without the key. Refuses
// patterns whose time grows faster than the text.

import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { ReadTurn } from './turn.ts';

export const redactionKinds = ['email', 'ip', 'token'] as const;
export type RedactionKind = (typeof redactionKinds)[number];

export interface Redaction {
  readonly kinds: readonly RedactionKind[];
  readonly key: string;
}

interface Rule {
  readonly pattern: RegExp;
  /** Whether a match of the pattern is one. */
  readonly isMatch: (text: string) => boolean;
}

const always = (): boolean => true;
const isRandom = (text: string): boolean => /\d/.test(text) && /[a-z]/i.test(text);

/** A token before an address, because a token may hold one. Each lookbehind starts a match once in a run of characters. */
const rules: Readonly<Record<RedactionKind, readonly Rule[]>> = {
  token: [
    { pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END|$)/g, isMatch: always },
    { pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g, isMatch: always },
    { pattern: /(?<=\bBearer\s)[\w.~+/=-]{8,}/gi, isMatch: always },
    {
      pattern:
        /(?<![A-Za-z0-9])(?:svc_|sk-|sk_|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|npm_|pypi-|hf_|dop_v1_|AKIA|ASIA|AIza|ya29\.|whsec_)[\w.-]{8,}/g,
      isMatch: always,
    },
    { pattern: /(?<![A-Za-z0-9+=])[A-Za-z0-9+=]{32,}/g, isMatch: isRandom },
  ],
  email: [
    {
      // %40 is the sign in an address of the web, where forms put what a visitor wrote.
      pattern:
        /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+(?:@|%40)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
      isMatch: always,
    },
  ],
  ip: [
    { pattern: /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g, isMatch: isIPv4 },
    {
      pattern: /(?<![\w:.])(?=[\da-f:]{0,39}:)[\da-f:]{2,39}(?:\.\d{1,3}){0,3}(?![\w:])/gi,
      isMatch: (text) => isIPv6(text) && /[\da-f]/i.test(text),
    },
  ],
};
const order: readonly RedactionKind[] = ['token', 'email', 'ip'];

/** @returns `[email:6b1f0c2a9d3e]` in place of each match; the same value gives the same text */
export function createTextRedaction({ kinds, key }: Redaction): (text: string) => string {
  const hash = (kind: string, value: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, value.toLowerCase()]))
      .digest('hex')
      .slice(0, 12);
  const chosen = order.filter((kind) => kinds.includes(kind));
  return (text) => {
    let left = text;
    for (const kind of chosen) {
      for (const { pattern, isMatch } of rules[kind]) {
        left = left.replace(pattern, (found) => (isMatch(found) ? `[${kind}:${hash(kind, found)}]` : found));
      }
    }
    return left;
  };
}

/** @returns the turn without what the kinds name, in each text that a visitor or a page wrote */
export function createRedaction(redaction: Redaction): (turn: ReadTurn) => ReadTurn {
  if (redaction.kinds.length === 0) return (turn) => turn;
  const redact = createTextRedaction(redaction);
  const redactOrNull = (text: string | null): string | null => (text === null ? null : redact(text));
  return (turn) => ({
    ...turn,
    conversation: redactOrNull(turn.conversation),
    query: redactOrNull(turn.query),
    response: redactOrNull(turn.response),
    category: redactOrNull(turn.category),
    page_url: redactOrNull(turn.page_url),
    sources: turn.sources.map(({ title, url }) => ({ title: redact(title), url: redact(url) })),
  });
}

/** Which key was used, without a way back to it. */
export const fingerprintOf = (key: string): string =>
  createHmac('sha256', key).update('fingerprint').digest('hex').slice(0, 16);
