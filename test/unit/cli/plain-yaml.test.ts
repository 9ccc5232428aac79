// YAML of people as plain data: what is refused, with its line, and that no text is a bug of the program.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { PlainYamlError, readPlainYaml } from '#cli/plain-yaml.ts';
import * as fc from '../../support/properties.ts';

test('each document is read, and data survives', () => {
  assert.deepEqual(readPlainYaml(''), []);
  assert.deepEqual(readPlainYaml('a: { b: [1, true, x, null] }\n---\n5: x\n'), [
    { a: { b: [1, true, 'x', null] } },
    { 5: 'x' },
  ]);
  fc.assert(
    fc.property(fc.object({ maxDepth: 3, values: [fc.string(), fc.boolean(), fc.integer()] }), (data) => {
      assert.deepEqual(readPlainYaml(stringify(data, { aliasDuplicateObjects: false })), [data]);
    }),
  );
});

const refusals: readonly (readonly [string, string, string, number])[] = [
  ['an alias', 'a: &a 1\nb: *a', 'ALIAS', 2],
  ['an alias of nothing', 'a: 1\nb:\n  - *nope', 'ALIAS', 3],
  ['an alias as a key', 'a: &a x\n*a : 1', 'ALIAS', 2],
  ['a merge of nothing', '%YAML 1.1\n---\n<<: 3', 'UNREADABLE', 1],
  ['a key that comes twice', 'a: 1\nb: 2\n"a": 3', 'DUPLICATE_KEY', 3],
  ['a number and a text of the same name', '1: x\n"1": y', 'DUPLICATE_KEY', 2],
  ['two keys without a name', '? \n: 1\n? ""\n: 2', 'DUPLICATE_KEY', 3],
  ['a map as a key', '? { a: 1 }\n: 2', 'KEY_NOT_TEXT', 1],
  ['a list of pairs', '%YAML 1.1\n---\n!!pairs [ { ? { a: 1 } : 2 } ]', 'KEY_NOT_TEXT', 1],
  ['lists within lists', `a:\n  ${'['.repeat(65)}${']'.repeat(65)}`, 'TOO_DEEP', 2],
  ['a list that does not end', 'a: b\nc: [', 'BAD_INDENT', 2],
];
for (const [name, text, code, line] of refusals) {
  test(`${name} is refused with its line`, () => {
    assert.throws(() => readPlainYaml(text), { code, line });
  });
}

test('a map with many keys is read', () => {
  const text = Array.from({ length: 60_000 }, (_, at) => `key${at}: 1`).join('\n');
  assert.equal(Object.keys(readPlainYaml(text)[0] ?? {}).length, 60_000);
});

test('lists without an end are an error of the text', () => {
  for (const unit of ['[', '{ a: ', '- ', '? '])
    assert.throws(() => readPlainYaml(unit.repeat(20_000)), PlainYamlError);
});

test('any text is data or an error of the text', () => {
  const part = fc.oneof(
    fc.constantFrom('a', ': ', '- ', '\n', '  ', '&a ', '*a', '[', ']', '{', '}', ',', '? ', '"', "'", '|\n'),
    fc.constantFrom('!!set ', '!!binary ', '!!x', '%YAML 1.1\n', '---\n', '...\n', '<<: ', '#', '1', '~'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      try {
        readPlainYaml(parts.join(''));
      } catch (error) {
        assert.ok(error instanceof PlainYamlError && error.line >= 1);
      }
    }),
    { numRuns: 1000 },
  );
});
