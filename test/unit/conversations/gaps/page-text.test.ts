// What counts as a change of a page: what a visitor reads, and nothing that only a build makes different.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageTextHash } from '#conversations/gaps/page-text.ts';

const pageOf = ({
  script = 'a1b2',
  text = 'Ask the owner of your organization.',
  menu = 'Home',
  time = '1 May',
} = {}) =>
  `<!doctype html><html><head><title>SSO</title><link rel="stylesheet" href="/assets/${script}.css">
  <script src="/assets/${script}.js"></script><style>.x-${script}{color:red}</style></head>
  <body data-build="${script}"><nav><a href="/">${menu}</a></nav>
  <main><h1>Single sign-on</h1><p class="c-${script}">${text}</p><img src="/${script}.png" alt="The sign-on page">
  <footer>Updated <time>${time}</time></footer></main>
  <script>self.__state={"build":"${script}"}</script></body></html>`;
const page = pageOf();

const rows: readonly (readonly [change: string, other: string, isSame: boolean])[] = [
  ['names of scripts and styles, inline scripts and attributes', pageOf({ script: 'c3d4' }), true],
  ['a menu', pageOf({ menu: 'Start' }), true],
  ['a date in a footer', pageOf({ time: '2 May' }), true],
  ['a sentence', pageOf({ text: 'Choose Security, then Single sign-on.' }), false],
  ['one letter', pageOf({ text: 'Ask the owner of your organisation.' }), false],
  ['white space', page.replaceAll(/\s*\n\s*/g, ''), true],
  ['comments between words', page.replace('owner of', 'owner<!-- --> of'), true],
  ['an entity for its letter', page.replace('owner', '&#111;wner'), true],
  ['the text of a picture', page.replace('The sign-on page', 'The settings'), false],
  ['a heading', page.replace('<h1>Single sign-on</h1>', '<h1>SAML</h1>'), false],
  ['a script in the text', page.replace('</p>', '<script>let x = "more text"</script></p>'), true],
  ['a link of a heading to itself', page.replace('</h1>', '<a href="#sso">¶</a></h1>'), true],
  ['a template', page.replace('</p>', '<template>more text</template></p>'), true],
];

for (const [change, other, isSame] of rows) {
  test(`a page with another value of ${change} has ${isSame ? 'the same' : 'another'} text`, () => {
    assert.equal(pageTextHash(page) === pageTextHash(other), isSame);
    assert.ok(pageTextHash(page) !== undefined);
  });
}

test('without the element main, the text is that of the page without its menus', () => {
  const plain = (text: string, menu: string): string =>
    `<title>Guide</title><nav>${menu}</nav><h1>Guide to the settings</h1><p>${text}`;
  assert.equal(pageTextHash(plain('One way.', 'Home')), pageTextHash(plain('One way.', 'Start')));
  assert.notEqual(pageTextHash(plain('One way.', 'Home')), pageTextHash(plain('Two ways.', 'Home')));
});

test('a menu that never ends does not hide the rest of its page', () => {
  const open = (text: string): string =>
    `<nav><a href="/">Home</a><main><p>${text} way of some length, and more</p></main>`;
  assert.notEqual(pageTextHash(open('One')), pageTextHash(open('Two')));
});

test('an icon hides nothing of what follows it', () => {
  const drawn = (text: string): string =>
    `<main><svg><style/><title/><path d="M0 0"/></svg><p>${text} way of some length, and more</p></main>`;
  assert.ok(pageTextHash(drawn('One')) !== undefined);
  assert.notEqual(pageTextHash(drawn('One')), pageTextHash(drawn('Two')));
});

const textless: readonly (readonly [page: string, html: string])[] = [
  ['an empty page', ''],
  ['a page that its scripts draw', '<div id="root"></div><script>draw("a long text of the page")</script>'],
  ['a tag with endless attributes', `<p>${'Enough text of a page. '.repeat(5)}</p><a ${'a'.repeat(200_000)}`],
];
for (const [name, html] of textless) {
  test(`${name} has no hash of its text, so that its file decides`, () => {
    assert.equal(pageTextHash(html), undefined);
  });
}

test('a page of more sections than are read has no hash of its text, so that its file decides', () => {
  assert.equal(pageTextHash(`<main>${'<h2>One of many</h2>'.repeat(50_001)}`), undefined);
});
