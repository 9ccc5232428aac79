import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PageText, readPageText, shownTitle, usualPageBounds } from '#site/pages/page-text.ts';
import * as fc from '../../../support/properties.ts';

const textOf = ({ sections }: PageText): string =>
  sections
    .flatMap(({ heading, text }) => [heading, text])
    .filter((text) => text !== '')
    .join(' ');
const sourceOf = (html: string): string =>
  readPageText(html)
    .main.map(({ from, to }) => html.slice(from, to))
    .join('');

test('a page gives its title, description, language and direction', () => {
  const page = readPageText(
    '<!doctype html><html lang="AR-eg" dir=rtl><head><title> One &amp;\n two </title><meta name=description content=" What  it is ">',
  );
  assert.equal(page.title, 'One & two');
  assert.equal(page.description, 'What it is');
  assert.equal(page.language, 'ar-eg');
  assert.equal(page.direction, 'rtl');
  assert.equal(page.isIndexed, true);
});

for (const [meta, isIndexed] of [
  ['<meta name=robots content="noindex, follow">', false],
  ['<meta name=robots content=none>', false],
  ['<meta name=robots content=all>', true],
  ['<meta http-equiv=refresh content="0; url=/new/">', false],
  ['<meta http-equiv=refresh content="600">', true],
] as const) {
  test(`a page with ${meta} is ${isIndexed ? 'indexed' : 'left out of an index'}`, () => {
    assert.equal(readPageText(`<head>${meta}</head><body>Text`).isIndexed, isIndexed);
  });
}

test('sections have their heading, level, anchor and text, with single blanks', () => {
  const { sections } = readPageText(`<body><p>Before</p><h1 id="top">A  <em>b</em>c</h1><p>One</p>two<br>three
    <section id="s"><h2>By its section</h2>x</section>
    <h3><a id="in"></a>By its anchor<a class="headerlink" href="#in" title="Permalink">¶</a></h3>
    <h4>By its own link <a href="#own%20link">#</a></h4><p>y</p><h5>C#</h5>`);
  assert.deepEqual(sections, [
    { id: undefined, heading: '', level: 0, text: 'Before' },
    { id: 'top', heading: 'A bc', level: 1, text: 'One two three' },
    { id: 's', heading: 'By its section', level: 2, text: 'x' },
    { id: 'in', heading: 'By its anchor', level: 3, text: '' },
    { id: 'own link', heading: 'By its own link', level: 4, text: 'y' },
    { id: undefined, heading: 'C#', level: 5, text: '' },
  ]);
});

// A link of a heading to itself, as generators write it, with what stands around it.
for (const [generator, heading, shown] of [
  ['Sphinx', 'One two<a class="headerlink" href="#x" title="Link to this heading">¶</a>', 'One two'],
  ['Read the Docs', 'One two<a class="headerlink" href="#x" title="Permalink">\uf0c1</a>', 'One two'],
  ['PyData', 'One two<a class="headerlink" href="#x">#</a>', 'One two'],
  ['MkDocs', 'One two<a class="headerlink" href="#x" title="Permanent link">&para;</a>', 'One two'],
  ['MkDocs with a symbol', 'One two<a class="headerlink" href="#x">⚓︎</a>', 'One two'],
  [
    'VitePress',
    'One two <a class="header-anchor" href="#x" aria-label="Permalink to">&#8203;</a>',
    'One two',
  ],
  ['VitePress with a badge', 'One <a class="header-anchor" href="#x">&#8203;</a><span>two</span>', 'One two'],
  ['VuePress', '<a href="#x" class="header-anchor">#</a> One two', 'One two'],
  ['VuePress 2', '<a class="header-anchor" href="#x"><span>One two</span></a>', 'One two'],
  ['Docusaurus', 'One two<a href="#x" class="hash-link" title="Direct link">\u200b</a>', 'One two'],
  ['Docusaurus 2', 'One two<a aria-hidden="true" class="hash-link" href="#x">#</a>', 'One two'],
  ['mdBook', '<a class="header" href="#x">One two</a>', 'One two'],
  ['Nextra', 'One two<span id="x"></span><a href="#x" class="subheading-anchor"></a>', 'One two'],
  ['rehype', '<a href="#x" tabindex="-1"><span class="icon"></span></a>One two', 'One two'],
  ['Hugo Book', 'One two\n<a class="anchor" href="#x">#</a>\n', 'One two'],
  ['Docsy', 'One two<a class="td-heading-self-link" href="#x"></a>', 'One two'],
  ['Antora', '<a class="anchor" href="#x"></a>One two', 'One two'],
  ['rustdoc', '<a class="doc-anchor" href="#x">§</a>One two', 'One two'],
  ['Doxygen', '<span class="permalink"><a href="#x">&#9670;&#160;</a></span>one()', 'one()'],
  ['Mintlify', '<div><a href="#x">&#8203;<svg><path/></svg></a></div><span>One two</span>', 'One two'],
  ['GitBook', '<div><a href="#x"><svg></svg></a></div><div>One two</div>', 'One two'],
  ['Node.js', 'One two<span><a class="mark" href="#x" id="x">#</a></span>', 'One two'],
  ['a link sign', 'One <a href="#x">🔗</a> two', 'One two'],
  ['a sign with its blank', 'One<a href="#x"> # </a>two', 'One two'],
  ['a sign within a word', 'One<a href="#x">#</a>Two', 'OneTwo'],
  ['a link elsewhere', 'One <a href="/y">two</a> <a href="#x">#</a>', 'One two'],
] as const) {
  test(`of a heading of ${generator}, the sign is left out and blanks stay`, () => {
    const { sections } = readPageText(`<main><h2 id="x">${heading}</h2><p>text</p></main>`);
    assert.deepEqual(
      sections.map((section) => [section.heading, section.id, section.text]),
      [[shown, 'x', 'text']],
    );
  });
}

for (const [generator, html, text] of [
  ['Sphinx', '<dl><dt>term<a class="headerlink" href="#t">¶</a></dt><dd>of it</dd></dl>', 'term of it'],
  ['PyData', '<dl><dt>term<a class="headerlink" href="#t">#</a></dt><dd>of it</dd></dl>', 'term of it'],
  ['Markdown', '<p>note<a href="#fnref1" role="doc-backlink">↩︎</a></p><p>next</p>', 'note next'],
  ['a note between words', '<p>one <a href="#n">¶</a>two</p>', 'one two'],
  ['an author', '<p>use # and ¶ or <a href="/x">#</a></p>', 'use # and ¶ or #'],
  [
    'Starlight',
    '<div><h2 id="s">H</h2><a href="#s"><span aria-hidden="true"><svg></svg></span><span data-pagefind-ignore>Section titled “H”</span></a></div>x',
    'H x',
  ],
] as const) {
  test(`of text of ${generator}, signs of links to the page itself are left out`, () => {
    assert.equal(textOf(readPageText(`<main>${html}</main>`)), text);
  });
}

for (const [name, html, text] of [
  ['main', '<nav>n</nav><main>a</main><footer>f</footer>', 'a'],
  ['an element with the role', '<div><div role="main"><div>a</div>b</div>c</div>', 'a b'],
  ['an article, where no main is', '<div>n</div><article>a</article><article>b</article>', 'a b'],
  ['the one article of main', '<main>n<article>a lot of it</article>toc</main>', 'a lot of it'],
  ['main with its articles', '<main>n<article>a</article><article>b</article></main>', 'n a b'],
  [
    'the body without navigation',
    '<header>h</header>a<nav>n</nav>b<aside>x</aside><footer>f</footer>',
    'a b',
  ],
  ['headers and notes within an article', '<article><header>h</header><aside>n</aside></article>', 'h n'],
  ['no code', 'a <script>b</script><style>c</style><template>d</template><svg><text>e</text></svg>f', 'a f'],
  ['no hidden text', '<p>a</p><div hidden>b</div><span aria-hidden="true">c</span>', 'a'],
  ['panels of tabs', '<div role="tabpanel" hidden>a</div>', 'a'],
  ['what a browser finds', '<div hidden="until-found">a</div>', 'a'],
  ['DocBook pages without their headers', '<div class="navheader"><table><tr><td>n</table></div>a', 'a'],
  ['an element that is left out and does not end', '<div hidden>a<p>b', 'a b'],
  ['main after navigation that does not end', '<nav>n<main>a</main>b', 'a'],
  ['navigation that does not end within main', '<main>a<nav>n</main>b', 'a'],
  ['no readings of ruby', '<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>都', '東京都'],
] as const) {
  test(`the text of a page is ${name}`, () => {
    assert.equal(textOf(readPageText(`<body>${html}`)), text);
  });
}

test('the source of the content leaves out what its text leaves out', () => {
  assert.equal(
    sourceOf('<nav>n</nav><main><p>a</p><nav>n</nav><b>c</b></main><footer></footer>'),
    '<p>a</p><b>c</b>',
  );
  assert.equal(
    sourceOf('<html><head><title>t</title></head><body><p>a</p></body></html>'),
    '<html><p>a</p></html>',
  );
});

test('links are as written, each once', () => {
  assert.deepEqual(readPageText('<nav><a href="/a?b#c">x</a><a href="/a?b#c">y</a></nav><a>z</a>').links, [
    '/a?b#c',
  ]);
});

for (const [title, headings, shown] of [
  ['Queues — Site', '<h1>Site</h1><h1>Queues</h1>', 'Queues'],
  ['Queues | Site', '<h1>About queues</h1>', 'About queues'],
  ['SELECT', '<h2>SELECT</h2>', 'SELECT'],
  ['Only here', '<h2>Other</h2>', 'Only here'],
] as const) {
  test(`${title} with ${headings} is shown as ${shown}`, () => {
    assert.equal(shownTitle(readPageText(`<title>${title}</title><body>${headings}`)), shown);
  });
}

test('bounds cut a page off, and it says so', () => {
  const bounds = { maxText: 10, maxSections: 3, maxHeading: 5, maxLinks: 1, maxRanges: 1 };
  const cut = (html: string): PageText => readPageText(`<body>${html}`, bounds);
  assert.equal(textOf(cut('one two three four')), 'one two');
  assert.deepEqual(
    cut('<h1>a</h1><h1>b</h1><h1>c</h1><h1>d</h1>').sections.map(({ heading }) => heading),
    ['a', 'b', 'c'],
  );
  assert.equal(cut('<h1>abcdefgh</h1>').sections[0]?.heading, 'abcde');
  assert.equal(cut('<a href=a></a><a href=b></a>').links.length, 1);
  assert.equal(cut('a<nav>b</nav>c').main.length, 1);
  for (const html of ['one two three', '<a href=a></a><a href=b></a>', 'a<nav>b</nav>c']) {
    assert.equal(cut(html).isCut, true, html);
  }
  assert.equal(cut('short').isCut, false);
});

test('the text has what pictures say where a caller asks for it', () => {
  const html = '<main>a<img alt=" The  sign-on page ">b<img alt=""><img>c<nav><img alt="n"></nav></main>';
  const content = { pictures: true, times: true };
  assert.equal(textOf(readPageText(html, usualPageBounds, content)), 'a The sign-on page b c');
  assert.equal(textOf(readPageText(html)), 'a b c');
});

for (const [html, text] of [
  ['<p>Updated <time>1 May</time> by us</p>', 'Updated by us'],
  ['<p>Updated <time>1 <b>May</b></p><p>and more</p>', 'Updated and more'],
  ['<p>At</time> once</p>', 'At once'],
  ['<div>On <time><div>1 May</div><p>2026</time> we</div>', 'On we'],
  ['<div>On <time><br>1 May <time>2</time> 3</time> we</div>', 'On we'],
  ['<div><time><p>1 May</div>we', 'we'],
  ['<time>1 May<h2>News</h2>we', 'News we'],
  ['<time>1 May<main>we', 'we'],
] as const) {
  test(`without times, the text of ${html} is "${text}"`, () => {
    assert.equal(textOf(readPageText(html, usualPageBounds, { pictures: false, times: false })), text);
  });
}

test('a reader that needs no links is not cut by them', () => {
  const { links, isCut } = readPageText('<a href=a>a</a>', { ...usualPageBounds, maxLinks: 0 });
  assert.deepEqual(links, []);
  assert.equal(isCut, false);
});

const tags = ['main', 'article', 'nav', 'div', 'h1', 'h2', 'a', 'p', 'header', 'body', 'head', 'svg', 'br'];
const attributes = [
  '',
  ' hidden',
  ' role="main"',
  ' id="x"',
  ' aria-hidden="true"',
  ' href="#y"',
  ' lang="de"',
];
const markup = fc
  .array(
    fc.oneof(
      fc
        .tuple(fc.constantFrom(...tags), fc.constantFrom(...attributes), fc.constantFrom('<', '</'))
        .map(([tag, attribute, opening]) => `${opening}${tag}${attribute}>`),
      fc.constantFrom('word', ' ', '&amp;', '<!--', '-->', '<', '"', '\0', '\ud800', '漢字'),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => pieces.join(''));

test('no markup stops the reader: ranges are in order and apart, and words have one blank between them', () => {
  fc.assert(
    fc.property(markup, (html) => {
      const page = readPageText(html);
      let done = 0;
      for (const { from, to } of page.main) {
        assert.ok(from >= done && to > from && to <= html.length);
        done = to;
      }
      if (page.main.length === 0) assert.equal(textOf(page), '');
      assert.doesNotMatch(textOf(page), /\s\s|^\s|\s$/);
    }),
    { numRuns: 2000 },
  );
});

test('a reader that needs no ranges gets the same text', () => {
  fc.assert(
    fc.property(markup, (html) => {
      const { main: _ranges, ...page } = readPageText(html);
      const { main, ...same } = readPageText(html, { ...usualPageBounds, maxRanges: 0 });
      assert.deepEqual(main, []);
      assert.deepEqual(same, page);
    }),
    { numRuns: 500 },
  );
});
