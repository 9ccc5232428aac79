// What the server logs about its source: each change once, as a warning where a person may have to act.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '#platform/runtime/logger.ts';
import {
  progressLogger,
  type SourceProgress,
  type SourceState,
  startingProgress,
} from '#server/source/source-progress.ts';

const published = { version: 'v1', digest: 'd', jobId: 'j', issuedAt: undefined, expiresAt: undefined };
const progress = (state: SourceState, change: Partial<SourceProgress> = {}): SourceProgress => ({
  ...startingProgress,
  state,
  published,
  ...change,
});

function linesOf(kind: 'bundle-file' | 'bundle-url', ...steps: readonly SourceProgress[]): string[] {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, words: string) => {
    lines.push(`${level}: ${words}`);
  };
  const logger: Logger = { ...silentLogger, info: write('info'), warn: write('warn') };
  const log = progressLogger(logger, kind);
  let before = startingProgress;
  for (const after of steps) {
    log(before, after);
    before = after;
  }
  return lines;
}

const levels: readonly (readonly [SourceState, string])[] = [
  ['in-sync', 'info'],
  ['preparing', 'info'],
  ['backing-off', 'info'],
  ['waiting-for-link', 'warn'],
  ['invalid-bundle-json', 'warn'],
  ['rejected', 'warn'],
];
for (const [state, level] of levels) {
  test(`${state} is logged at ${level}, once`, () => {
    const lines = linesOf('bundle-file', progress(state), progress(state), progress(state));
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith(`${level}: `), lines[0]);
  });
}

test('a retry that ends as the attempt before it is not logged', () => {
  const [preparing, expired] = [progress('preparing'), progress('waiting-for-link')];
  const lines = linesOf('bundle-file', preparing, expired, preparing, expired, preparing, expired);
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['info', 'warn'],
  );
});

test('the same state of another version is logged again', () => {
  const other = progress('rejected', { published: { ...published, version: 'v2' } });
  assert.equal(linesOf('bundle-file', progress('rejected'), other).length, 2);
});

test('a missing bundle.json is normal at first, and a warning after one was read', () => {
  const none = progress('waiting-for-bundle-json', { published: undefined });
  const logged = linesOf('bundle-file', none, progress('in-sync'), none).map((line) => line.split(':')[0]);
  assert.deepEqual(logged, ['info', 'info', 'warn']);
});

test('the time of the next attempt is logged', () => {
  const seen: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => seen.push(fields) };
  progressLogger(logger, 'bundle-file')(startingProgress, progress('rejected', { retryAt: 60_789 }));
  assert.deepEqual(seen, [
    {
      state: 'rejected',
      version: 'v1',
      digest: 'd',
      jobId: 'j',
      code: undefined,
      retryAt: '1970-01-01T00:01:00Z',
    },
  ]);
});

test('an unusable bundle.json is logged with its reason; another reason is logged again', () => {
  const bad = (message: string): SourceProgress =>
    progress('invalid-bundle-json', { published: undefined, lastError: { code: 'X', message, at: 1 } });
  const lines = linesOf('bundle-file', bad('not JSON'), bad('not JSON'), bad('no link'));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^warn: bundle\.json cannot be used.*: not JSON$/);
});
