// Whether a page is the shell of an app: a script puts the content into it. Reads a bounded body in one pass. Refuses pages with
// a heading or with more than a few words, and those that say that something was not found. Never runs a script.

import { readHtmlTokens } from '#platform/html/html-tokens.ts';

/** Not shown, or shown only without scripts. */
const unseen: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'title']);
/** Such as "Loading, please wait". */
const maxText = 40;

export function isAppShell(html: string): boolean {
  let text = '';
  let inside: string | undefined;
  let hasScript = false;
  let hasHeading = false;
  readHtmlTokens(html, {
    start: ({ tagName, attrs }, isOpen) => {
      const type = attrs.find(({ name }) => name === 'type')?.value ?? '';
      if (tagName === 'script' && /^(?:|module|(?:text|application)\/javascript)$/i.test(type))
        hasScript = true;
      if (/^h[1-6]$/.test(tagName)) hasHeading = true;
      if (isOpen && inside === undefined && unseen.has(tagName)) inside = tagName;
    },
    end: ({ tagName }) => {
      if (tagName === inside) inside = undefined;
    },
    text: (chars) => {
      if (inside === undefined && text.length <= maxText) text += `${chars.slice(0, maxText + 1)} `;
    },
  });
  const isShort = text.replace(/\s/g, '').length <= maxText;
  return hasScript && !hasHeading && isShort && !/\b404\b|not\s+found/i.test(text);
}
