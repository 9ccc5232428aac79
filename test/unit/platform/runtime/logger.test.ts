import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '#platform/runtime/logger.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

function logged(fields: object): string {
  const lines: string[] = [];
  createLogger('debug', (line) => lines.push(line)).warn(fields, 'words');
  return lines.join('');
}

test('a line is JSON with level, time and message', () => {
  const line = JSON.parse(logged({ version: 'v1' }));
  assert.equal(line.level, 'warn');
  assert.equal(line.msg, 'words');
  assert.equal(line.version, 'v1');
  assert.match(line.time, /^\d{4}-\d\d-\d\dT/);
});

const leaks: readonly (readonly [string, object])[] = [
  ['a link as a value', { at: Link.parse('https://h.example/?sig=s3cret') }],
  ['a link deep inside', { a: { b: [Link.parse('https://h.example/?sig=s3cret')] } }],
  ['a key by its name', { apiKey: 's3cret' }],
  ['a key by its name, one level down', { api: { key: 's3cret' } }],
  ['a header', { request: { headers: { authorization: 'Bearer s3cret' } } }],
  ['a foreign error’s message', { error: new Error('GET https://h.example/?sig=s3cret failed') }],
  [
    'a foreign cause’s message',
    { error: new PublishableError('X', 'words', { cause: new Error('s3cret') }) },
  ],
];
for (const [name, fields] of leaks) {
  test(`not logged: ${name}`, () => assert.doesNotMatch(logged(fields), /s3cret/));
}

test("this project's error is logged with code, message and the codes of its causes, without stack frames", () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const { error } = JSON.parse(
    logged({ error: new PublishableError('Unavailable', 'try later', { cause }) }),
  );
  assert.equal(error.code, 'Unavailable');
  assert.equal(error.message, 'try later');
  assert.deepEqual(error.causes, ['ECONNREFUSED']);
  assert.equal(error.stack, undefined);
});

test('an unexpected error is logged with its stack frames, not its message', () => {
  const { error } = JSON.parse(logged({ error: new TypeError('s3cret') }));
  assert.equal(error.message, 'unexpected TypeError');
  assert.match(error.stack[0], /^at /);
});
