// No input of a tenant, an export API or a site keeps a program's main thread from everybody else: each parser there has
// a bound on the bytes, the members or the steps that it takes. Time is for test/bench/main-thread.ts, which runs the
// same inputs; what is counted here does not depend on the machine.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestBundleJson, parseServedBundle } from '#bundle/published-bundle.ts';
import { membersOf, readJobReport } from '#export-api/job-answers.ts';
import { longestAnswerBytes } from '#export-api/refusals.ts';
import { maxPageBytes } from '#operator/kube/objects/resource-list.ts';
import { readSchedule } from '#operator/reconcile/schedule.ts';
import { worstInputs } from '../bench/worst-inputs.ts';

/** How often a date was made from its parts: what the search for a tick does at every step. */
function datesMadeBy(search: () => void): number {
  const { UTC } = Date;
  let made = 0;
  Date.UTC = (...parts) => {
    made += 1;
    return UTC(...parts);
  };
  try {
    search();
  } finally {
    Date.UTC = UTC;
  }
  return made;
}

const neverDue = [
  '59 23 8-31 * +0#1,1#1,2#1,3#1,4#1,5#1,6#1',
  '59 23 1-28 * +0#5,1#5,2#5,3#5,4#5,5#5,6#5',
  '0 0 10W * +0',
  '* * 1-20 * +5#L',
  '59 23 31 2,4,6,9,11 +0',
  '0 0 30 2 *',
];
for (const pattern of neverDue) {
  test(`a schedule that is never due is found so in few steps: ${pattern}`, () => {
    let kind = '';
    const made = datesMadeBy(() => {
      ({ kind } = readSchedule(pattern, 'UTC'));
    });
    assert.equal(kind, 'invalid');
    assert.ok(made < 100_000, `${made} dates`);
  });
}

test('a schedule that is due once in decades is one, and its next tick is found in few steps', () => {
  for (const weekday of [0, 1, 2, 3, 4, 5, 6]) {
    const schedule = readSchedule(`0 0 29 2 +${weekday}`, 'UTC');
    assert.ok(schedule.kind === 'cron', `weekday ${weekday}`);
    let next: number | undefined;
    const made = datesMadeBy(() => {
      next = schedule.next(Date.UTC(2080, 2, 1));
    });
    const tick = new Date(next ?? Number.NaN);
    assert.deepEqual([tick.getUTCMonth(), tick.getUTCDate(), tick.getUTCDay()], [1, 29, weekday]);
    assert.ok(made < 100_000, `${made} dates`);
  }
  for (const pattern of ['@daily', '@yearly', ' 0 3 * * * ', '0 3 LW * *', '0 0 1 1 +0#1']) {
    assert.equal(readSchedule(pattern, 'Europe/Berlin').kind, 'cron', pattern);
  }
});

test('an answer of the export API is at most 128 KiB, and only the members that are known are looked at', () => {
  assert.ok(longestAnswerBytes <= 128 * 1024);
  const members = { status: 'running', progress: 7, pageCount: 2 };
  const looked: PropertyKey[] = [];
  const body = new Proxy<Record<string, unknown>>(members, {
    get: (target, name) => {
      looked.push(name);
      return Reflect.get(target, name);
    },
    ownKeys: () => assert.fail('all members were asked for'),
  });
  assert.equal(membersOf(body), body);
  assert.equal(readJobReport(body)?.state, 'running');
  assert.deepEqual([...new Set(looked)].sort(), ['pageCount', 'progress', 'status']);
});

test('a bundle.json that is longer than any the operator writes is rejected before it is parsed', () => {
  assert.ok(longestBundleJson <= 256 * 1024);
  const { parse } = JSON;
  JSON.parse = () => assert.fail('it was parsed');
  try {
    assert.throws(() => parseServedBundle('['.repeat(longestBundleJson + 1)), {
      code: 'InvalidBundleJson',
      message: /longer than 262144 characters/,
    });
  } finally {
    JSON.parse = parse;
  }
});

for (const { name, prepare } of worstInputs) {
  test(`is read to its end, and within the bytes that it may have: ${name}`, async () => {
    const { bytes, read } = prepare();
    await read();
    assert.ok(bytes <= (name.startsWith('page of a list') ? maxPageBytes : 1.5 * 1024 * 1024));
  });
}
