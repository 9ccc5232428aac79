import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageMarkdown } from '#site/markdown/page-markdown.ts';
import { readPageText } from '#site/pages/page-text.ts';
import { readMarkdown } from '../../../support/markdown/read-markdown.ts';
import { markdownOf } from './markdown.ts';

const cases: readonly (readonly [string, string, string])[] = [
  ['a paragraph', '<p>a  <b>b</b>\n c</p>', 'a **b** c'],
  ['emphasis whose blanks are within it', '<p>a<i> b </i>c</p>', 'a *b* c'],
  ['signs of Markdown', '<p>* a_b_ [x](y) &lt;div&gt; `c`</p>', String.raw`\* a\_b\_ \[x](y) \<div> \`c\``],
  [
    'a link within the site',
    '<p><a href="../x.html#y">z</a></p>',
    '[z](https://docs.example.com/docs/x.html#y)',
  ],
  ['a link to another host', '<p><a href="https://a.example/b">z</a></p>', '[z](https://a.example/b)'],
  ['a link that runs a script', '<p><a href=" java&#10;script:x()">z</a></p>', 'z'],
  ['a permalink', '<h2>Title<a class="anchor" href="#title">¶</a></h2><p>a</p>', '## Title\n\na'],
  [
    'a card that is one link',
    '<a href="/x"><h3>A</h3><p>b</p></a>',
    '### [A](https://docs.example.com/x)\n\nb',
  ],
  [
    'a picture',
    '<p>a <img src="/i.png" alt="An  &quot;i&quot;"></p>',
    'a ![An "i"](https://docs.example.com/i.png)',
  ],
  ['a picture without words', '<p>a <img src="/i.png"> b</p>', 'a b'],
  [
    'code of VitePress, with its label and its button',
    '<div class="language-ts"><button>Copy</button><span class="lang">ts</span><pre><code><span class="line">a</span>\n<span class="line">b</span></code></pre></div>',
    '```ts\na\nb\n```',
  ],
  [
    'code of Sphinx',
    '<div class="highlight-python3 x"><div class="highlight"><pre>a\n</pre></div></div>',
    '```python3\na\n```',
  ],
  [
    'code of Docusaurus, with a break for each line',
    '<div class="language-js"><pre class="prism-code language-js"><code><span class="token-line">a<br></span><span class="token-line">b<br></span></code></pre></div>',
    '```js\na\nb\n```',
  ],
  [
    'code of Expressive Code, with an element for each line',
    '<figure><pre data-language="sh"><code><div class="ec-line"><div class="gutter">1</div><div class="code">a</div></div><div class="ec-line"><div class="code">b</div></div></code></pre></figure>',
    '```sh\na\nb\n```',
  ],
  [
    'code in a table with the numbers of its lines',
    '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><div class="highlight-c"><pre>a\nb</pre></div></td></tr></table>',
    '```c\na\nb\n```',
  ],
  [
    'code in a list of lines',
    '<pre><code><ol><li>first</li><li>second</li></ol></code></pre>',
    '```\nfirst\nsecond\n```',
  ],
  ['two codes next to each other', '<p><code>--a</code> <code>--b</code></p>', '`--a` `--b`'],
  ['two codes that touch', '<p><code>x</code><code>y</code></p>', '`x` `y`'],
  [
    'labels of tabs',
    '<div role=tablist><button role=tab>npm</button><button role=tab>yarn</button></div>',
    'npm\n\nyarn',
  ],
  ['code with fences', '<pre>```\nx</pre>', '````\n```\nx\n````'],
  [
    'a link within code',
    '<p><code>L&lt;<a href="/f">F</a>&gt;</code></p>',
    '`L<`[`F`](https://docs.example.com/f)`>`',
  ],
  [
    'a table with spans and breaks',
    '<table><tr><th>a<th>b<tr><td rowspan=2>1<td>x<br>y<tr><td>z<tr><td colspan=9>w</table>',
    '| a | b |\n| --- | --- |\n| 1 | x<br>y |\n|  | z |\n| w | |',
  ],
  [
    'a table whose first row is short',
    '<table><tr><td>a<tr><td>b<td>c|d</table>',
    '| a | |\n| --- | --- |\n| b | c\\|d |',
  ],
  ['a table that lays out a page', '<table><tr><td><h2>A</h2><p>b<td><p>c</table>', '## A\n\nb\n\nc'],
  ['a list in a list', '<ul><li>a<ul><li>b</ul><li>c</ul>', '- a\n  - b\n- c'],
  ['a list that does not begin with one', '<ol start=3><li>a<li>b</ol>', '3. a\n4. b'],
  ['terms', '<dl><dt>t<dt>u<dd><p>d<dt>v<dd>e</dl>', '- t\n\n  u\n\n  d\n- v\n\n  e'],
  ['a heading within a list', '<ul><li><p>a</p><h3>b</h3><p>c</ul>', '- a\n\n  ### b\n\n  c'],
  [
    'a note',
    '<div class="admonition note"><p class="admonition-title">Note</p><p>a</p></div>',
    '> **Note**\n>\n> a',
  ],
  ['navigation, buttons and hidden parts', '<nav>n</nav><button>b</button><div hidden>h</div><p>a</p>', 'a'],
  ['a button that is never closed', '<p>a</p><button>b<p>c</p>', 'a\n\nb\n\nc'],
  ['emphasis between a letter and a sign', '<p>a<b>(b)</b>c</p>', 'a **(b)** c'],
  ['an underline behind a break', '<p>a<br>===</p>', 'a ==='],
];

for (const [name, html, expected] of cases) {
  test(`Markdown has ${name}`, () => assert.equal(markdownOf(html), expected));
}

test('a page without a heading of its own begins with its title', () => {
  const html = '<title>The *page*</title><body><p>a</p>';
  assert.equal(pageMarkdown(html, readPageText(html), 'x.html', {}), '# The \\*page\\*\n\na\n');
});

test('links begin at the root where the address of the site is not known', () => {
  assert.equal(
    markdownOf('<p><a href="x?y#z">a</a> <a href="https://b.example/">b</a></p>', 'g/p.html', {
      basePath: '/d',
    }),
    '[a](/d/g/x?y#z) [b](https://b.example/)',
  );
});

test('links follow the base of the page', () => {
  const html = '<head><base href="/v2/"></head><main><h1>T</h1><a href="x">a</a></main>';
  assert.match(pageMarkdown(html, readPageText(html), 'g/p.html', {}), /\[a\]\(\/v2\/x\)/);
});

test('what is nested without end is text of the last level', () => {
  for (const open of [
    '<div>',
    '<b>',
    '<blockquote>',
    '<ul><li>',
    '<dl><dd>',
    '<table><tr><td>',
    '<h2>',
    '<a href=x>',
  ]) {
    const body = `<p>a</p>${open.repeat(20_000)}end`;
    const markdown = markdownOf(body);
    assert.match(markdown, /end/, open);
    assert.ok(markdown.length < 3 * body.length, `${open}: ${markdown.length}`);
  }
});

test('spans of cells add no more cells than the table is wide', () => {
  const row = `<tr>${'<td colspan=1000 rowspan=60000>x'.repeat(3)}`;
  assert.ok(markdownOf(`<table>${row.repeat(1000)}</table>`).length < 40_000);
});

test('a text beyond the bounds says so, and where the whole page is', () => {
  const html = `<main><h1>T</h1>${'<p>a</p>'.repeat(1_000_000)}</main>`;
  const markdown = pageMarkdown(html, readPageText(html), 'x.html', { origin: 'https://a.example' });
  assert.match(markdown, /\n\nThis text is cut off\. The whole page: https:\/\/a\.example\/x\.html\n$/);
});

test('a reader of Markdown finds what the page has', () => {
  const { headings, code, tables, links } = readMarkdown(
    markdownOf(
      '<h2>A <code>b</code></h2><div class="language-js"><pre>let a\n</pre></div><table><tr><th>a<tr><td><a href="/x">b</a></table>',
    ),
  );
  assert.deepEqual(
    { headings, code, tables, links },
    {
      headings: ['2 Ab'],
      code: ['js\nlet a'],
      tables: ['[["a"],["b"]]'],
      links: ['https://docs.example.com/x b'],
    },
  );
});
