import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFullText, llmsText } from '#site/markdown/llms-text.ts';
import { makeMarkdownFiles } from '#site/markdown/markdown-files.ts';
import type { MarkdownSite } from '#site/markdown/site-links.ts';
import { type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';

const page = (title: string, more = '', head = ''): string =>
  `<!doctype html><html lang="en"><title>${title} | Docs</title>${head}<main><h1>${title}</h1><p>About ${title}.</p>${more}</main>`;

async function filesOf(site: MemorySite, of: MarkdownSite = {}): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const { signal } = new AbortController();
  for await (const { path, bytes } of makeMarkdownFiles(of)(memoryBundle(site), { signal })) {
    assert.ok(!files.has(path), path);
    files.set(path, Buffer.from(bytes).toString());
  }
  return files;
}

test('each page has one twin, and the lists name them by folder', async () => {
  const files = await filesOf(
    {
      '404.html': page('Not found'),
      '.hidden/x.html': page('Hidden'),
      'app.js': '',
      'changelog.html': page('Changes'),
      'guides/index.html': page('All guides'),
      'guides/install.html': page('Install', '', '<meta name="description" content="How to [install]">'),
      'guides/secret.html': page('Secret', '', '<meta name="robots" content="noindex">'),
      'index.html': page('Start', '', '<meta name="description" content="The docs">'),
      'ja/index.html': page('Japanese').replace('lang="en"', 'lang="ja"'),
    },
    { origin: 'https://docs.example.com', basePath: '/docs' },
  );
  assert.deepEqual(
    [...files.keys()].sort(),
    'changelog.md guides.md guides/install.md guides/secret.md index.md ja.md llms-full.txt llms.txt'.split(
      ' ',
    ),
  );
  assert.equal(
    files.get('llms.txt'),
    `# Start | Docs

> The docs

## All guides

- [All guides](https://docs.example.com/docs/guides.md)
- [Install](https://docs.example.com/docs/guides/install.md): How to \\[install\\]

## Pages

- [Start](https://docs.example.com/docs/index.md): The docs

## Optional

- [Changes](https://docs.example.com/docs/changelog.md)
- [Japanese](https://docs.example.com/docs/ja.md)
`,
  );
  const full = files.get('llms-full.txt') ?? '';
  assert.match(full, /^# Start \| Docs\n\n> The docs\n\nThis file has 3 of 5 pages\. /);
  assert.match(full, /\n- https:\/\/docs\.example\.com\/docs\/ja\.md\n/);
  assert.match(
    full,
    /\n---\n\n# Install\n\nAbout Install\.\n\nSource: https:\/\/docs\.example\.com\/docs\/guides\/install\.md\n/,
  );
  assert.doesNotMatch(full, /About (?:Secret|Japanese|Changes|Hidden)/);
});

test('files of the origin are kept, under each of their spellings, and are in the lists', async () => {
  const own = { 'a.html.md': 'own a', 'b/index.html.md': 'own b', 'c.md': 'own c', 'd/index.md': 'own d' };
  const files = await filesOf({
    ...own,
    'a.html': page('A'),
    'b/index.html': page('B'),
    'c/index.html': page('C'),
    'd.html': page('D'),
    'e.html': page('E'),
  });
  assert.deepEqual([...files.keys()], ['e.md', 'llms.txt', 'llms-full.txt']);
  for (const path of Object.keys(own)) assert.ok(files.get('llms.txt')?.includes(`(/${path})`), path);
  for (const text of Object.values(own)) assert.ok(files.get('llms-full.txt')?.includes(`\n${text}\n`), text);
  const lists = { 'llms.txt': 'own', 'llms-full.txt': 'own' };
  assert.deepEqual([...(await filesOf({ ...lists, 'a.html': page('A') })).keys()], ['a.md']);
});

test('a bundle without pages gets no file', async () => {
  assert.deepEqual([...(await filesOf({ 'a.txt': 'a', '404.html': page('Not found') })).keys()], []);
});

test('a page and the page of a folder of its name have a twin each', async () => {
  const files = await filesOf({
    'index.html': page('A'),
    'index/index.html': page('B'),
    'x.html': page('X'),
    'x/index.html': page('Y'),
  });
  assert.deepEqual(
    [...files.keys()].filter((path) => path.endsWith('.md')),
    ['index.md', 'index/index.md', 'x.md', 'x/index.md'],
  );
});

test('a twin never takes the address of a page', async () => {
  const files = await filesOf({
    'a.html': page('A'),
    'a.md.html': page('A as a page'),
    'b/index.html': page('B'),
    'b.md/index.html': page('B as a page'),
  });
  assert.deepEqual(
    [...files.keys()].filter((path) => path.endsWith('.md')),
    ['a/index.html.md', 'a.md.md', 'b.md.md', 'b/index.html.md'],
  );
});

test('a full text has no more bytes than it may, and says what it leaves out', () => {
  const site = { title: 'Docs', summary: '', language: 'en' };
  const entry = (at: number) => ({
    path: `${at}.html`,
    address: `/${at}.md`,
    title: `${at}`,
    description: '',
    language: 'en',
  });
  const full = createFullText(100_000);
  for (let at = 0; at < 1000; at += 1) full.add(entry(at), 'ä'.repeat(5000));
  const text = full.text(site);
  assert.ok(Buffer.byteLength(text) <= 100_000);
  assert.match(text, /This file has 3 of 1000 pages\. .*5 MB have no room:\n\n- \/3\.md\n/);
  assert.match(text, /\n- and 897 more, which llms\.txt lists\n/);
});

test('a title or description of a page cannot end its line or its link', () => {
  const site = { title: 'a\n# b', summary: 'c\n\n## d', language: undefined };
  const evil = {
    path: 'x/y.html',
    address: '/x/y.md',
    title: 'e](http://a/)\n- f',
    description: 'g\n## h',
    language: undefined,
  };
  assert.equal(
    llmsText(site, [evil], 0),
    '# a # b\n\n> c ## d\n\n## X\n\n- [e\\](http://a/) - f](/x/y.md): g ## h\n',
  );
  assert.match(llmsText(site, [evil], 7), /\n\nThis list leaves out 7 of 8 pages\.\n\n/);
});
