// Takes e-mail addresses, IP addresses and tokens out of turns before a sink, a report or the state sees them; their forms
// are in src/platform/wire. Each match becomes a keyed hash, so that repeats still join, and values cannot be tried without the key.

import { createHmac } from 'node:crypto';
import { replaceEmails, replaceIpAddresses } from '#platform/wire/address-forms.ts';
import { plainRandomText, tokenForms } from '#platform/wire/token-forms.ts';
import { type ReadTurn, withTexts } from './turn.ts';

export const redactionKinds = ['email', 'ip', 'token'] as const;
export type RedactionKind = (typeof redactionKinds)[number];

export interface Redaction {
  readonly kinds: readonly RedactionKind[];
  readonly key: string;
}

type Replace = (text: string, shown: (found: string) => string) => string;

const replaceTokens: Replace = (text, shown) =>
  [...tokenForms, plainRandomText].reduce(
    (left, { pattern, isToken }) => left.replace(pattern, (found) => (isToken(found) ? shown(found) : found)),
    text,
  );

/** Tokens first, because a token may hold an address. */
const rules = [
  ['token', replaceTokens],
  ['email', replaceEmails],
  ['ip', replaceIpAddresses],
] as const satisfies readonly (readonly [RedactionKind, Replace])[];

/** @returns `[email:6b1f0c2a9d3e]` in place of each match; the same value gives the same text */
export function createTextRedaction({ kinds, key }: Redaction): (text: string) => string {
  const hash = (kind: string, value: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, value.toLowerCase()]))
      .digest('hex')
      .slice(0, 12);
  const chosen = rules.filter(([kind]) => kinds.includes(kind));
  return (text) =>
    chosen.reduce(
      (left, [kind, replace]) => replace(left, (found) => `[${kind}:${hash(kind, found)}]`),
      text,
    );
}

/** @returns the turn without what the kinds name, in each text that a visitor or a page wrote */
export function createRedaction(redaction: Redaction): (turn: ReadTurn) => ReadTurn {
  if (redaction.kinds.length === 0) return (turn) => turn;
  const redact = createTextRedaction(redaction);
  return (turn) => ({
    ...withTexts(turn, redact),
    timestamp_raw: turn.timestamp_raw,
    resolution_status: turn.resolution_status,
  });
}

/** Which key was used, without a way back to it. */
export const fingerprintOf = (key: string): string =>
  createHmac('sha256', key).update('fingerprint').digest('hex').slice(0, 16);
