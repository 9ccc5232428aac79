// What is shown of the source: the state of each decision, the error that stands, and words that can be acted on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Link } from '#platform/wire/link.ts';
import type { SourceDecision, SourceReading } from '#server/source/source-decision.ts';
import {
  progressAfter,
  reasonOf,
  type SourceProgress,
  type SourceState,
  sourceStates,
  startingProgress,
  stateOf,
} from '#server/source/source-progress.ts';

const at = 1_000;
const link = Link.parse('https://storage.example.com/a?X-Amz-Signature=feedc0de') ?? assert.fail();
const published = (version: string): SourceReading => ({
  kind: 'published',
  published: { version, digest: undefined, jobId: 'j', link, issuedAt: 5, expiresAt: 6 },
});
const absent: SourceReading = { kind: 'absent' };
const unreadable: SourceReading = { kind: 'unreadable', code: 'EACCES', message: 'permission denied' };
const error = { code: 'LinkExpired', message: 'the link expired', at };

const inSync: SourceDecision = { action: 'rest', because: 'in-sync' };
const noBundleJson: SourceDecision = { action: 'rest', because: 'waiting-for-bundle-json' };
const badBundleJson: SourceDecision = { action: 'rest', because: 'invalid-bundle-json' };
const deadLink: SourceDecision = { action: 'wait', because: 'waiting-for-link', waitMs: 300 };

/** With v2 published, its link dead. */
const failing: SourceProgress = {
  ...progressAfter(startingProgress, published('v2'), deadLink, at),
  lastError: error,
};

test('every decision shows as a state; serving the last good bundle changes none', () => {
  const states = [
    inSync,
    noBundleJson,
    badBundleJson,
    deadLink,
    { action: 'wait', because: 'rejected', waitMs: 1 },
    { action: 'wait', because: 'backing-off', waitMs: 1 },
    { action: 'relabel', name: { version: undefined } },
    { action: 'serve-last-good' },
  ] as const;
  assert.deepEqual(
    states.map((decision) => stateOf(decision)),
    [
      'in-sync',
      'waiting-for-bundle-json',
      'invalid-bundle-json',
      'waiting-for-link',
      'rejected',
      'backing-off',
      'in-sync',
      undefined,
    ],
  );
  const after = progressAfter(failing, absent, { action: 'serve-last-good' }, at);
  assert.equal(after.state, failing.state);
});

const lives: readonly (readonly [string, SourceReading, SourceDecision, typeof error | undefined])[] = [
  ['stands while the same is published', published('v2'), deadLink, error],
  ['is over once what is published is served', published('v2'), inSync, undefined],
  ['is over once something else is published', published('v3'), deadLink, undefined],
  ['is over once the document is gone', absent, noBundleJson, undefined],
];
for (const [what, reading, decision, wanted] of lives) {
  test(`the error of a version ${what}`, () => {
    assert.deepEqual(progressAfter(failing, reading, decision, at).lastError, wanted);
  });
}

test('the published bundle is no longer shown once bundle.json is gone or invalid', () => {
  assert.equal(failing.published?.version, 'v2');
  assert.equal(progressAfter(failing, absent, noBundleJson, at).published, undefined);
  assert.equal(progressAfter(failing, unreadable, badBundleJson, at).published, undefined);
});

test('an invalid bundle.json is an error from the first read until it is valid', () => {
  const first = progressAfter(failing, unreadable, badBundleJson, at + 1);
  assert.deepEqual(first.lastError, { code: 'EACCES', message: 'permission denied', at: at + 1 });
  const second = progressAfter(first, unreadable, badBundleJson, at + 2);
  assert.deepEqual([second.lastError?.at, second.lastCheckedAt], [at + 1, at + 2]);
  const other: SourceReading = { kind: 'unreadable', code: 'X', message: 'other words' };
  assert.equal(progressAfter(second, other, badBundleJson, at + 3).lastError?.at, at + 3);
  assert.equal(progressAfter(second, published('v2'), deadLink, at + 4).lastError, undefined);
  assert.equal(progressAfter(second, absent, noBundleJson, at + 4).lastError, undefined);
});

test('a wait shows when it ends, and nothing else does', () => {
  assert.equal(failing.retryAt, at + 300);
  assert.equal(progressAfter(failing, published('v2'), inSync, at).retryAt, undefined);
});

test('no progress holds the link', () => {
  assert.ok(!JSON.stringify(failing).includes('feedc0de'));
  assert.ok(!('link' in (failing.published ?? {})));
});

test('with --bundle-url the reason says what to do instead of waiting for a link', () => {
  const waiting: readonly SourceState[] = ['waiting-for-link', 'rejected'];
  for (const state of waiting) {
    assert.match(reasonOf(state, 'bundle-file'), /waiting for a new one|do what the last error says/);
    assert.doesNotMatch(reasonOf(state, 'bundle-url'), /waiting for/);
    assert.match(reasonOf(state, 'bundle-url'), /--bundle-url .*restart the server with/);
  }
  for (const state of sourceStates) assert.ok(reasonOf(state, 'bundle-url').length > 10, state);
});
