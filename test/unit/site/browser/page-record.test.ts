// What one page does in a browser: which event counts as which, and the form of its text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPageRecord, type PageEvent } from '#site/browser/page-record.ts';
import * as fc from '../../../support/properties.ts';

const origin = 'http://site.localhost';

function findingsOf(...events: readonly PageEvent[]) {
  const record = createPageRecord(origin);
  for (const event of events) record.note(event);
  return record.findings();
}

const policy = `violates the following Content Security Policy directive: "default-src 'self'".`;

const cases: readonly (readonly [string, PageEvent, readonly string[], readonly string[]])[] = [
  ['a request to another host', { type: 'request', url: 'https://a.example/b?key=1#c' }, ['a.example/b'], []],
  ['a socket to another host', { type: 'request', url: 'wss://a.example:81/b' }, ['a.example:81/b'], []],
  ['a request to the site', { type: 'request', url: `${origin}/a` }, [], []],
  ['a text in the page', { type: 'request', url: 'data:text/plain,a' }, [], []],
  ['a blob', { type: 'request', url: `blob:${origin}/a` }, [], []],
  ['a missing file', { type: 'answer', url: `${origin}/a.png?key=1`, status: 404 }, [], ['404 /a.png']],
  ['an answer', { type: 'answer', url: `${origin}/a`, status: 304 }, [], []],
  [
    'a request that failed',
    { type: 'failure', url: `${origin}/a`, reason: 'net::ERR_EMPTY_RESPONSE' },
    [],
    ['net::ERR_EMPTY_RESPONSE /a'],
  ],
  [
    'a request that was given up',
    { type: 'failure', url: `${origin}/a`, reason: 'net::ERR_ABORTED' },
    [],
    [],
  ],
  ['a request that failed elsewhere', { type: 'failure', url: 'https://a.example/', reason: 'x' }, [], []],
  ['an error', { type: 'error', text: 'bad' }, [], ['bad']],
  [
    'an error about an answer that is noted',
    { type: 'error', text: 'Failed to load resource: the server responded with a status of 404 ()' },
    [],
    [],
  ],
  [
    'an error of the policy about another host',
    { type: 'error', text: `Framing 'https://a.example/b?c' ${policy}` },
    ['a.example/b'],
    [],
  ],
  [
    'an error of the policy about the site',
    { type: 'error', text: `Evaluating a string ${policy}` },
    [],
    [`Evaluating a string ${policy}`],
  ],
  [
    'an error with addresses',
    { type: 'error', text: `lost ${origin}/a?b=1 and https://a.example/c?key=2#d\nat line 3` },
    [],
    ['lost /a and https://a.example/c'],
  ],
  [
    'an exception with a random identifier',
    { type: 'exception', text: `TypeError: blob:${origin}/7b8ef2c0-fb20-4f7e-a5fc-f3c8d80729b2` },
    [],
    ['TypeError: blob:/…'],
  ],
  [
    'an exception as the page threw it',
    { type: 'exception', text: "SyntaxError: Failed to execute 'json' on 'Response': no end" },
    [],
    ['SyntaxError: no end'],
  ],
  [
    'the same as the browser logs it',
    { type: 'exception', text: 'Uncaught (in promise) SyntaxError: no end' },
    [],
    ['SyntaxError: no end'],
  ],
  ['an error with hidden characters', { type: 'error', text: 'a\u202eb' }, [], ['a\\u{202e}b']],
];
for (const [name, event, offSite, errors] of cases) {
  test(`in a page: ${name}`, () => assert.deepEqual(findingsOf(event), { offSite, errors }));
}

test('a page reports each text once, sorted, and of a flood the first hundred', () => {
  const error = (text: string): PageEvent => ({ type: 'error', text });
  assert.deepEqual(findingsOf(error('b'), error('a'), error('b')).errors, ['a', 'b']);
  const flood = Array.from({ length: 1000 }, (_, at) => error(`error ${at}`));
  assert.equal(findingsOf(...flood).errors.length, 100);
});

test('no text of a page is long, has a hidden character or a query of an address', () => {
  const address = fc.webUrl({ withQueryParameters: true });
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 9000 }), address, (text, url) => {
      const { errors } = findingsOf({ type: 'error', text: `${url} ${text}` }, { type: 'exception', text });
      for (const error of errors) {
        assert.ok(error.length <= 300);
        assert.doesNotMatch(error, /[\p{Cc}\u2028\u202e]/u);
      }
      assert.ok(!errors.some((error) => error.startsWith(url) && url.includes('?')));
    }),
  );
});
