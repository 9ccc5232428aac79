// The decision as a table: what is published, what is served, how the last try went, and what follows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import { Link } from '#platform/wire/link.ts';
import {
  type ContentName,
  decideSource,
  type FailedAttempt,
  identityOf,
  maxRefusals,
  noteSourceFailure,
  type SourceDecision,
  type SourceInput,
  servedRefusalFactor,
} from '#server/source/source-decision.ts';

/** Monotonic. */
const now = 86_400_000;
const link = (name: string): Link => Link.parse(`https://storage.example.com/${name}?sig=1`) ?? assert.fail();
const first = link('first');
const fresh = link('fresh');

const published = (change: Partial<ServedBundle> = {}): ServedBundle => ({
  version: 'v2',
  digest: 'd2',
  jobId: 'j2',
  link: first,
  issuedAt: Date.parse('2026-11-21T09:00:00Z'),
  expiresAt: Date.parse('2026-11-21T10:00:00Z'),
  ...change,
});
const unnamed = published({ version: undefined, digest: undefined, jobId: undefined });
const onlyVersion = published({ digest: undefined });
const content = (digest: string, version?: string): ContentName => ({ digest, version });
const failedTry = (change: Partial<FailedAttempt> = {}): FailedAttempt => ({
  identity: identityOf(published()),
  link: first,
  kind: 'transient',
  count: 1,
  refusals: 0,
  failedAt: now - 1000,
  waitMs: 2000,
  ...change,
});

interface Row {
  readonly name: string;
  readonly published?: ServedBundle;
  readonly facts?: Partial<SourceInput>;
  readonly decision: SourceDecision;
}

const obtain = (wanted: ServedBundle): SourceDecision => ({ action: 'obtain', published: wanted });
const inSync: SourceDecision = { action: 'rest', because: 'in-sync' };
const lastGood: SourceDecision = { action: 'serve-last-good' };

const rows: readonly Row[] = [
  { name: 'nothing served and nothing on disk: fetch', decision: obtain(published()) },
  { name: 'what is published is served: rest', facts: { active: content('d2', 'v2') }, decision: inSync },
  {
    name: 'the same content on a fresh link: rest, whatever its clock says',
    published: published({ link: fresh, expiresAt: 0 }),
    facts: { active: content('d2', 'v2'), settledLink: first },
    decision: inSync,
  },
  {
    name: 'the same version on a fresh link, nobody inspected it: rest',
    published: published({ digest: undefined, link: fresh }),
    facts: { active: content('d2', 'v2'), settledLink: first },
    decision: inSync,
  },
  {
    name: 'the same content under another version: only the name changes',
    published: published({ version: 'v3' }),
    facts: { active: content('d2', 'v2') },
    decision: { action: 'relabel', name: { version: 'v3', basePath: undefined } },
  },
  {
    name: 'the same version for a base path that is newly named: only the name changes',
    published: published({ basePath: '/docs' }),
    facts: { active: content('d2', 'v2') },
    decision: { action: 'relabel', name: { version: 'v2', basePath: '/docs' } },
  },
  {
    name: 'the same version for another base path: only the name changes',
    published: published({ basePath: '/documentation' }),
    facts: { active: { ...content('d2', 'v2'), basePath: '/docs' } },
    decision: { action: 'relabel', name: { version: 'v2', basePath: '/documentation' } },
  },
  {
    name: 'the same version and base path: rest',
    published: published({ basePath: '' }),
    facts: { active: { ...content('d2', 'v2'), basePath: '' } },
    decision: inSync,
  },
  { name: 'other content: fetch', facts: { active: content('d1', 'v1') }, decision: obtain(published()) },
  {
    name: 'other content under the same version: the digest decides, fetch',
    facts: { active: content('d1', 'v2') },
    decision: obtain(published()),
  },
  {
    name: 'another version, nobody inspected it: fetch',
    published: onlyVersion,
    facts: { active: content('d1', 'v1') },
    decision: obtain(onlyVersion),
  },
  {
    name: 'a link without a name that was fetched: rest',
    published: unnamed,
    facts: { active: content('d1'), settledLink: first },
    decision: inSync,
  },
  {
    name: 'a changed link without a name: fetch',
    published: unnamed,
    facts: { active: content('d1'), settledLink: fresh },
    decision: obtain(unnamed),
  },
  {
    name: 'at start, the published content is on disk: serve it',
    facts: { lastGood: content('d2', 'v1') },
    decision: lastGood,
  },
  {
    name: 'at start, the published version is on disk: serve it',
    published: onlyVersion,
    facts: { lastGood: content('d1', 'v2') },
    decision: lastGood,
  },
  {
    name: 'at start, other content is on disk: fetch first',
    facts: { lastGood: content('d1', 'v1') },
    decision: obtain(published()),
  },
  {
    name: 'at start, a link without a name: serve what is on disk, then fetch',
    published: unnamed,
    facts: { lastGood: content('d1') },
    decision: lastGood,
  },
  {
    name: 'at start, the published link has expired: the last good bundle stays up',
    facts: { lastGood: content('d1', 'v1'), failed: failedTry({ kind: 'expired-link' }) },
    decision: lastGood,
  },
  {
    name: 'at start, the network is down: the last good stays up',
    facts: { lastGood: content('d1', 'v1'), failed: failedTry() },
    decision: lastGood,
  },
  {
    name: 'at start, the archive was rejected: the last good stays up',
    facts: { lastGood: content('d1', 'v1'), failed: failedTry({ kind: 'rejected', refusals: 1 }) },
    decision: lastGood,
  },
  {
    name: 'at start, an older failure was about other content: fetch',
    facts: { lastGood: content('d1', 'v1'), failed: failedTry({ identity: 'other' }) },
    decision: obtain(published()),
  },
  {
    name: 'a failed fetch is tried again after its wait',
    facts: { failed: failedTry({ failedAt: now - 2000 }) },
    decision: obtain(published()),
  },
  {
    name: 'and not before',
    facts: { failed: failedTry() },
    decision: { action: 'wait', because: 'backing-off', waitMs: 1000 },
  },
  {
    name: 'a fresh link ends the wait',
    published: published({ link: fresh }),
    facts: { failed: failedTry() },
    decision: obtain(published({ link: fresh })),
  },
  {
    name: 'an expired link waits for a new one, with the old version up',
    facts: { active: content('d1', 'v1'), failed: failedTry({ kind: 'expired-link' }) },
    decision: { action: 'wait', because: 'waiting-for-link', waitMs: 1000 },
  },
  {
    name: 'a new link after an expired one: fetch',
    published: published({ link: fresh }),
    facts: { failed: failedTry({ kind: 'expired-link' }) },
    decision: obtain(published({ link: fresh })),
  },
  {
    name: 'a rejected archive is tried again after its wait, while nothing is served',
    facts: { failed: failedTry({ kind: 'rejected', refusals: maxRefusals, failedAt: now - 2000 }) },
    decision: obtain(published()),
  },
  {
    name: 'and not before',
    facts: { failed: failedTry({ kind: 'rejected', refusals: 1 }) },
    decision: { action: 'wait', because: 'rejected', waitMs: 1000 },
  },
  {
    name: 'a rejected archive is tried far more seldom while something is served',
    facts: { active: content('d1', 'v1'), failed: failedTry({ kind: 'rejected', refusals: 1 }) },
    decision: { action: 'wait', because: 'rejected', waitMs: 2000 * servedRefusalFactor - 1000 },
  },
  {
    name: 'but it is tried',
    facts: {
      active: content('d1', 'v1'),
      failed: failedTry({ kind: 'rejected', refusals: 9, failedAt: now - 2000 * servedRefusalFactor }),
    },
    decision: obtain(published()),
  },
  {
    name: 'a rejected archive on a fresh link may have been packed again: fetch',
    published: published({ link: fresh }),
    facts: {
      active: content('d1', 'v1'),
      failed: failedTry({ kind: 'rejected', refusals: maxRefusals - 1 }),
    },
    decision: obtain(published({ link: fresh })),
  },
  {
    name: 'but not on every one',
    published: published({ link: fresh }),
    facts: { active: content('d1', 'v1'), failed: failedTry({ kind: 'rejected', refusals: maxRefusals }) },
    decision: { action: 'wait', because: 'rejected', waitMs: 2000 * servedRefusalFactor - 1000 },
  },
  {
    name: 'a refused link without a name: only another link is another archive, and then always',
    published: { ...unnamed, link: fresh },
    facts: {
      active: content('d1'),
      failed: failedTry({ identity: identityOf(unnamed), kind: 'rejected', refusals: maxRefusals }),
    },
    decision: obtain({ ...unnamed, link: fresh }),
  },
  {
    name: 'and the same link waits',
    published: unnamed,
    facts: {
      active: content('d1'),
      failed: failedTry({ identity: identityOf(unnamed), kind: 'rejected', refusals: 1 }),
    },
    decision: { action: 'wait', because: 'rejected', waitMs: 2000 * servedRefusalFactor - 1000 },
  },
  {
    name: 'a rejected archive that was replaced: fetch',
    published: published({ version: 'v3', digest: 'd3', jobId: 'j3' }),
    facts: { failed: failedTry({ kind: 'rejected', refusals: maxRefusals }) },
    decision: obtain(published({ version: 'v3', digest: 'd3', jobId: 'j3' })),
  },
  {
    name: 'a roll-back to what is served after a refusal: rest',
    facts: { active: content('d2', 'v2'), failed: failedTry({ identity: 'other', kind: 'rejected' }) },
    decision: inSync,
  },
];

test('what to do, by what is published, served and remembered', () => {
  for (const row of rows) {
    const facts: SourceInput = {
      reading: { kind: 'published', published: row.published ?? published() },
      active: undefined,
      lastGood: undefined,
      settledLink: undefined,
      failed: undefined,
      monotonicMs: now,
      ...row.facts,
    };
    assert.deepEqual(decideSource(facts), row.decision, row.name);
  }
});

test('a missing or invalid bundle.json stops nothing, and the last good bundle is served', () => {
  const readings = [
    [{ kind: 'absent' }, 'waiting-for-bundle-json'],
    [{ kind: 'unreadable', code: 'X', message: 'x' }, 'invalid-bundle-json'],
  ] as const;
  for (const [reading, because] of readings) {
    const none = {
      active: undefined,
      lastGood: undefined,
      settledLink: undefined,
      failed: undefined,
      monotonicMs: now,
    };
    assert.deepEqual(decideSource({ ...none, reading }), { action: 'rest', because });
    assert.deepEqual(decideSource({ ...none, reading, active: content('d1') }), { action: 'rest', because });
    assert.deepEqual(decideSource({ ...none, reading, lastGood: content('d1') }), lastGood);
  }
});

test('waits grow to a minute, spread by a quarter, and start again with other content', () => {
  let failed: FailedAttempt | undefined;
  const waits: number[] = [];
  for (let tries = 0; tries < 9; tries += 1) {
    failed = noteSourceFailure(failed, published(), 'transient', now, 0.5);
    waits.push(failed.waitMs);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  assert.equal(noteSourceFailure(undefined, published(), 'transient', now, 0).waitMs, 750);
  assert.equal(noteSourceFailure(failed, published({ version: 'v3' }), 'transient', now, 0.5).count, 1);
  assert.equal(noteSourceFailure(failed, published({ link: fresh }), 'transient', now, 0.5).count, 10);
});

test('refusals of one content are counted across its links', () => {
  let failed: FailedAttempt | undefined;
  for (const one of [first, fresh])
    failed = noteSourceFailure(failed, published({ link: one }), 'rejected', now, 0.5);
  assert.equal(failed?.refusals, 2);
});

test('a rejected archive waits five to fifteen minutes, in every spread', () => {
  for (const fraction of [0, 0.5, 0.999]) {
    const { waitMs } = noteSourceFailure(undefined, published(), 'rejected', now, fraction);
    assert.ok(waitMs >= 5 * 60_000 && waitMs <= 15 * 60_000, `${waitMs} ms`);
  }
});

test('a full store is retried after a quarter of an hour or more, and a new link changes nothing', () => {
  for (const fraction of [0, 0.5, 0.999]) {
    const failed = noteSourceFailure(undefined, published(), 'no-room', now, fraction);
    assert.ok(failed.waitMs >= 15 * 60_000, `${failed.waitMs} ms`);
    const facts = {
      active: undefined,
      lastGood: undefined,
      settledLink: undefined,
      failed,
      monotonicMs: now,
    };
    const reading = { kind: 'published', published: published({ link: fresh }) } as const;
    const decision = { action: 'wait', because: 'store-full', waitMs: failed.waitMs };
    assert.deepEqual(decideSource({ ...facts, reading }), decision);
  }
});
