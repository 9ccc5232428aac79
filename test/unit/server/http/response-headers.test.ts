// The headers that whoever runs the server adds: how they are read, and which are refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlagValueError } from '#platform/runtime/flags/flag-kinds.ts';
import { addedHeaders } from '#server/http/response-headers.ts';

test('each is a name and a value, by flags or one a line', () => {
  const wanted = [
    'Referrer-Policy',
    'no-referrer',
    'Content-Security-Policy',
    "default-src 'self'; img-src *",
  ];
  const lines = ['Referrer-Policy: no-referrer', "Content-Security-Policy:  default-src 'self'; img-src * "];
  assert.deepEqual(addedHeaders.parse(lines), wanted);
  assert.deepEqual(addedHeaders.parse([`\n${lines.join('\n')}\n`]), wanted);
  assert.deepEqual(addedHeaders.parse(['']), []);
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['a name alone', 'X-Frame-Options', /must be "Name: value"/],
  ['no name', ': x', /must be "Name: value"/],
  ['no value', 'X-Frame-Options:', /must be "Name: value"/],
  ['a blank before the colon', 'X-Frame-Options : DENY', /must be "Name: value"/],
  ['a carriage return', 'X-A: b\rX-B: c', /must be "Name: value"/],
  ['letters beyond ASCII', 'X-A: grüße', /must be "Name: value"/],
  ['what the server decides', 'cache-control: no-cache', /may not set cache-control/],
  ['what would frame the body anew', 'Transfer-Encoding: chunked', /may not set Transfer-Encoding/],
  ['what would make public answers personal', 'Set-Cookie: a=b', /may not set Set-Cookie/],
];

for (const [what, line, words] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(
      () => addedHeaders.parse([line]),
      (error) => error instanceof FlagValueError && words.test(error.message),
    );
  });
}
