// What the log is told of the source: each change once, and loud where somebody should know.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../../../../src/runtime/logger.ts';
import { newsTeller } from '../../../../src/site/source/source-news.ts';
import {
  type SourceProgress,
  type SourceState,
  startingProgress,
} from '../../../../src/site/source/source-progress.ts';

const published = { version: 'v1', digest: 'd', jobId: 'j', issuedAt: undefined, expiresAt: undefined };
const progress = (state: SourceState, change: Partial<SourceProgress> = {}): SourceProgress => ({
  ...startingProgress,
  state,
  published,
  ...change,
});

/** Tells these one after another; a text is a try that comes again. */
function told(kind: 'bundle-file' | 'bundle-url', ...steps: readonly (SourceProgress | 'again')[]): string[] {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, words: string) => {
    lines.push(`${level}: ${words}`);
  };
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  };
  const tell = newsTeller(logger, kind);
  let before = startingProgress;
  for (const step of steps) {
    const after = step === 'again' ? progress('preparing') : step;
    tell(before, after, step === 'again');
    before = after;
  }
  return lines;
}

const loudness: readonly (readonly [SourceState, string])[] = [
  ['in-sync', 'info'],
  ['preparing', 'info'],
  ['backing-off', 'info'],
  ['waiting-for-link', 'warn'],
  ['unreadable-document', 'warn'],
  ['refused', 'warn'],
];
for (const [state, level] of loudness) {
  test(`${state} is told at ${level}, once`, () => {
    const lines = told('bundle-file', progress(state), progress(state), progress(state));
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith(`${level}: `), lines[0]);
  });
}

test('tries that come again and end as before are no news', () => {
  const dead = progress('waiting-for-link');
  const lines = told('bundle-file', progress('preparing'), dead, 'again', dead, 'again', dead);
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['info', 'warn', 'debug', 'debug'],
  );
});

test('the same state of another version is news again', () => {
  const other = progress('refused', { published: { ...published, version: 'v2' } });
  assert.equal(told('bundle-file', progress('refused'), other).length, 2);
});

test('no document is normal at first, and a warning once there was one', () => {
  const none = progress('waiting-for-document', { published: undefined });
  const levels = told('bundle-file', none, progress('in-sync'), none).map((line) => line.split(':')[0]);
  assert.deepEqual(levels, ['info', 'info', 'warn']);
});

test('where there is a next try, it is told when', () => {
  const seen: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => seen.push(fields) };
  newsTeller(logger, 'bundle-file')(startingProgress, progress('refused', { retryAt: 60_789 }), false);
  assert.deepEqual(seen, [
    {
      state: 'refused',
      version: 'v1',
      digest: 'd',
      jobId: 'j',
      code: undefined,
      retryAt: '1970-01-01T00:01:00Z',
    },
  ]);
});

test('a document that cannot be used says why; another reason is news', () => {
  const bad = (message: string): SourceProgress =>
    progress('unreadable-document', { published: undefined, lastError: { code: 'X', message, at: 1 } });
  const lines = told('bundle-file', bad('not JSON'), bad('not JSON'), bad('no link'));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^warn: the bundle document cannot be used.*: not JSON$/);
});
