// Where a script of the site goes into the head of a page: behind all that the page declares, and nowhere in what is not a page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHeadEnd } from '#platform/html/head-end.ts';
import * as fc from '../../../support/properties.ts';

const mark = '▮';

/** The page with a mark where the element goes. */
function marked(html: string): string | undefined {
  const at = findHeadEnd(html);
  return at === undefined ? undefined : html.slice(0, at) + mark + html.slice(at);
}

const policy = (text: string): string =>
  `<!doctype html><head><meta http-equiv="Content-Security-Policy" content="${text}"></head>`;

const cases: Readonly<Record<string, readonly [string, string | undefined]>> = {
  'before the end of the head': [
    '<!doctype html><html><head><title>a</title></head><body>b',
    '<!doctype html><html><head><title>a</title>▮</head><body>b',
  ],
  'before the body where the end tag of the head is left out': [
    '<html><title>a</title> <body class=x>b',
    '<html><title>a</title> ▮<body class=x>b',
  ],
  'behind the last declaration where all optional tags are left out': [
    '<!DOCTYPE html><meta charset=utf-8><title>a</title><p>b</head>',
    '<!DOCTYPE html><meta charset=utf-8><title>a</title>▮<p>b</head>',
  ],
  'before a base, which would change its address': [
    '<head><meta charset=utf-8><base href="//other.example/"><title>a</title></head>',
    '<head><meta charset=utf-8>▮<base href="//other.example/"><title>a</title></head>',
  ],
  'behind a base without an address': [
    '<head><base target=_top><title>a</title></head>',
    '<head><base target=_top><title>a</title>▮</head>',
  ],
  'before a body that begins with text': [
    '<!doctype html><title>a</title>b <p>c',
    '<!doctype html><title>a</title>▮b <p>c',
  ],
  'behind a head without a body': ['<html><title>a</title>\n', '<html><title>a</title>▮\n'],
  'not within a script, a style, a title or a comment': [
    '<head><script>"</head>"</script><style></head></style><title></head></title><!--</head>--></head>',
    '<head><script>"</head>"</script><style></head></style><title></head></title><!--</head>-->▮</head>',
  ],
  'not within a template or noscript, whose pictures do not end the head': [
    '<head><template><template></template><p></head></template><noscript><img></noscript><link></head>',
    '<head><template><template></template><p></head></template><noscript><img></noscript><link>▮</head>',
  ],
  'in front of a frameset': ['<title>a</title><frameset>', '<title>a</title>▮<frameset>'],
  'into a page with a doctype and nothing of a head': ['<!doctype html><p>a', '<!doctype html>▮<p>a'],
  'not into a fragment': ['<p>a</p>', undefined],
  'not into a fragment that begins with a style': ['<style>p{}</style><p>a</p>', undefined],
  'not into a fragment of a list of links': ['<link rel=x><script>1</script>', undefined],
  'not into a text': ['a text', undefined],
  'not into nothing': ['', undefined],
  'not into a head that never ends': ['<!doctype html><head><script>"a', undefined],
  'not where the policy of the page refuses scripts of the site': [policy("script-src 'none'"), undefined],
  'not where only scripts with a nonce run': [policy("script-src 'self' 'strict-dynamic'"), undefined],
  'not where the policy names another host alone': [policy('default-src cdn.example.com'), undefined],
};

for (const [name, [html, expected]] of Object.entries(cases)) {
  test(`an element goes ${name}`, () => assert.equal(marked(html), expected));
}

test('an element goes into a page whose policy lets scripts of the site run', () => {
  for (const text of ["default-src 'self'", "img-src 'none'", "default-src 'none'; script-src 'self'", '*']) {
    assert.ok(findHeadEnd(policy(text)) !== undefined, text);
  }
});

test('an element never splits a tag, wherever a page ends, and what is in front of it stays the start of the page', () => {
  const parts = fc.constantFrom(
    ...['<!doctype html>', '<head>', '</head>', '<body>', '<title>', '</title>', '<template>', '</template>'],
    ...['<script>', '</script>', '<p>', 'text', ' ', '<meta a="<p>">', '<!--', '-->', '<svg>', '</svg>', '<'],
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), (pieces) => {
      const html = pieces.join('');
      const at = findHeadEnd(html);
      if (at === undefined) return;
      const borders = pieces.map((_, count) => pieces.slice(0, count).join('').length);
      assert.ok(borders.includes(at) || at === html.length, `${at} of ${html}`);
    }),
  );
});
