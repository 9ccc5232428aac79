// Parses start, status and bundle answers of any shape. Pure: parsed JSON in, typed values out. Owns the tolerance:
// open status, odd or missing progress and counts, unreadable expiry. Unknown fields of a job are kept in `raw`. Invariant:
// returns `undefined` (never throws) when the answer lacks the requested value.

import * as z from 'zod';
import { messageIn } from '#platform/wire/foreign-words.ts';
import { Link } from '#platform/wire/link.ts';
import { isPrintable, printable } from '#platform/wire/printable-text.ts';
import type { IssuedLink, JobOutcome, JobReport } from './answers.ts';
import { readForeignInstant } from './instants.ts';
import { containsSecret, shownWords } from './secret-text.ts';

/** The limit of the resource's status field. */
const longestState = 64;

const statusObject = z.object({ code: z.string() });

/** The members of a JSON object; `undefined` for anything else. */
export function membersOf(body: unknown): Readonly<Record<string, unknown>> | undefined {
  return isMembers(body) ? body : undefined;
}

/** Reads no member, because an answer may have very many. */
function isMembers(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/**
 * True for text that can be one path segment and is safe to show: printable, at most 512 characters, and not a dot
 * segment. URL parsers on the way would resolve a dot segment, encoded or not.
 */
export function isIdentifier(text: string): boolean {
  return text.trim() !== '' && text.length <= 512 && isPrintable(text) && !/^\.{1,2}$/.test(text);
}

/**
 * The id of a started job: `jobId` of the body or, if the body has none, the last segment of a `Location` that
 * names a job. A number is converted to text. Status shows the id, so an id that contains a secret is not usable.
 *
 * @param key the API key; empty for none
 */
export function readJobId(body: unknown, location: string | undefined, key = ''): string | undefined {
  const claimed = membersOf(body)?.['jobId'];
  const text = typeof claimed === 'number' && Number.isFinite(claimed) ? String(claimed) : claimed;
  const jobId = typeof text === 'string' ? text : jobIdOfLocation(location);
  return jobId !== undefined && isIdentifier(jobId) && !containsSecret(jobId, key) ? jobId : undefined;
}

function jobIdOfLocation(location: string | undefined): string | undefined {
  const segment = /\/static-export\/(?:[^/?#]+\/)?jobs\/([^/?#]+)\/?$/.exec(location ?? '')?.[1];
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * A state that contains a secret anywhere is `unknown`, because the shown part may end within a key.
 *
 * @param key the API key; empty for none
 */
export function readJobReport(body: unknown, key = ''): JobReport | undefined {
  const members = membersOf(body);
  if (members === undefined) return undefined;
  const status = readStatus(members['status']);
  const outcome = outcomeOf(status.toLowerCase());
  return {
    outcome,
    state: containsSecret(status, key) ? 'unknown' : printable(status, longestState).trim() || 'unknown',
    progress: readPercent(members['progress']),
    pageCount: readCount(members['pageCount']),
    ...(outcome === 'failed' && { said: shownWords(messageIn('', body), key) }),
    raw: body,
  };
}

function readStatus(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  const coded = statusObject.safeParse(value);
  return coded.success ? coded.data.code.trim() : '';
}

function outcomeOf(status: string): JobOutcome {
  return status === 'completed' || status === 'failed' ? status : 'unfinished';
}

/**
 * Progress as percent, 0–100. A number is percent, except one strictly between 0 and 1, which is a ratio
 * (0.42 → 42; the integer 1 stays one percent). Text: `42`, `0.42`, `42 %` (always percent), `3/10`, `3 of 10`.
 * Out of range is clamped. Anything else is `undefined`.
 */
export function readPercent(value: unknown): number | undefined {
  if (typeof value === 'number') return clampPercent(value > 0 && value < 1 ? value * 100 : value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const fraction = /^(\d{1,12})\s*(?:\/|of)\s*(\d{1,12})$/.exec(text);
  if (fraction !== null) return clampPercent((Number(fraction[1]) / Number(fraction[2])) * 100);
  const plain = /^(-?\d{1,12}(?:\.\d{1,20})?)\s*(%?)$/.exec(text);
  if (plain === null) return undefined;
  return plain[2] === '%' ? clampPercent(Number(plain[1])) : readPercent(Number(plain[1]));
}

function clampPercent(percent: number): number | undefined {
  if (Number.isNaN(percent)) return undefined;
  return Math.min(100, Math.max(0, Math.round(percent * 100) / 100));
}

/** A count of pages: a number of at least 0 (its whole part), or such a number as text. */
export function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  if (typeof count !== 'number' || !(count >= 0)) return undefined;
  const whole = Math.floor(count);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

/**
 * @param serverDate epoch ms of the response's `Date`
 * @returns `undefined` when `bundleUrl` is not an absolute http(s) URL; a `file:` URL from a service is refused
 */
export function readIssuedLink(body: unknown, serverDate: number | undefined): IssuedLink | undefined {
  const members = membersOf(body);
  const link = Link.parse(members?.['bundleUrl']);
  if (link === undefined || link.protocol === 'file:') return undefined;
  // Where it is given, an archive of another length is not the one that was exported.
  const claimedBytes = readCount(members?.['sizeBytes']) || undefined;
  return {
    link: link.ofBytes(claimedBytes),
    expiresAt: readForeignInstant(members?.['expiresAt']),
    serverDate,
  };
}
