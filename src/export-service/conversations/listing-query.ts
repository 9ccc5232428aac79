// The query of the conversation listing: checks all parameters at once, so that a 400 names every error. Pure. A
// repeated parameter is an error; a parameter that the specification does not name is ignored.

import * as z from 'zod';
import { pageLimits, ulidPattern } from '#export-api/contract.ts';
import { ApiRefusal } from '../api-refusal.ts';

export interface ListingQuery {
  /** Epoch ms, inclusive. */
  readonly dateFrom: number | undefined;
  /** Epoch ms, exclusive. */
  readonly dateTo: number | undefined;
  readonly limit: number;
  /** ULID in upper case: the last conversation already seen. */
  readonly cursor: string | undefined;
}

/** @throws {ApiRefusal} 400 with one detail per fault */
export function readListingQuery(parameters: URLSearchParams): ListingQuery {
  const faults: string[] = [];
  const take = <T>(name: string, expected: string, read: (text: string) => T | undefined): T | undefined => {
    const [text, ...others] = parameters.getAll(name);
    if (text === undefined) return undefined;
    const value = others.length > 0 ? undefined : read(text);
    if (value === undefined) faults.push(`${name} must be ${expected}${others.length > 0 ? ', once' : ''}`);
    return value;
  };
  const dateForm = 'an ISO 8601 date-time or YYYY-MM-DD';
  const query = {
    dateFrom: take('dateFrom', dateForm, parseDateBound),
    dateTo: take('dateTo', dateForm, parseDateBound),
    limit: take('limit', `a whole number from ${pageLimits.minimum} to ${pageLimits.maximum}`, readLimit),
    cursor: take('cursor', 'a ULID taken from nextCursor', (text) =>
      ulidPattern.test(text) ? text.toUpperCase() : undefined,
    ),
  };
  if (faults.length > 0) throw new ApiRefusal(400, 'invalid query parameters', { details: faults });
  return { ...query, limit: query.limit ?? pageLimits.default };
}

function readLimit(text: string): number | undefined {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return limit >= pageLimits.minimum && limit <= pageLimits.maximum ? limit : undefined;
}

const dateForms = z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })]);

/**
 * An ISO 8601 date-time, or a bare date, which is that day's start in UTC. A date-time without a zone is UTC.
 * @returns epoch ms, or `undefined` for other text and for a date that is on no calendar
 */
function parseDateBound(text: string): number | undefined {
  const iso = text
    .toUpperCase()
    .replace(',', '.')
    // zod requires seconds where there is a zone; ISO 8601 does not.
    .replace(/T\d\d:\d\d(?!:)/, '$&:00')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  if (!dateForms.safeParse(iso).success) return undefined;
  return Date.parse(/^[^T]*$|Z$|[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`);
}
