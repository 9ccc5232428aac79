// Which first bytes are those of JSON: a file that is taken for data counts as no page, so templates and texts must not be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJsonStart } from '#bundle/archive/json-start.ts';

const bom = '\u00ef\u00bb\u00bf';
const isJson = (text: string, pieceBytes = 4096): boolean => {
  const bytes = Buffer.from(text, 'latin1');
  const start = createJsonStart();
  for (let at = 0; at < bytes.length; at += pieceBytes) start.take(bytes.subarray(at, at + pieceBytes));
  return start.isJson();
};

for (const [what, text, wanted] of [
  ['an object', '{"user":null}', true],
  ['an object of several lines', '{\r\n\t "user": 1}', true],
  ['an empty object', '{}', true],
  ['an empty array', '[ ]', true],
  ['an array of objects', '[\n  {"a": 1}]', true],
  ['an array of arrays', '[[1, 2], [3]]', true],
  ['an array of numbers', '[-1.5e3, 2]', true],
  ['an array of one text', '["a"]', true],
  ['an array of a literal', '[null]', true],
  ['a mark and white space before it', `${bom} \n {"a":1}`, true],
  ['nothing', '', false],
  ['a document', '<!doctype html><script>{"a":1}</script>', false],
  ['a document after white space', '\n\n<html>', false],
  ['a template of braces', '{{ page.title }}', false],
  ['a template of statements', '{% include "head.html" %}', false],
  ['a template of comments', '{# note #}', false],
  ['a script', '{ a: 1 }', false],
  ['a link of a wiki', '[[Start]]', false],
  ['a reference', '[1] See the guide', false],
  ['a task', '[ ] Write a page', false],
  ['an empty object before a text', '{} is empty', false],
  ['an array of an empty object', '[{}]', true],
  ['an array of one number', '[1]\n', true],
  ['a text in brackets', '[draft] A page', false],
  ['a literal in a text', '[null] is nothing', false],
  ['a text of JSON', '"a"', false],
  ['a number', '7', false],
  ['white space up to the bound', `${' '.repeat(510)}{}`, true],
  ['white space beyond the bound', `${' '.repeat(512)}{}`, false],
] as const) {
  test(`${what} is ${wanted ? '' : 'not '}the start of JSON, in one piece and byte by byte`, () => {
    assert.deepEqual([isJson(text), isJson(text, 1), isJson(text, 3)], [wanted, wanted, wanted]);
  });
}

test('a piece that its reader uses again changes nothing', () => {
  const start = createJsonStart();
  const piece = Buffer.from('{"a');
  start.take(piece);
  piece.fill('<');
  start.take(Buffer.from('":1}'));
  assert.ok(start.isJson());
});
