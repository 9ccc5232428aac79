// Schedules, versions, history and promotion gates: the small pure parts of the decision, each with its table and
// its properties.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isPinned, recordVersion } from '#operator/reconcile/history.ts';
import { dueTick, readSchedule } from '#operator/reconcile/schedule.ts';
import { judge } from '#operator/reconcile/settle/promotion.ts';
import { nameVersion } from '#operator/reconcile/settle/version.ts';
import { hashInputs, spreadOf } from '#operator/reconcile/spread.ts';
import { parseDurationMs } from '#operator/staticexport/duration.ts';
import * as fc from '../../../support/properties.ts';

const t0 = Date.UTC(2026, 0, 5, 12);
const hourMs = 3_600_000;

for (const [pattern, timeZone] of [
  ['nightly', 'UTC'],
  ['0 3 * *', 'UTC'],
  ['0 0 3 * * *', 'UTC'],
  ['61 * * * *', 'UTC'],
  ['0 0 30 2 *', 'UTC'],
  ['0 3 * * *', 'Mars/Olympus'],
  ['', 'UTC'],
] as const) {
  test(`the schedule ${JSON.stringify(pattern)} in ${timeZone} is invalid`, () => {
    assert.equal(readSchedule(pattern, timeZone).kind, 'invalid');
  });
}

test('a schedule follows its time zone over daylight saving changes', () => {
  const schedule = readSchedule('30 3 * * *', 'Europe/Berlin');
  assert.equal(schedule.kind, 'cron');
  if (schedule.kind !== 'cron') return;
  assert.equal(schedule.next(Date.UTC(2026, 2, 28)), Date.UTC(2026, 2, 28, 2, 30));
  assert.equal(schedule.next(Date.UTC(2026, 2, 29)), Date.UTC(2026, 2, 29, 1, 30));
});

test('nicknames are schedules', () => {
  for (const name of ['@hourly', '@daily', '@weekly', '@monthly', '@yearly', '@annually']) {
    assert.equal(readSchedule(name, 'UTC').kind, 'cron', name);
  }
});

const hourly = readSchedule('0 * * * *', 'UTC');
const ticks: Readonly<
  Record<string, readonly [stored: number | undefined, now: number, isBusy: boolean, tick: number]>
> = {
  'without a stored tick the next one counts': [undefined, t0 + 1000, false, t0 + hourMs],
  'a future one is kept': [t0 + hourMs, t0 + 1000, false, t0 + hourMs],
  'a missed one is due': [t0, t0 + 5 * hourMs, false, t0],
  'a missed one during a job is skipped': [t0, t0 + 1000, true, t0 + hourMs],
  'a stored time that is not a tick of this schedule is dropped': [
    t0 + 60_000,
    t0 + 120_000,
    false,
    t0 + hourMs,
  ],
  'a tick too far ahead, of a changed schedule, is dropped': [t0 + 30 * hourMs, t0, false, t0 + hourMs],
};
for (const [name, [stored, now, isBusy, tick]] of Object.entries(ticks)) {
  test(`ticks: ${name}`, () => assert.equal(dueTick(hourly, stored, now, isBusy), tick));
}

test('property: the next tick is the first after the given time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 10 ** 8 }), (minute, seconds) => {
      const schedule = readSchedule(`${minute} * * * *`, 'UTC');
      const at = t0 + seconds * 1000;
      const next = schedule.kind === 'cron' ? schedule.next(at) : undefined;
      assert.ok(next !== undefined && next > at && next <= at + hourMs);
      assert.equal(new Date(next).getUTCMinutes(), minute);
    }),
  );
});

test('property: versions sort by time, are DNS labels and never numbers', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(9999, 0) });
  const digest = fc.stringMatching(/^[0-9a-f]{64}$/);
  fc.assert(
    fc.property(time, time, digest, digest, (one, other, first, second) => {
      const [a, b] = [nameVersion(one, first, 'j'), nameVersion(other, second, 'j')];
      assert.match(a, /^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$/);
      assert.ok(Number.isNaN(Number(a)));
      if (Math.floor(one / 1000) < Math.floor(other / 1000)) assert.ok(a < b);
    }),
  );
});

test('without a digest the version is derived from the job, the same each time', () => {
  assert.equal(nameVersion(t0, undefined, 'se_1'), nameVersion(t0, undefined, 'se_1'));
  assert.notEqual(nameVersion(t0, undefined, 'se_1'), nameVersion(t0, undefined, 'se_2'));
});

const entry = (version: string) => ({ version, jobId: `job-of-${version}` });

test('property: history is bounded, keeps its order, and never loses the active or the pinned version', () => {
  const versions = fc.uniqueArray(fc.stringMatching(/^v[0-9]{1,3}$/), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      versions,
      fc.integer({ min: 1, max: 8 }),
      fc.nat(),
      fc.nat(),
      (names, limit, activeAt, pinAt) => {
        const active = names[activeAt % names.length] ?? '';
        const pin = { version: names[pinAt % names.length], jobId: undefined };
        const before = names.map(entry);
        const after = recordVersion(before, entry(active), limit, pin);
        assert.ok(after.length <= Math.max(limit, 2));
        assert.ok(after.some(({ version }) => version === active));
        assert.ok(after.some((one) => isPinned(one, pin)));
        assert.deepEqual(
          after,
          before.filter(({ version }) => after.some((one) => one.version === version)),
        );
        assert.deepEqual(recordVersion(after, entry(active), limit, pin), after);
      },
    ),
  );
});

test('a new version becomes the first, and the oldest is removed', () => {
  const after = recordVersion([entry('b'), entry('a')], entry('c'), 2, undefined);
  assert.deepEqual(
    after.map(({ version }) => version),
    ['c', 'b'],
  );
});

const rules = {
  ...{ isInspected: true, minPages: 5, needsHomePage: true, maxShrinkPercent: 50 },
  ...{ maxBundleBytes: undefined, isManual: false },
};
const judgements: Readonly<Record<string, readonly [Parameters<typeof judge>, string]>> = {
  'the same content is unchanged': [
    [{ digest: 'a', pages: 10 }, { digest: 'a', pages: 10 }, rules, false],
    'unchanged',
  ],
  'the same content is unchanged even when promoted': [
    [{ digest: 'a', pages: 10 }, { digest: 'a', pages: 10 }, rules, true],
    'unchanged',
  ],
  'a first export is promoted': [[{ digest: 'a', pages: 5 }, undefined, rules, false], 'promote'],
  'rejected content is rejected again, although the promotion gates would let it pass': [
    [
      { digest: 'b', pages: 20 },
      { digest: 'a', pages: 20 },
      rules,
      true,
      [
        { version: 'v', digest: 'c' },
        { version: 'w', digest: 'b' },
      ],
    ],
    'reject',
  ],
  'content without a digest is not compared with rejected content': [
    [{ pages: 20 }, undefined, rules, false, [{ version: 'v' }]],
    'promote',
  ],
  'too few pages are held': [[{ digest: 'a', pages: 4 }, undefined, rules, false], 'TooFewPages'],
  'an export without a home page is held': [
    [{ digest: 'a', pages: 5, notes: [{ code: 'HomePageMissing' }] }, undefined, rules, false],
    'HomePageMissing',
  ],
  'too few pages say more than a missing home page': [
    [{ digest: 'a', pages: 0, notes: [{ code: 'HomePageMissing' }] }, undefined, rules, false],
    'TooFewPages',
  ],
  'a home page is missing and need not be there': [
    [
      { pages: 9, notes: [{ code: 'HomePageMissing' }] },
      undefined,
      { ...rules, needsHomePage: false },
      false,
    ],
    'promote',
  ],
  'other notes hold nothing': [
    [{ pages: 9, notes: [{ code: 'NotServed' }] }, undefined, rules, false],
    'promote',
  ],
  'half the pages pass': [[{ digest: 'b', pages: 10 }, { digest: 'a', pages: 20 }, rules, false], 'promote'],
  'less than half are held': [
    [{ digest: 'b', pages: 9 }, { digest: 'a', pages: 20 }, rules, false],
    'PageCountDropped',
  ],
  'growth passes': [[{ digest: 'b', pages: 900 }, { digest: 'a', pages: 20 }, rules, false], 'promote'],
  'without a published version there is no shrinking': [
    [{ digest: 'b', pages: 9 }, { digest: 'a', pages: 0 }, rules, false],
    'promote',
  ],
  'a manual promotion holds': [
    [{ digest: 'b', pages: 20 }, { digest: 'a', pages: 20 }, { ...rules, isManual: true }, false],
    'AwaitingPromotion',
  ],
  'a promotion token passes every promotion gate': [
    [{ digest: 'b', pages: 0 }, { digest: 'a', pages: 20 }, { ...rules, isManual: true }, true],
    'promote',
  ],
  'an export that was not inspected passes the page gates': [
    [{}, { digest: undefined, pages: undefined }, rules, false],
    'promote',
  ],
};
for (const [name, [input, expected]] of Object.entries(judgements)) {
  test(`promotion gates: ${name}`, () => {
    const verdict = judge(...input);
    assert.equal(verdict.kind === 'hold' ? verdict.reason : verdict.kind, expected);
  });
}

test('spread is a fraction that depends on every part and on nothing else', () => {
  assert.equal(spreadOf('uid', 1, 'refresh'), spreadOf('uid', 1, 'refresh'));
  assert.notEqual(spreadOf('uid', 1, 'refresh'), spreadOf('uid', 2, 'refresh'));
  const fractions = Array.from({ length: 1000 }, (_, index) => spreadOf(`uid-${index}`, t0, 'refresh'));
  assert.ok(fractions.every((fraction) => fraction >= 0 && fraction < 1));
  const mean = fractions.reduce((sum, one) => sum + one, 0) / fractions.length;
  assert.ok(mean > 0.45 && mean < 0.55, 'a thousand resources do not refresh together');
});

test('inputs are the domain and the base URL, and no text can move between them', () => {
  const byDomain = { domain: 'a', baseUrl: 'b', project: undefined };
  const byProject = { ...byDomain, project: { id: 'p', basePath: undefined } };
  const inputs = [
    byDomain,
    { ...byDomain, domain: 'b', baseUrl: 'a' },
    { ...byDomain, baseUrl: undefined },
    { ...byDomain, baseUrl: '' },
    byProject,
    { ...byProject, project: { id: 'q', basePath: undefined } },
    { ...byProject, project: { id: 'p', basePath: '' as const } },
    { ...byProject, project: { id: 'p', basePath: '/docs' as const } },
  ];
  assert.equal(new Set(inputs.map(hashInputs)).size, inputs.length);
  assert.equal(hashInputs({ ...byProject, domain: undefined }), hashInputs(byProject));
  assert.equal(hashInputs(byDomain), createHash('sha256').update('["a","b"]').digest('hex').slice(0, 16));
});

for (const [text, ms] of [
  ['500ms', 500],
  ['30s', 30_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['1h1m1s1ms', 3_661_001],
  ['30', undefined],
  ['-1s', undefined],
  ['1.5h', undefined],
  ['1h 30m', undefined],
  ['', undefined],
] as const) {
  test(`the duration ${JSON.stringify(text)} is ${ms ?? 'none'}`, () =>
    assert.equal(parseDurationMs(text), ms));
}
