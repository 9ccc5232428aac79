// Turns: the key and the hash of every row, and rows with missing or odd fields.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  contentHash,
  earlierHashes,
  readTurn,
  turnKey,
  turnSchema,
  utcText,
  withTexts,
} from '#conversations/turn.ts';
import { readConversationPage } from '#export-api/conversation-answers.ts';
import * as fc from '../../support/properties.ts';

const sent = {
  id: 'c1',
  timestamp: '2026-11-01T10:00:00+01:00',
  query: 'How do I log in?',
  response: 'With a key.',
  sources: [{ title: 'Login', url: 'https://docs.example.com/login' }],
  queryCategory: 'How-To',
  pageUrl: 'https://docs.example.com/start',
  resolutionStatus: 'answered',
};

function turnOf(row: unknown, project = 'p') {
  const page = readConversationPage({ conversations: [row], nextCursor: null, hasMore: false });
  const [first] = page?.rows ?? [];
  assert.ok(first);
  return readTurn(first, project);
}

test('a turn has its time in UTC, and as it was sent', () => {
  const turn = turnOf(sent);
  assert.equal(turn.timestamp, '2026-11-01T09:00:00.000Z');
  assert.equal(turn.timestamp_raw, sent.timestamp);
});

test('a row of any shape becomes a turn that the schema accepts', () => {
  const check = (row: unknown): void => {
    const turn = turnOf(row);
    turnSchema.parse({
      ...turn,
      turn_key: turnKey(turn, 0),
      content_hash: contentHash(turn),
      change: 'insert',
      observed_at: '2026-11-26T00:00:00.000Z',
    });
  };
  fc.assert(fc.property(fc.jsonValue(), check));
  const field = fc.oneof(fc.jsonValue(), fc.date().map(String), fc.integer(), fc.constant(undefined));
  const keys = Object.keys(sent).map((key) => [key, field] as const);
  fc.assert(fc.property(fc.record(Object.fromEntries(keys)), check));
});

for (const [timestamp, expected] of [
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01 10:00:00', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00.123456Z', '2026-11-01T10:00:00.123Z'],
  [1_793_527_200, '2026-11-01T10:00:00.000Z'],
  [1_793_527_200_000, '2026-11-01T10:00:00.000Z'],
  ['yesterday', null],
  ['', null],
  [null, null],
  [{}, null],
] as const) {
  test(`the timestamp ${JSON.stringify(timestamp)} becomes ${expected}`, () => {
    assert.equal(turnOf({ ...sent, timestamp }).timestamp, expected);
  });
}

test('an instant that no table can hold is null', () => {
  assert.equal(utcText(8.64e15), null);
  assert.equal(utcText(undefined), null);
  assert.equal(utcText(0), '1970-01-01T00:00:00.000Z');
});

test('project, id, timestamp and query are the key; the ordinal keeps twins apart', () => {
  const first = turnOf(sent);
  const others = [
    turnKey(first, 1),
    turnKey(turnOf(sent, 'q'), 0),
    turnKey(turnOf({ ...sent, id: 'c2' }), 0),
    turnKey(turnOf({ ...sent, timestamp: '2026-11-01T09:00:00Z' }), 0),
    turnKey(turnOf({ ...sent, query: 'How' }), 0),
    turnKey(turnOf({ ...sent, query: undefined }), 0),
  ];
  assert.equal(new Set([turnKey(first, 0), ...others]).size, 7);
  const late = turnOf({
    ...sent,
    queryCategory: null,
    resolutionStatus: undefined,
    response: 'x',
    sources: null,
  });
  assert.equal(turnKey(late, 0), turnKey(first, 0));
});

test('each field outside of the key changes the content hash', () => {
  const changes = [
    { response: 'x' },
    { queryCategory: null },
    { resolutionStatus: undefined },
    { pageUrl: null },
    { sources: null },
    { sources: [{ title: 'Login', url: 'https://docs.example.com/other' }] },
  ];
  const hashes = changes.map((change) => contentHash(turnOf({ ...sent, ...change })));
  assert.equal(new Set([contentHash(turnOf(sent)), ...hashes]).size, changes.length + 1);
});

test('hashes of earlier forms stay as they were, so that a new column makes no delivered turn an update', () => {
  const first = createHash('sha256')
    .update(
      JSON.stringify(['With a key.', 'How-To', 'answered', sent.pageUrl, 'Login', sent.sources[0]?.url]),
    )
    .digest('hex');
  assert.equal(contentHash(turnOf(sent), 1), first);
  assert.deepEqual(earlierHashes(turnOf(sent), 2), [first]);
});

test('texts are changed in the order of every table', () => {
  const turn = turnOf(sent);
  const changed = withTexts(turn, (text) => text.toUpperCase());
  assert.deepEqual(Object.keys(changed), Object.keys(turn));
  assert.equal(changed.query, 'HOW DO I LOG IN?');
});
