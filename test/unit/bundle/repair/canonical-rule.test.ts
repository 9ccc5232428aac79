// Canonical and OpenGraph addresses without their host, before and after each mode of the rule.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repaired } from './repaired-site.ts';

const rows: readonly (readonly [name: string, before: string, set: string, strip: string])[] = [
  [
    'a host with undefined in front',
    '<link rel="canonical" href="https://undefined.docs.example.com/guide?a=1#b">',
    '<link rel="canonical" href="https://docs.acme.com/guide?a=1#b">',
    '',
  ],
  [
    'undefined in place of the host',
    `<meta content='http://undefined/guide' property='og:url'>`,
    `<meta content='http://docs.acme.com/guide' property='og:url'>`,
    '',
  ],
  [
    'null in place of the host',
    '<meta property=og:image content=https://null/a.png>',
    '<meta property=og:image content=https://docs.acme.com/a.png>',
    '',
  ],
  [
    'null in place of the address',
    '<link rel="canonical" href="null"/>',
    '<link rel="canonical" href="https://docs.acme.com/guide"/>',
    '',
  ],
  [
    'a base that was undefined',
    '<meta name="twitter:url" content="undefined/x">',
    '<meta name="twitter:url" content="https://docs.acme.com/x">',
    '',
  ],
  [
    'an address in another language',
    '<link rel="alternate" hreflang="de" href="https://undefined.a.com/de">',
    '<link rel="alternate" hreflang="de" href="https://docs.acme.com/de">',
    '',
  ],
  [
    'a picture at a base that was undefined',
    '<meta property="og:image" content="undefined/a.png">',
    '<meta property="og:image" content="https://docs.acme.com/a.png">',
    '',
  ],
  ...[
    '<meta property="og:image" content="undefined">',
    `<meta content='null?w=1200' name='twitter:image'>`,
    '<meta property="og:video" content="https://undefined">',
    '<meta property="og:audio" content=null>',
    '<link rel="image_src" href="https://undefined.docs.example.com">',
    '<link rel="alternate" hreflang="de" href="undefined">',
  ].map((element) => [`no path of its own, ${element}`, element, '', ''] as const),
  [
    'a query without a path',
    '<meta property="og:url" content="undefined?a=1">',
    '<meta property="og:url" content="https://docs.acme.com/guide?a=1">',
    '',
  ],
  [
    'the host of the home page alone',
    '<link rel="canonical" href="https://undefined.docs.example.com">',
    '<link rel="canonical" href="https://docs.acme.com">',
    '',
  ],
  [
    'a sound address',
    '<link rel="canonical" href="https://docs.example.com/undefined">',
    '<link rel="canonical" href="https://docs.example.com/undefined">',
    '<link rel="canonical" href="https://docs.example.com/undefined">',
  ],
  [
    'a host that only begins so',
    '<link rel="canonical" href="https://undefinedbehaviour.com/">',
    '<link rel="canonical" href="https://undefinedbehaviour.com/">',
    '<link rel="canonical" href="https://undefinedbehaviour.com/">',
  ],
  [
    'a link for readers',
    '<a href="https://undefined.example.com/">',
    '<a href="https://undefined.example.com/">',
    '<a href="https://undefined.example.com/">',
  ],
  [
    'a page about it',
    '<pre>&lt;link rel="canonical" href="null"></pre>',
    '<pre>&lt;link rel="canonical" href="null"></pre>',
    '<pre>&lt;link rel="canonical" href="null"></pre>',
  ],
];

for (const [name, before, set, strip] of rows) {
  test(`the canonical rule sets and strips: ${name}`, async () => {
    const site = { 'index.html': 'home', 'guide.html': `<head>${before}<title>é</title></head>` };
    const around = (inside: string) =>
      Buffer.from(`<head>${inside}<title>é</title></head>`).toString('latin1');
    const kept = await repaired(site);
    assert.equal(kept.site['guide.html'], around(before));
    const isBroken = before !== strip;
    assert.equal(kept.plan.rules.find(({ rule }) => rule === 'canonical')?.kept, isBroken ? 1 : 0);
    assert.equal(kept.plan.isChanged, false);
    assert.equal((await repaired(site, 'canonical=set=docs.acme.com')).site['guide.html'], around(set));
    const stripped = await repaired(site, 'canonical=strip');
    assert.equal(stripped.site['guide.html'], around(strip));
    assert.deepEqual(stripped.counts, isBroken ? { canonical: 1 } : {});
  });
}

test('an element that is taken out leaves no other one', async () => {
  const link = '<link rel=canonical href=null>';
  const { site } = await repaired({ 'index.html': `<${link}${link.slice(1)}` }, 'canonical=strip');
  assert.equal(site['index.html'], `< ${link.slice(1)}`);
  assert.deepEqual((await repaired(site, 'canonical=strip')).counts, {});
});

test('an element in the body stays, because no search engine reads it there', async () => {
  const page = '<head></head><body><link rel="canonical" href="null"></body>';
  assert.deepEqual((await repaired({ 'index.html': page }, 'canonical=strip')).counts, {});
});

test('an address that was null gets the address that the bundle server answers', async () => {
  const head = '<link rel=canonical href=null>';
  const { site } = await repaired(
    { 'index.html': head, 'a/index.html': head, "b's.html": head, 'c.htm': head },
    'canonical=set=docs.acme.com:8443',
  );
  assert.deepEqual(site, {
    'index.html': '<link rel=canonical href=https://docs.acme.com:8443/>',
    'a/index.html': '<link rel=canonical href=https://docs.acme.com:8443/a/>',
    "b's.html": '<link rel=canonical href=https://docs.acme.com:8443/b%27s>',
    'c.htm': '<link rel=canonical href=https://docs.acme.com:8443/c.htm>',
  });
});
