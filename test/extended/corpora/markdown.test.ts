// The Markdown that is made of built sites, compared with the Markdown that they were built from: headings, code, tables and links, each by
// micromark, which made neither. `CORPORA=vitepress,mkdocs` before the command compares these alone.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeMarkdownFiles } from '#site/markdown/markdown-files.ts';
import { type Content, missingFrom } from '../../support/markdown/content.ts';
import { readMarkdown } from '../../support/markdown/read-markdown.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';
import { findCorpus } from './build.ts';
import { corpusPages } from './content.ts';
import { fileCorpora } from './corpora.ts';
import type { Corpus } from './corpus.ts';

const leastKept = 0.99;
const parts = ['headings', 'code', 'tables', 'links'] as const;
type Parts = Pick<Content, (typeof parts)[number]>;

/** Generators name a page by its source, its address or its file: the last two names say which it is. */
function comparable({ links, ...content }: Content, path: string): Parts {
  const pageOf = (address: string): string =>
    new URL(address, `https://docs.example.com/${path}`).pathname
      .replace(/(?:\/|\/index)?(?:\.html|\.md)?$/, '')
      .split('/')
      .slice(-2)
      .join('/');
  return { ...content, links: links.map((link) => link.replace(/^\S+/, pageOf)) };
}

async function madeOf(corpus: Corpus): Promise<ReadonlyMap<string, string>> {
  const folder = await findCorpus(corpus);
  const paths = globSync('**/*.html', { cwd: folder });
  const site = memoryBundle(
    Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path))])),
  );
  const files = new Map<string, string>();
  const { signal } = new AbortController();
  for await (const { path, bytes } of makeMarkdownFiles({ basePath: '' })(site, { signal })) {
    files.set(path, Buffer.from(bytes).toString());
  }
  return files;
}

async function compareWithSources(corpus: Corpus, t: TestContext): Promise<void> {
  const made = await madeOf(corpus);
  const wanted = { headings: 0, code: 0, tables: 0, links: 0 };
  const missing: Record<(typeof parts)[number], string[]> = { headings: [], code: [], tables: [], links: [] };
  for (const { path } of corpusPages) {
    const [, text = ''] = Object.entries(corpus.files).find(([name]) => name.endsWith(`${path}.md`)) ?? [];
    const source = comparable(readMarkdown(String(text).replace(/^---\n.*?\n---\n/s, '')), path);
    const twins = [...made].filter(([name]) => name.endsWith(`${path}.md`));
    assert.ok(twins.length > 0, path);
    for (const [, markdown] of twins) {
      const found = comparable(readMarkdown(markdown), path);
      for (const part of parts) {
        assert.ok(source[part].length > 0, `${path}: ${part}`);
        wanted[part] += source[part].length;
        missing[part].push(...missingFrom(found[part], source[part]));
      }
    }
  }
  for (const part of parts) {
    const kept = 1 - missing[part].length / wanted[part];
    t.diagnostic(`${corpus.name}: ${part} ${wanted[part]}, kept ${kept.toFixed(4)}`);
    assert.ok(kept >= leastKept, `${part}: ${missing[part].slice(0, 5).join('; ')}`);
  }
}

const chosen = process.env['CORPORA']?.split(',');
const [first] = corpusPages;
const hasSources = ({ files }: Corpus): boolean =>
  Object.keys(files).some((name) => name.endsWith(`${first?.path}.md`));

for (const corpus of fileCorpora.filter(hasSources)) {
  if (chosen !== undefined && !chosen.includes(corpus.name)) continue;
  test(`${corpus.name}: Markdown of its pages has what their sources have`, { timeout: 10 * 60_000 }, (t) =>
    compareWithSources(corpus, t),
  );
}
