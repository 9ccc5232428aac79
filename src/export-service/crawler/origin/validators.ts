// What an origin says of the bytes of a body, so that the next crawl may ask whether they changed. Owns which validators count.
// Refuses a Last-Modified that the same second could contradict, and text that no request could carry. Pure. Invariant: a
// condition has only what an answer had.

import { type HttpHead, headerOf, serverDateOf } from '#platform/http/exchange.ts';
import { parseHttpDate } from '#platform/wire/retry-after.ts';

/** As received; at least one of them. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

const entityTag = /^(?:W\/)?"[\x21\x23-\x7e]{0,1022}"$/;
/** A date of HTTP has whole seconds: a body that changes twice in one may keep it (RFC 9110 §8.8.2.2). */
const surelyOlderMs = 1000;

/** @returns `undefined` where the answer has no validator that counts */
export function validatorsOf(answer: Pick<HttpHead, 'headers'>): Validators | undefined {
  const tag = headerOf(answer, 'etag')?.trim() ?? '';
  const etag = entityTag.test(tag) ? tag : undefined;
  const date = headerOf(answer, 'last-modified')?.trim() ?? '';
  const modifiedAt = parseHttpDate(date);
  const ageMs = (serverDateOf(answer) ?? 0) - (modifiedAt ?? 0);
  const lastModified = modifiedAt !== undefined && ageMs >= surelyOlderMs ? date : undefined;
  return (etag ?? lastModified) === undefined ? undefined : { etag, lastModified };
}

/** Headers of a request; an origin that knows entity tags ignores the date (RFC 9110 §13.1.3). */
export function conditionHeaders({ etag, lastModified }: Validators): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}
