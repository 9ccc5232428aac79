// Where a body names a copied asset: each spelling, what is not one, and that nothing else changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editVendored } from '#export-service/crawler/rewrite/vendor-edits.ts';
import { applyEdits } from '#platform/html/source-edits.ts';
import type { BodyKind } from '#site/references/body-links.ts';
import { readPositions } from '#site/references/positions.ts';
import * as fc from '../../../../support/properties.ts';

const names = {
  paths: new Map([
    ['https://c.example/a.js', '_v/0.js'],
    ['https://c.example/i.png?w=1&h=2', '_v/1.png'],
  ]),
  hosts: ['c.example'],
  basePath: '/docs',
  dropsConnection: (href: string) => href.startsWith('https://c.example/'),
};

function edited(role: BodyKind, text: string): string {
  const source = Buffer.from(text).toString('latin1');
  const positions = readPositions(role, source);
  const base = new URL('http://127.0.0.1:4000/guides/x');
  const edits = editVendored({ ...positions, role, source, base }, names);
  return Buffer.from(applyEdits(source, edits), 'latin1').toString();
}

const js = '/docs/_v/0.js';
const counted = '/docs/_v/0.js?'.padEnd('https://c.example/a.js'.length, '_');

const changed: readonly (readonly [string, BodyKind, string, string])[] = [
  ['an attribute', 'document', '<script src=https://c.example/a.js>', '<script src=/docs/_v/0.js>'],
  ['blanks in an attribute', 'document', '<script src=" //c.example/a.js ">', '<script src="/docs/_v/0.js">'],
  [
    'escaped ampersands',
    'document',
    '<img src="https://c.example/i.png?w=1&amp;h=2">',
    '<img src="/docs/_v/1.png">',
  ],
  [
    'a set of pictures',
    'document',
    '<img srcset="https://c.example/i.png?w=1&amp;h=2 1x, https://c.example/i.png?w=1&amp;h=2, /own.png 3x">',
    '<img srcset="/docs/_v/1.png 1x, /docs/_v/1.png, /own.png 3x">',
  ],
  [
    'a style attribute',
    'document',
    `<b style="background:url('https://c.example/i.png?w=1&amp;h=2')">`,
    `<b style="background:url('/docs/_v/1.png')">`,
  ],
  ['a style', 'style', '@import "https://c.example/a.js"', '@import "/docs/_v/0.js"'],
  ['an unquoted url', 'style', 'b{src:url( https://c.example/a.js#x )}', 'b{src:url( /docs/_v/0.js#x )}'],
  ['a literal', 'script', 'x("https://c.example/a.js")', `x("${js}")`],
  ['a literal without a scheme', 'script', "x('//c.example/a.js')", "x('/docs/_v/0.js')"],
  ['a literal with a fragment', 'script', 'x(`https://c.example/a.js#b`)', `x(\`${js}#b\`)`],
  ['a text in a text', 'script', 'x("{\\"a\\":\\"https://c.example/a.js\\"}")', `x("{\\"a\\":\\"${js}\\"}")`],
  ['a payload', 'payload', '1:["https://c.example/a.js"]', `1:["${counted}"]`],
  [
    'a pushed stream',
    'document',
    '<script>self.__next_f.push([1,"1:[\\"https://c.example/a.js\\"]"])</script>',
    `<script>self.__next_f.push([1,"1:[\\"${counted}\\"]"])</script>`,
  ],
  [
    'an ampersand of HTML in a script',
    'script',
    'x("https://c.example/i.png?w=1\\u0026amp;h=2")',
    'x("/docs/_v/1.png")',
  ],
  [
    'a fragment that would end the attribute',
    'document',
    '<img src="https://c.example/a.js#&quot; onerror=&quot;x()">',
    '<img src="/docs/_v/0.js#%22%20onerror=%22x%28%29">',
  ],
  [
    'a fragment that would end the style',
    'style',
    'b{src:url("https://c.example/a.js#\\22 \\3c/style\\3e")}',
    'b{src:url("/docs/_v/0.js#%22%3C/style%3E")}',
  ],
  [
    'a fragment beyond Latin-1',
    'document',
    '<img src="https://c.example/a.js#日">',
    '<img src="/docs/_v/0.js#%E6%97%A5">',
  ],
  [
    'an icon of a manifest',
    'manifest',
    '{"icons":[{"src":"https://c.example/i.png?w=1&h=2"}]}',
    '{"icons":[{"src":"/docs/_v/1.png"}]}',
  ],
  [
    'a policy',
    'document',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src &#39;unsafe-inline&#39; https://c.example/x; font-src d.example;img-src *.example">`,
    `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src &#39;unsafe-inline&#39; https://c.example/x &#39;self&#39;; font-src d.example;img-src *.example &#39;self&#39;">`,
  ],
  [
    'HTML in data',
    'other',
    '{"html":"<p><img src=\\"https://c.example/a.js\\"> \\u003cscript src=\\u0022https:\\/\\/c.example\\/a.js\\u0022\\u003e"}',
    `{"html":"<p><img src=\\"${js}\\"> \\u003cscript src=\\u0022${js}\\u0022\\u003e"}`,
  ],
  [
    'a set of pictures and a style in HTML in data',
    'other',
    `{"contentHtml": "<img srcset='https://c.example/i.png?w=1&amp;h=2 1x, //c.example/a.js 2x'><b style=\\"background:url(https://c.example/a.js)\\">\\\\"}`,
    `{"contentHtml": "<img srcset='/docs/_v/1.png 1x, ${js} 2x'><b style=\\"background:url(${js})\\">\\\\"}`,
  ],
  [
    'HTML in a payload',
    'payload',
    '1:["$","p",null,{"dangerouslySetInnerHTML":{"__html":"<img src=\\"https://c.example/a.js\\">"}}]',
    `1:["$","p",null,{"dangerouslySetInnerHTML":{"__html":"<img src=\\"${counted}\\">"}}]`,
  ],
  [
    'HTML in a pushed stream',
    'document',
    '<script>self.__next_f.push([1,"1:{\\"__html\\":\\"<img src=\\\\\\"https://c.example/a.js\\\\\\">\\"}"])</script>',
    `<script>self.__next_f.push([1,"1:{\\"__html\\":\\"<img src=\\\\\\"${counted}\\\\\\">\\"}"])</script>`,
  ],
  [
    'HTML in the data of a page',
    'document',
    '<script id="__NEXT_DATA__" type="application/json">{"html":"<img src=\\"https://c.example/a.js\\">"}</script>',
    `<script id="__NEXT_DATA__" type="application/json">{"html":"<img src=\\"${js}\\">"}</script>`,
  ],
  [
    'HTML of any member',
    'other',
    '{"content":"\\n<p>x</p><img src=\\"https://c.example/a.js\\">","body":" <a href=\\"/x\\"><img src=\\"//c.example/a.js\\"></a> there"}',
    `{"content":"\\n<p>x</p><img src=\\"${js}\\">","body":" <a href=\\"/x\\"><img src=\\"${js}\\"></a> there"}`,
  ],
  ...'resource context subtitle introtext bodyText rich_text examples'
    .split(' ')
    .map(
      (name) =>
        [
          `HTML of ${name}`,
          'other',
          `{"${name}":"<p><img src=\\"https://c.example/a.js\\"></p>"}`,
          `{"${name}":"<p><img src=\\"${js}\\"></p>"}`,
        ] as const,
    ),
  ['HTML in a list', 'other', '["<p><img src=\'https://c.example/a.js\'>"]', `["<p><img src='${js}'>"]`],
  [
    'HTML in data within data',
    'other',
    '{"page":"{\\"content\\":\\"<p><img src=\\\\\\"https://c.example/a.js\\\\\\">\\"}"}',
    `{"page":"{\\"content\\":\\"<p><img src=\\\\\\"${js}\\\\\\">\\"}"}`,
  ],
  [
    'HTML in the attribute of an island',
    'document',
    `<astro-island props="{&quot;body&quot;:[0,&quot;&lt;p><img src=\\&quot;https://c.example/i.png?w=1&amp;amp;h=2\\&quot;>&quot;]}"></astro-island>`,
    '<astro-island props="{&quot;body&quot;:[0,&quot;&lt;p><img src=\\&quot;/docs/_v/1.png\\&quot;>&quot;]}"></astro-island>',
  ],
  [
    'HTML of any member in a pushed stream',
    'document',
    '<script>self.__next_f.push([1,"1:{\\"content\\":\\"<p><img src=\\\\\\"https://c.example/a.js\\\\\\">\\"}"])</script>',
    `<script>self.__next_f.push([1,"1:{\\"content\\":\\"<p><img src=\\\\\\"${counted}\\\\\\">\\"}"])</script>`,
  ],
  [
    'a long text of a payload',
    'payload',
    '2:T35,<p><b style="background:url(https://c.example/a.js)">1:["$","p",null,{"body":"$2"}]',
    `2:T35,<p><b style="background:url(${counted})">1:["$","p",null,{"body":"$2"}]`,
  ],
  [
    'a long text of a member for HTML',
    'payload',
    '2:T36,See <b style="background:url(https://c.example/a.js)">1:["$","p",null,{"__html":"$2"}]',
    `2:T36,See <b style="background:url(${counted})">1:["$","p",null,{"__html":"$2"}]`,
  ],
  [
    'a long text of a pushed stream',
    'document',
    '<script>self.__next_f.push([1,"2:T33,<p>"])</script><script>self.__next_f.push([1,"\\u003cb style=background:url(https://c.example/a.js)>1:{\\"__html\\":\\"$2\\"}"])</script>',
    `<script>self.__next_f.push([1,"2:T33,<p>"])</script><script>self.__next_f.push([1,"\\u003cb style=background:url(${counted})>1:{\\"__html\\":\\"$2\\"}"])</script>`,
  ],
  ['a preconnect', 'document', '<link rel="dns-prefetch preconnect" href=//c.example><p>', '<p>'],
];
for (const [name, role, from, to] of changed) {
  test(`${name} gets the copy`, () => assert.equal(edited(role, from), to));
}

const kept: readonly (readonly [string, BodyKind, string])[] = [
  ['prose of a page', 'document', '<p>https://c.example/a.js "https://c.example/a.js"</p>'],
  ['prose of a script', 'script', 'x("see https://c.example/a.js for more")'],
  ['prose that ends in an address', 'other', '{"text":"from there, https://c.example/a.js"}'],
  ['an address that only begins so', 'script', 'x("https://c.example/a.js.map", "https://c.example/a.js/b")'],
  [
    'a sample in data',
    'other',
    '{"text":"<script src=\\"https://c.example/a.js\\"> (https://c.example/a.js)"}',
  ],
  [
    'a sample in a stream',
    'document',
    '<script>self.__next_f.push([1,"1:[\\"<script src=\\\\\\"https://c.example/a.js\\\\\\">\\"]"])</script>',
  ],
  [
    'a sample within HTML in data',
    'other',
    '{"html":"<pre>&lt;script src=\\"https://c.example/a.js\\"></pre><!-- <img src=\\"https://c.example/a.js\\"> -->"}',
  ],
  [
    'a sample for the head of a page',
    'other',
    '{"content":"<link rel=stylesheet href=https://c.example/a.js>","body":"<script src=\\"https://c.example/a.js\\"></script>"}',
  ],
  [
    'a script of a text that only looks like HTML',
    'other',
    '{"content":"<p>x</p><script src=\\"https://c.example/a.js\\"></script>"}',
  ],
  [
    'a script with a tag in an attribute, of a text that only looks like HTML',
    'other',
    '{"content":"<p>x</p><script title=\\"<b \\" src=\\"https://c.example/a.js\\"></script>"}',
  ],
  [
    'prose that shows a tag',
    'other',
    '{"content":"Write <img src=https://c.example/a.js> to show the badge.","body":"a</b> <img src=\\"https://c.example/a.js\\">"}',
  ],
  [
    'a long text of prose that shows a tag',
    'payload',
    '2:T40,Write <br> or <b style="background:url(https://c.example/a.js)">1:["$","p",null,{"body":"$2"}]',
  ],
  ...'text code rawSource children value alt_text meta-title Description codeExample summary'
    .split(' ')
    .map(
      (name) =>
        [
          `the sample in ${name}`,
          'other',
          `{"${name}":"<p><img src=\\"https://c.example/a.js\\"></p>"}`,
        ] as const,
    ),
  [
    'a text that a stream shows',
    'payload',
    `1:["$","code",null,{"children":["<p><img src=\\"https://c.example/a.js\\"></p>"]}]`,
  ],
  [
    'a long text that a stream shows',
    'payload',
    '2:T35,<p><b style="background:url(https://c.example/a.js)">1:["$","p",null,{"children":"$2"}]',
  ],
  ['HTML that has no end', 'other', '{"html":"<img src=\\"https://c.example/a.js\\">'],
  ['the beginning of a sum', 'script', 'x("https://c.example/" + "a.js")'],
  [
    'another host',
    'document',
    '<script src=https://d.example/a.js></script><link rel=preconnect href=//d.example>',
  ],
  ['a style sheet of a link', 'document', '<link rel="preconnect stylesheet" href="//d.example">'],
  [
    'a text that is copied by a button',
    'document',
    '<button data-text="&lt;script src=&quot;https://c.example/a.js&quot;>">',
  ],
];
for (const [name, role, source] of kept) {
  test(`${name} stays`, () => assert.equal(edited(role, source), source));
}

test('an address that is written out means the same in an attribute and in a style', () => {
  const source =
    '<base href="https://c.example/"><script src=a.js></script><a href="b?c=1&amp;lt">b</a>' +
    '<i style="background:url(d?e=1&amp;copy)"></i><style>i{background:url(d?e=1&copy)}</style>';
  const { baseSpan, ...positions } = readPositions('document', source);
  assert.ok(baseSpan !== undefined);
  const base = new URL('https://c.example/');
  const foreignBase = { span: baseSpan, own: new URL('http://127.0.0.1:4000/') };
  const edits = editVendored({ ...positions, role: 'document', source, base, foreignBase }, names);
  assert.equal(
    applyEdits(source, edits),
    `<base href=""><script src=${js}></script><a href="https://c.example/b?c=1&amp;lt">b</a>` +
      '<i style="background:url(https://c.example/d?e=1&amp;copy)"></i>' +
      '<style>i{background:url(https://c.example/d?e=1&copy)}</style>',
  );
});

test('whatever the text, edits are apart, and a second pass finds nothing', () => {
  const piece = fc.constantFrom(
    ...['https://c.example/a.js', '//c.example/i.png?w=1&h=2', '"', "'", '`', ' ', '<img src=', '<p x="{'],
    ...['>', '\\', ' 1x, ', 'url(', ')', '&quot;', '&amp;', '#', '?', '<script>', '</script>'],
    ...['<style>', '</style>', '<link rel=preconnect href='],
  );
  const role = fc.constantFrom<BodyKind>('document', 'style', 'script', 'payload', 'picture', 'other');
  fc.assert(
    fc.property(role, fc.array(piece, { maxLength: 40 }), (kind, pieces) => {
      const source = pieces.join('');
      const base = new URL('http://127.0.0.1:4000/');
      const body = { ...readPositions(kind, source), role: kind, source, base };
      const edits = editVendored(body, names);
      let done = 0;
      for (const { at, drop } of edits) {
        assert.ok(at >= done, source);
        done = at + drop;
      }
      const once = applyEdits(source, edits);
      assert.equal(edited(kind, once), once);
    }),
  );
});

/** A text as JSON may spell it. */
function spelled(text: string, escapes: readonly string[]): string {
  let written = JSON.stringify(text).slice(1, -1);
  for (const char of escapes) {
    const code = char.charCodeAt(0).toString(16).padStart(4, '0');
    // A slash has a short form, and a backslash that spells another character stays.
    written = written.replaceAll(char === '"' ? '\\"' : char, char === '/' ? '\\/' : `\\u${code}`);
  }
  return written;
}

test('whatever the spelling, no copied address is left in HTML that data carry, and samples in it stay', () => {
  const address = 'https://c.example/a.js';
  const piece = fc.constantFrom(
    ...[`<img src="${address}">`, `<script src='${address}'></script>`, `<link rel=icon href=${address}>`],
    ...[`<img srcset="${address} 2x">`, `<b style="background:url(${address})">b</b>`, '<p>text \\ é 日</p>'],
  );
  const sample = fc.constantFrom(`<pre>&lt;img src="${address}"></pre>`, `<p>see ${address} there</p>`);
  const escapes = fc.subarray(['<', '>', '/', '&', '"']);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(piece, sample), { maxLength: 8 }),
      fc.nat(2),
      escapes,
      fc.constantFrom('__html', 'html', 'bodyHtml', 'rendered', 'content', 'body'),
      (pieces, depth, marks, name) => {
        const html = pieces.join('');
        let source = `{"${name}":"${spelled(html, marks)}"}`;
        for (let level = 0; level < depth; level += 1) source = JSON.stringify(source).slice(1, -1);
        const role = 'other';
        let text = edited(role, source);
        assert.equal(edited(role, text), text, 'a second pass changes it');
        for (let level = 0; level < depth; level += 1) text = JSON.parse(`"${text}"`);
        const found: unknown = Object.values(JSON.parse(text))[0];
        assert.equal(
          found,
          html.replaceAll(/<(?!p)[^>]*>/g, (tag) => tag.replaceAll(address, js)),
        );
      },
    ),
  );
});
