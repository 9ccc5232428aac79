// Singer: SCHEMA before RECORD, STATE at closed windows alone, and a state that is read back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSelectedFields, singerCatalog, singerSchema } from '#conversations/sinks/singer-catalog.ts';
import { readSingerState, singerSink } from '#conversations/sinks/singer-sink.ts';
import { turnSchema } from '#conversations/turn.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

const bookmark = { windows: [{ from: 0, until: 1000, readAt: null }], stepMs: 7_200_000, cycle: 2000 };

test('a SCHEMA comes first, and a STATE only after the turns of its window', async () => {
  const lines: string[] = [];
  const sink = singerSink('docs', async (text) => void lines.push(...text.split('\n').slice(0, -1)));
  await sink.write([sampleTurn(), sampleTurn({ query: 'b' })]);
  await sink.flush();
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).type),
    ['SCHEMA', 'RECORD', 'RECORD'],
  );
  await sink.keepBookmark?.(bookmark);
  await sink.write([sampleTurn({ query: 'c' })]);
  const types = lines.map((line) => JSON.parse(line).type);
  assert.deepEqual(types.slice(3), ['STATE', 'RECORD']);
  assert.deepEqual(JSON.parse(lines[0] ?? '').key_properties, ['turn_key']);
  assert.deepEqual(readSingerState(JSON.parse(lines[3] ?? '').value), { project: 'docs', ...bookmark });
});

test('a window without turns has a STATE after the SCHEMA', async () => {
  const lines: string[] = [];
  const sink = singerSink('docs', async (text) => void lines.push(...text.split('\n').slice(0, -1)));
  await sink.keepBookmark?.(bookmark);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).type),
    ['SCHEMA', 'STATE'],
  );
});

test('the schema names each field of a turn', () => {
  assert.deepEqual(Object.keys(singerSchema().properties).sort(), Object.keys(turnSchema.shape).sort());
});

test('a state without a step and a cycle is read', () => {
  const { windows } = bookmark;
  const value = { bookmarks: { turns: { project: 'docs', windows } } };
  assert.deepEqual(readSingerState(value), { project: 'docs', windows, stepMs: undefined, cycle: undefined });
});

/** The catalog as a user's tool writes it, with these breadcrumbs not selected. */
const catalogWithout = (...breadcrumbs: readonly (readonly string[])[]): object => ({
  streams: singerCatalog.streams.map((stream) => ({
    ...stream,
    metadata: stream.metadata.map(({ breadcrumb, metadata }) => ({
      breadcrumb,
      metadata: { ...metadata, selected: !breadcrumbs.some((one) => one.join() === breadcrumb.join()) },
    })),
  })),
});

test('fields that the catalog does not select are in no message, and the key always is', async () => {
  const catalog = catalogWithout(
    ['properties', 'query'],
    ['properties', 'response'],
    ['properties', 'turn_key'],
  );
  const fields = readSelectedFields(catalog);
  const lines: string[] = [];
  const sink = singerSink('docs', async (text) => void lines.push(...text.split('\n').slice(0, -1)), fields);
  await sink.write([sampleTurn({ query: 'secret', response: 'secret' })]);
  assert.ok(!lines.join().includes('secret'));
  const [schema, record] = lines.map((line) => JSON.parse(line));
  const names = Object.keys(schema.schema.properties);
  assert.deepEqual(names.toSorted(), Object.keys(record.record).toSorted());
  assert.deepEqual(
    Object.keys(turnSchema.shape).filter((name) => !names.includes(name)),
    ['query', 'response'],
  );
});

test('a catalog as it was printed selects each field, and one without the stream none', () => {
  assert.deepEqual(
    [...(readSelectedFields(singerCatalog) ?? [])].sort(),
    Object.keys(turnSchema.shape).sort(),
  );
  assert.equal(readSelectedFields(catalogWithout([]))?.size, 0);
  assert.equal(readSelectedFields({ streams: [] })?.size, 0);
  for (const value of [undefined, {}, { streams: {} }, []])
    assert.equal(readSelectedFields(value), undefined);
});

test('a state of another tap is not read', () => {
  for (const value of [
    undefined,
    {},
    { bookmarks: {} },
    { bookmarks: { turns: { project: 'p', windows: 'x' } } },
    { bookmarks: { turns: { project: 'p', windows: [], stepMs: 'x' } } },
  ])
    assert.equal(readSingerState(value), undefined);
});
