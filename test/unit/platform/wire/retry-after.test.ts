import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '#platform/wire/retry-after.ts';
import * as fc from '../../../support/properties.ts';

// Anywhere but in GMT, so that a date without a zone cannot be right by luck.
process.env['TZ'] = 'America/New_York';

const now = Date.parse('2026-11-21T10:00:00Z');
const thirtyDaysMs = 30 * 24 * 3_600_000;

const rows: readonly (readonly [string, string | null | undefined, number | undefined])[] = [
  ['seconds', '120', 120_000],
  ['zero seconds', '0', 0],
  ['seconds with blanks around', ' 7 ', 7000],
  ['an HTTP date in the future', 'Sat, 21 Nov 2026 10:02:00 GMT', 120_000],
  ['an HTTP date in the past is now', 'Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['an obsolete date form (RFC 850)', 'Saturday, 21-Nov-26 10:01:00 GMT', 60_000],
  ['a very long wait is limited', '99999999999', thirtyDaysMs],
  ['an HTTP date without a zone is in GMT', 'Sat, 21 Nov 2026 10:02:00', 120_000],
  ['the asctime form', 'Sat Nov 21 10:02:00 2026', 120_000],
  ['a negative number is ignored', '-5', undefined],
  ['a fraction is ignored', '1.5', undefined],
  ['a word is ignored', 'soon', undefined],
  ['an ISO date is ignored', '2026-11-21T10:02:00Z', undefined],
  ['empty', '', undefined],
  ['absent', undefined, undefined],
  ['null, as fetch gives it', null, undefined],
];

for (const [name, value, wanted] of rows) {
  test(`Retry-After: ${name}`, () => assert.equal(parseRetryAfter(value, now), wanted));
}

test('for any header the wait is absent, or between zero and thirty days', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), (value, at) => {
      const wait = parseRetryAfter(value, at);
      assert.ok(wait === undefined || (wait >= 0 && wait <= thirtyDaysMs));
    }),
  );
});
