// Search boxes and assistants that need the vendor's server or an index that the archive does not have: a style hides them. The
// table has the tools whose elements are known; Algolia's box is not in it, because it asks a server of its own. Pure. Refuses
// pages without such an element. Invariant: a page gets one such style, however often the rule runs.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import type { SourceEdit } from '#platform/html/source-edits.ts';

interface DeadElement {
  readonly tool: string;
  readonly by: 'id' | 'class' | 'tag';
  readonly names: readonly string[];
}

const deadElements: readonly DeadElement[] = [
  {
    tool: 'Mintlify',
    by: 'id',
    names: [
      ...['search-bar-entry', 'search-bar-entry-mobile', 'assistant-entry', 'assistant-entry-mobile'],
      ...['chat-assistant-sheet', 'chat-assistant-textarea'],
    ],
  },
  { tool: 'Mintlify', by: 'class', names: ['chat-assistant-floating-input'] },
  { tool: 'Starlight', by: 'tag', names: ['site-search'] },
  { tool: 'Nextra', by: 'class', names: ['nextra-search'] },
  { tool: 'VitePress', by: 'id', names: ['local-search'] },
  { tool: 'MkDocs Material', by: 'class', names: ['md-search'] },
  { tool: 'mdBook', by: 'id', names: ['search-toggle', 'mdbook-search-toggle'] },
  { tool: 'ReadMe', by: 'class', names: ['rm-SearchToggle'] },
  { tool: 'kapa.ai', by: 'id', names: ['kapa-widget-container'] },
];

const namesBy = (by: DeadElement['by']): ReadonlySet<string> =>
  new Set(deadElements.filter((element) => element.by === by).flatMap(({ names }) => names));
const ids = namesBy('id');
const classes = namesBy('class');
const tags = namesBy('tag');
const hint = new RegExp([...ids, ...classes, ...tags].join('|'));

const prefixes = { id: '#', class: '.', tag: '' } as const;
const selectors = deadElements.flatMap(({ by, names }) => names.map((name) => `${prefixes[by]}${name}`));
const marker = '<style data-static-export="search-box">';
const style = `${marker}${selectors.join(',')}{display:none!important}</style>`;

/** A box is in the header of a page, and most of the page lies behind it. */
const pieceLength = 8 * 1024;

/** @param hasSearchIndex of the archive; its boxes may work */
export function searchBoxEdits(source: string, hasSearchIndex: boolean): readonly SourceEdit[] {
  if (hasSearchIndex || !hint.test(source) || source.includes(marker)) return [];
  let hasElement = false;
  let headEnd: number | undefined;
  let bodyStart: number | undefined;
  const start = (tag: TagToken): void => {
    hasElement ||= isDead(tag);
    if (tag.tagName === 'body') bodyStart ??= tag.location?.startOffset;
  };
  const end = ({ tagName, location }: TagToken): void => {
    // Only in front of the body, so that what is found does not depend on how much is read.
    if (tagName === 'head' && bodyStart === undefined) headEnd ??= location?.startOffset;
  };
  const isDone = (): boolean => hasElement && (headEnd ?? bodyStart) !== undefined;
  readHtmlTokens(source, { start, end, text: () => {}, isDone }, pieceLength, true);
  return hasElement ? [{ at: headEnd ?? bodyStart ?? source.length, drop: 0, insert: style }] : [];
}

function isDead({ tagName, attrs }: TagToken): boolean {
  return (
    tags.has(tagName) ||
    attrs.some(
      ({ name, value }) =>
        (name === 'id' && ids.has(value.trim())) ||
        (name === 'class' && value.split(/\s+/).some((one) => classes.has(one))),
    )
  );
}
