// robots.txt as sites write it: for this crawler by name, for all robots, and with undefined lines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import robotsParser from 'robots-parser';
import { readRobots } from '#export-service/crawler/origin/robots.ts';
import { createScope } from '#site/site-scope.ts';
import * as fc from '../../../../support/properties.ts';
import { runToItsEnd } from '../../../../support/watchdog.ts';

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/base/'));
const isAllowed = (text: string, path: string): boolean =>
  readRobots(scope, text).isAllowed({ path, query: '' });

test('no robots.txt allows everything', () => assert.equal(isAllowed('', '/x'), true));

test('a rule for all robots applies to this crawler, and the longest match decides', () => {
  const text = 'User-agent: *\nDisallow: /private\nAllow: /private/open$';
  assert.equal(isAllowed(text, '/private/x'), false);
  assert.equal(isAllowed(text, '/private/open'), true);
  assert.equal(isAllowed(text, '/public'), true);
});

test('a group that names this crawler replaces the group for all robots', () => {
  const text = 'User-agent: *\nDisallow: /\n\nUser-agent: Static-Export-Operator\nDisallow: /no';
  assert.equal(isAllowed(text, '/yes'), true);
  assert.equal(isAllowed(text, '/no'), false);
});

test('unknown lines, a byte order mark, an error page and NULs are ignored', () => {
  const text = '\ufeffContent-Signal: search=yes, ai-train=no\n\0\n<html>\nUser-agent: *\nDisallow: /x';
  assert.equal(isAllowed(text, '/x'), false);
  assert.equal(isAllowed(text, '/y'), true);
  assert.equal(isAllowed('<!doctype html><p>Disallow: /', '/x'), true);
});

test('rules apply to the public path, and match escapes in either spelling', () => {
  const text = 'User-agent: *\nDisallow: /é';
  assert.equal(isAllowed(text, '/%C3%A9'), false);
  assert.equal(isAllowed('User-agent: *\nDisallow: /base/', '/x'), true);
});

test('sitemaps are listed as written, at any position', () => {
  const text = 'Sitemap: https://docs.example.com/a.xml\nUser-agent: *\nSITEMAP: /b.xml\n';
  assert.deepEqual(readRobots(scope, text).sitemaps, ['https://docs.example.com/a.xml', '/b.xml']);
});

/** Another parser, as a peer. Its time for one address grows with the square of a rule's length. */
function peerAllows(text: string, path: string): boolean {
  const parse: unknown = robotsParser;
  assert.ok(typeof parse === 'function');
  const asked = parse('https://docs.example.com/robots.txt', text).isAllowed(
    `https://docs.example.com${path}`,
    'static-export-operator',
  );
  return asked !== false;
}

test('every file has the same meaning as for another parser', () => {
  const name = fc.constantFrom('*', 'static-export-operator', 'Static-Export-Operator/1.0', 'other', '');
  const path = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '$', '%c3', 'é', '?', '.'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  const line = fc.oneof(
    name.map((value) => `User-agent: ${value}`),
    path.map((value) => `Disallow: /${value}`),
    path.map((value) => `allow :/${value} # why`),
    path.map((value) => `Allow:${value}`),
    fc.constantFrom(
      '',
      '# nothing',
      'Crawl-delay: 3',
      'Sitemap: /s.xml',
      'nonsense',
      'Disallow:',
      ':',
      'x: y',
    ),
  );
  const asked = fc
    .array(fc.constantFrom('a', 'b', '/', '%C3', '%c3', '?', '.', '$', '*'), { maxLength: 8 })
    .map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      asked,
      (lines, end, to) => {
        const text = ['User-agent: *', ...lines].join(end);
        const [way = '', ...query] = to.split('?');
        const address = { path: way, query: query.length === 0 ? '' : `?${query.join('?')}` };
        assert.equal(readRobots(scope, text).isAllowed(address), peerAllows(text, to), text);
      },
    ),
    { numRuns: 3000 },
  );
});

const wildcards = Array.from({ length: 11_000 }, (_, at) => `Disallow: /*${'a*'.repeat(14)}${at}\n`).join('');

test('comparing thousands of rules with wildcards takes linear time for each address', () => {
  const robots = readRobots(scope, `User-agent: *\n${wildcards}`);
  const links = Array.from({ length: 100 }, (_, at) => ({ path: `/${'a'.repeat(990)}${at}x`, query: '' }));
  const decide = (): void => {
    for (const link of links) robots.isAllowed(link);
  };
  assert.doesNotThrow(() => runToItsEnd(decide));
});
