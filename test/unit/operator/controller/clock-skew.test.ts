// The difference of two clocks, from the only answers that tell the time; calls and answers pass unchanged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportApi } from '#export-api/answers.ts';
import { watchSkew } from '#operator/controller/clock-skew.ts';
import { Link } from '#platform/wire/link.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

const never = new AbortController().signal;
const unused = async () => assert.fail('not asked for');

for (const [what, skewMs, reported] of [
  ['an hour ahead', 3_600_000, [['api.example.com', 3_600_000]]],
  ['behind', -5_000, [['api.example.com', -5_000]]],
  ['unknown', undefined, []],
] as const) {
  test(`an API whose clock is ${what}`, async () => {
    const clock = steppedClock();
    const issued = {
      link: Link.parse('https://files.example.com/a?sig=1') ?? assert.fail('no link'),
      expiresAt: undefined,
      serverDate: skewMs === undefined ? undefined : clock.now() + skewMs,
      raw: {},
    };
    const api: ExportApi = {
      startJob: unused,
      readJob: unused,
      issueLink: async () => issued,
    };
    const seen: (readonly [string, number])[] = [];
    const watched = watchSkew({ connect: () => api }, clock, (...fact) => seen.push(fact));
    const connected = watched.connect(
      { baseUrl: 'https://api.example.com/prefix', project: undefined },
      'key',
    );
    assert.equal(await connected.issueLink({ jobId: 'j', idempotencyKey: 'i' }, never), issued);
    assert.deepEqual(seen, reported);
  });
}
