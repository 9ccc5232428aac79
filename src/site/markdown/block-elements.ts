// What the elements of a page mean for its Markdown. Refuses what is not content: code for browsers, controls, and text for screen
// readers alone. Invariant: a table of names, so that no page changes what an element means.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf } from '../pages/content-scope.ts';
import type { InlineFormat } from './inline-writer.ts';

export type BlockKind =
  | 'heading'
  | 'list'
  | 'terms'
  | 'item'
  | 'term'
  | 'definition'
  | 'quote'
  | 'summary'
  | 'plain';

const blocks: Readonly<Record<string, BlockKind>> = {
  ...Object.fromEntries(
    ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name): readonly [string, BlockKind] => [name, 'heading']),
  ),
  ...{ ul: 'list', ol: 'list', menu: 'list', dl: 'terms', li: 'item', dt: 'term', dd: 'definition' },
  ...{ blockquote: 'quote', summary: 'summary' },
  ...Object.fromEntries(
    'address article aside body button caption center details div fieldset figcaption figure footer form header hgroup html main p section'
      .split(' ')
      .map((name): readonly [string, BlockKind] => [name, 'plain']),
  ),
};
const formats: Readonly<Record<string, InlineFormat>> = {
  ...{ strong: 'strong', b: 'strong', em: 'em', i: 'em', del: 'del', s: 'del', strike: 'del' },
  ...{ code: 'code', kbd: 'code', samp: 'code', tt: 'code' },
};
const admonitionClasses: ReadonlySet<string> = new Set(
  'admonition custom-block theme-admonition starlight-aside'.split(' '),
);
const admonitionTitles: ReadonlySet<string> = new Set(
  'admonition-title custom-block-title starlight-aside__title'.split(' '),
);
/** Their text is never content, and a tokenizer finds their end. */
const rawElements: ReadonlySet<string> = new Set('iframe script style textarea title'.split(' '));
const leftOut: ReadonlySet<string> = new Set(
  'annotation button input noscript object select svg template'.split(' '),
);
const tableParts: ReadonlySet<string> = new Set('tr td th thead tbody tfoot'.split(' '));
const leftOutClasses: ReadonlySet<string> = new Set(
  'headerlink header-anchor hash-link sr-only visually-hidden screen-reader-text'.split(' '),
);

const numberClasses: ReadonlySet<string> = new Set(
  'linenos lineno linenumber line-number line-numbers gutter ln rouge-gutter lntd-numbers'.split(' '),
);

/** `undefined` for an element that does not part texts. */
export function blockKindOf(tag: TagToken): BlockKind | undefined {
  const kind = Object.hasOwn(blocks, tag.tagName) ? blocks[tag.tagName] : undefined;
  if (kind !== 'plain') return kind;
  const classes = classesOf(tag);
  if (classes.some((one) => admonitionClasses.has(one))) return 'quote';
  return classes.some((one) => admonitionTitles.has(one)) ? 'summary' : kind;
}

export function inlineFormatOf(tagName: string): InlineFormat | undefined {
  return Object.hasOwn(formats, tagName) ? formats[tagName] : undefined;
}

export function isTablePart(tagName: string): boolean {
  return tableParts.has(tagName);
}

/**
 * @param isInCode within `pre`, or a table that lays one out
 * @param keepsAll leaves out only what is never content
 */
export function isLeftOut(tag: TagToken, isInCode: boolean, keepsAll: boolean): boolean {
  const { tagName, attrs } = tag;
  if (rawElements.has(tagName)) return true;
  if (keepsAll) return false;
  if (leftOut.has(tagName)) return !(tagName === 'button' && attributeOf(attrs, 'role') === 'tab');
  if (attrs.length === 0) return false;
  const classes = classesOf(tag);
  if (classes.some((one) => leftOutClasses.has(one))) return true;
  // VitePress shows the language of a block next to it.
  if (tagName === 'span' && classes.length === 1 && classes[0] === 'lang') return true;
  return isInCode && isLineNumbers(tag);
}

function classesOf({ attrs }: TagToken): readonly string[] {
  const value = attributeOf(attrs, 'class');
  return value === undefined ? [] : value.split(/\s+/, maxClasses);
}

const maxClasses = 20;

/** Whether an element holds the numbers of lines. */
const isLineNumbers = (tag: TagToken): boolean => classesOf(tag).some((one) => numberClasses.has(one));
