// The Markdown of a page that a test writes.

import { pageMarkdown } from '#site/markdown/page-markdown.ts';
import type { MarkdownSite } from '#site/markdown/site-links.ts';
import { readPageText } from '#site/pages/page-text.ts';

const docs: MarkdownSite = { origin: 'https://docs.example.com', basePath: '/docs' };

/** Without the title that it gets where its body has none. */
export function markdownOf(body: string, path = 'guides/page.html', site = docs): string {
  const html = `<!doctype html><title>T</title><main><h1>T</h1>${body}</main>`;
  return pageMarkdown(html, readPageText(html), path, site)
    .replace(/^# T\n+/, '')
    .trimEnd();
}
