// One page as Markdown: CommonMark with tables, blocks of code with their language, and absolute links. Refuses navigation, code for
// browsers and what is hidden. Invariant: the same page gives the same text, which begins with the title of the page as a heading.

import { htmlToMarkdown } from '@mdream/js/core';
import { readHtmlTokens } from '#platform/html/html-tokens.ts';
import { attributeOf } from '../pages/content-scope.ts';
import { type PageText, shownTitle } from '../pages/page-text.ts';
import { plainContent } from './content-html.ts';
import { escapedText } from './inline-writer.ts';
import { locateFrom, type MarkdownSite, siteAddress } from './site-links.ts';

/**
 * @param html of the page
 * @param page what was read of it
 * @param path of its file in the bundle
 */
export function pageMarkdown(html: string, page: PageText, path: string, site: MarkdownSite): string {
  const [{ from: start = html.length } = {}] = page.main;
  const source = page.main.map(({ from, to }) => html.slice(from, to)).join('');
  const content = plainContent(source, locateFrom(path, site, baseOf(html.slice(0, start))));
  const title = page.sections.some(({ level }) => level === 1)
    ? ''
    : `<h1>${escapedText(shownTitle(page))}</h1>`;
  const markdown = htmlToMarkdown(title + content.html).trim();
  const isCut = content.isCut || page.isCut;
  const end = isCut ? `\n\nThis text is cut off. The whole page: ${siteAddress(path, site)}` : '';
  return `${markdown}${end}\n`;
}

/** Of the first `<base href>` in front of the content. */
function baseOf(head: string): string | undefined {
  if (!/<base\s/i.test(head)) return undefined;
  let base: string | undefined;
  readHtmlTokens(head, {
    isDone: () => base !== undefined,
    start: ({ tagName, attrs }) => {
      if (tagName === 'base') base ??= attributeOf(attrs, 'href');
    },
    end: () => {},
    text: () => {},
  });
  return base;
}
