// Pages one folder below the address that links name: which get a copy, and that the addresses of a copy lead to the same files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRouteTable } from '#server/content/route-table.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { repaired } from './repaired-site.ts';

const deep = 'guide/index/index.html';
const linking = (href: string) => ({ 'index.html': `<a href="${href}">x</a>` });

test('a page below the address that links name also lies there, and is answered', async () => {
  const before = { ...linking('/guide'), [deep]: '<p>guide</p>' };
  assert.equal(buildRouteTable(memoryBundle(before).index).find('/guide'), undefined);
  const { site, counts, plan } = await repaired(before);
  assert.deepEqual(site, { ...before, 'guide/index.html': '<p>guide</p>' });
  assert.deepEqual(counts, { 'folder-index': 1 });
  const table = buildRouteTable(memoryBundle(site).index);
  assert.deepEqual(table.find('/guide'), { kind: 'redirect', location: './guide/' });
  assert.equal(table.find('/guide/')?.kind, 'file');
  assert.equal(plan.pages, 3);
});

for (const [name, site] of [
  ['no page links there', { 'index.html': '<a href="/guide/index/">x</a>', [deep]: '' }],
  ['the folder has its page', { ...linking('/guide'), [deep]: '', 'guide/index.html': '' }],
  ['a page has that name', { ...linking('/guide'), [deep]: '', 'guide.html': '' }],
  ['a file has that name', { ...linking('/guide'), [deep]: '', guide: '' }],
  [
    'it would make the only folder one around the site',
    { [deep]: '<a href="/guide">x</a>', 'guide/a.html': '' },
  ],
  ['another site is linked', { ...linking('https://example.com/guide'), [deep]: '' }],
] as const) {
  test(`a page below another gets no copy where ${name}`, async () => {
    assert.deepEqual((await repaired(site)).counts, {});
  });
}

for (const href of ['guide', '/guide/', './guide#a', '/docs/guide?x=1', '/v1/docs/guide']) {
  test(`a link to ${href} names the address of a page that lies too deep`, async () => {
    assert.deepEqual((await repaired({ ...linking(href), [deep]: '' })).counts, { 'folder-index': 1 });
  });
}

test('a page two folders too deep gets both copies where both are linked', async () => {
  const page = '<img src="a.png">';
  const links = '<a href="/a">1</a><a href="/a/index">2</a>';
  const { site } = await repaired({ 'index.html': links, 'a/index/index/index.html': page });
  assert.equal(site['a/index/index.html'], '<img src="index/a.png">');
  assert.equal(site['a/index.html'], '<img src="index/index/a.png">');
});

test('relative addresses of a copy lead where those of the page lead, and no others change', async () => {
  const page = [
    '<link href=style.css rel=stylesheet><meta http-equiv="refresh" content="5; url=next.html">',
    '<style>@import "b.css"; p{background:url( "c.png" ),url(/d.png)}</style>',
    `<p style="background:url('e.png')"><img src=" f.png" srcset="g.png 1x, ../h.png 2x">`,
    '<a href="../i">i</a><a href="./j#k">j</a><a href="#l">l</a><a href="?m">m</a><a href="/n">n</a>',
    '<a href="https://a.com/o">o</a><a href="mailto:p@a.com">p</a><a href="//q/r">q</a><a href="">s</a>',
    '<script>import "./t.js"</script><script src="u.js"></script><img src="data:image/png;base64,AA==">',
  ].join('\n');
  const { site } = await repaired({ ...linking('/guide'), [deep]: page });
  assert.equal(
    site['guide/index.html'],
    [
      '<link href=index/style.css rel=stylesheet><meta http-equiv="refresh" content="5; url=index/next.html">',
      '<style>@import "index/b.css"; p{background:url( "index/c.png" ),url(/d.png)}</style>',
      `<p style="background:url('index/e.png')"><img src=" index/f.png" srcset="index/g.png 1x, index/../h.png 2x">`,
      '<a href="index/../i">i</a><a href="index/./j#k">j</a><a href="#l">l</a><a href="?m">m</a><a href="/n">n</a>',
      '<a href="https://a.com/o">o</a><a href="mailto:p@a.com">p</a><a href="//q/r">q</a><a href="">s</a>',
      '<script>import "./t.js"</script><script src="index/u.js"></script><img src="data:image/png;base64,AA==">',
    ].join('\n'),
  );
});

test('an attribute that is an address on another element alone is data, and stays', async () => {
  const page = [
    ...['<div data="{…}">', '<my-x action="save" src="x" href="y">', '<p cite="c">', '<input data="x">'],
    ...['<a src="x">', '<my-x srcset="a.png 1x">', '<div poster="p" background="b">'],
  ].join('\n');
  const { site } = await repaired({ ...linking('/guide'), [deep]: page });
  assert.equal(site['guide/index.html'], Buffer.from(page).toString('latin1'));
});

for (const element of [
  ...['<object data="@">', '<form action="@">', '<button formaction="@">', '<td background="@">'],
  ...['<blockquote cite="@">', '<video poster="@">', '<source srcset="@ 2x">', '<area href="@">'],
  ...['<link imagesrcset="@ 1x">', '<iframe src="@">', '<use xlink:href="@#x">', '<feImage href="@">'],
]) {
  test(`the address of a copy moves: ${element}`, async () => {
    const { site } = await repaired({ ...linking('/guide'), [deep]: element.replace('@', 'a') });
    assert.equal(site['guide/index.html'], element.replace('@', 'index/a'));
  });
}

test('where a page has a base, only its base moves', async () => {
  const of = async (base: string) =>
    (await repaired({ ...linking('/guide'), [deep]: `<base href="${base}"><img src="a.png">` })).site[
      'guide/index.html'
    ];
  assert.equal(await of('../x/'), '<base href="index/../x/"><img src="a.png">');
  assert.equal(await of('/x/'), '<base href="/x/"><img src="a.png">');
});
