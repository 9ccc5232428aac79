// JSON in pieces of bounded cost: a costly text is recognised without parsing, and a list is split into its items.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCostly, parseList, parseObject, splitList } from '#operator/kube/transport/bounded-json.ts';
import * as fc from '../../../../support/properties.ts';

const members = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":""`).join(',')}}`;

test('many members and deep nesting are costly, long texts are not', () => {
  assert.equal(isCostly(members(100_000)), true);
  assert.equal(isCostly(`[${'[],'.repeat(100_000)}[]]`), true);
  assert.equal(isCostly(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), true);
  assert.equal(isCostly(members(5_000)), false);
  assert.equal(isCostly(JSON.stringify({ text: '{":[,'.repeat(300_000) })), false);
  assert.equal(isCostly(JSON.stringify({ text: '\\"'.repeat(300_000) })), false);
});

test('an object of too many fields is refused with the remedy, any other is parsed', () => {
  assert.throws(() => parseObject(members(100_000)), {
    code: 'Unavailable',
    message: /^the object has more than 50000 fields and values and is not read; remove labels/,
  });
  assert.deepEqual(parseObject('{"a":1}'), { a: 1 });
  assert.throws(() => parseObject('{'), SyntaxError);
});

test('a short text is never costly, whatever it holds', () => {
  fc.assert(fc.property(fc.json(), (text) => assert.equal(isCostly(text), false)));
});

test('a list comes apart into its envelope and its items, whatever they hold', () => {
  const item = fc.object({ maxDepth: 3, withNullPrototype: false });
  const list = fc.record({
    apiVersion: fc.string(),
    items: fc.array(item),
    kind: fc.string(),
    metadata: fc.object({ maxDepth: 2, key: fc.constantFrom('items', 'continue', 'a') }),
  });
  fc.assert(
    fc.property(list, fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const parts = splitList(text);
      assert.ok(parts);
      const plain: unknown = JSON.parse(text);
      assert.deepEqual(
        { ...JSON.parse(parts.envelope), items: parts.items.map((one) => JSON.parse(one)) },
        plain,
      );
      assert.deepEqual(JSON.parse(parts.envelope).items, []);
    }),
  );
});

test('what is not a list has no parts, and no text makes splitting throw', () => {
  for (const text of [
    '',
    '[]',
    '{}',
    '{"items":{}}',
    '{"a":{"items":[1]}}',
    '{"items":[1',
    '{"a":"items"}',
  ]) {
    assert.equal(splitList(text), undefined, text);
  }
  fc.assert(fc.property(fc.string(), (text) => void splitList(text)));
});

test('a long list is parsed with pauses, without its costly items; a short one at once', async () => {
  const ordinary = { note: 'x'.repeat(100_000) };
  const text = `{"kind":"L","items":[${JSON.stringify(ordinary)},${members(60_000)},${Array(9).fill(JSON.stringify(ordinary)).join()}],"metadata":{}}`;
  let pauses = 0;
  let leftOut = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
  };
  const list = await parseList(text, pause, () => {
    leftOut += 1;
  });
  assert.deepEqual(list, { kind: 'L', items: Array(10).fill(ordinary), metadata: {} });
  assert.equal(leftOut, 1);
  assert.ok(pauses >= 4, `${pauses} pauses`);
  assert.deepEqual(await parseList('{"items":[1]}', pause, assert.fail), { items: [1] });
  await assert.rejects(parseList(members(60_000), pause, assert.fail), { code: 'Unavailable' });
});

test('a list as short as a costly object of its own loses that object alone', async () => {
  for (const count of [13_000, 15_000, 17_000]) {
    const costly = `{${Array.from({ length: count }, (_, at) => `"${at}":{"":[]}`).join(',')}}`;
    const text = `{"items":[{"a":1},${costly},{"a":2}]}`;
    assert.ok(text.length > 100_000 && text.length < 300_000, `${text.length}`);
    let leftOut = 0;
    const list = await parseList(
      text,
      async () => {},
      () => {
        leftOut += 1;
      },
    );
    assert.deepEqual([list, leftOut], [{ items: [{ a: 1 }, { a: 2 }] }, 1]);
  }
});
