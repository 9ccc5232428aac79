// Where the relative addresses of a page stand, and where its links lead. Works on text with one character for each byte, so that
// nothing that is not an address changes, whatever the encoding. Scripts are left as they are. Never throws; one pass.

import { attributeSpan } from '#platform/html/attribute-span.ts';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import type { SourceEdit } from '#platform/html/source-edits.ts';
import { readSrcsetPositions } from '#platform/html/srcset.ts';

/** element.attribute, in lower case as tokens are. The same name elsewhere holds data of a script, as in `<div data="{…}">`. */
const addressAttributes: ReadonlySet<string> = attributesOf({
  href: 'a area link base',
  src: 'img script iframe frame embed input audio video source track image',
  data: 'object',
  action: 'form',
  formaction: 'input button',
  poster: 'video',
  background: 'body table thead tbody tfoot tr td th',
  cite: 'blockquote q del ins',
  longdesc: 'img iframe frame',
});
/** Of SVG; either name, also inside HTML. */
const drawingAddresses: ReadonlySet<string> = attributesOf({
  href: 'use image feimage pattern lineargradient radialgradient filter textpath mpath script',
  'xlink:href': 'a use image feimage pattern lineargradient radialgradient filter textpath mpath script',
});
const setAttributes: ReadonlySet<string> = attributesOf({ srcset: 'img source', imagesrcset: 'link' });

/** @param elements by attribute, with blanks between them */
function attributesOf(elements: Readonly<Record<string, string>>): ReadonlySet<string> {
  const rows = Object.entries(elements);
  return new Set(rows.flatMap(([name, tags]) => tags.split(' ').map((tag) => `${tag}.${name}`)));
}

/** `url(` of a style, and an `@import`, up to the address. */
const styleAddress =
  /(?:\burl\(\s{0,9}(?:["']|&(?:quot|apos|#3[49]|#x2[27]);)?|@import\s{1,9}["'])(?=([^\s"')]{0,64}))/gi;
const refreshOpening = /^\s{0,99}[\d.]{0,20}\s{0,9}[;,]\s{0,9}(?:url\s{0,9}=\s{0,9})?["']?/i;

/** A page with more would be larger than any browser shows. */
const maxAddresses = 200_000;

interface Written {
  readonly text: string;
  readonly at: number;
}

/** Inserts a text in front of each address that is relative to the page. */
export function relativeEdits(source: string, insert: string): readonly SourceEdit[] {
  const found = new Set<number>();
  let base: Written | undefined;
  let styleFrom: number | undefined;
  const add = ({ text, at }: Written): void => {
    if (found.size < maxAddresses && isRelative(text)) found.add(at + leadingBlanks(source, at));
  };
  readHtmlTokens(
    source,
    {
      start: (tag, isOpen) => {
        const isBase = tag.tagName === 'base';
        for (const address of addressesOf(source, tag)) {
          if (!isBase) add(address);
          else if (base === undefined && /^[^?#]/.test(plainAddress(address.text))) base = address;
        }
        if (tag.tagName === 'style' && isOpen) styleFrom = tag.location?.endOffset;
      },
      end: ({ tagName, location }) => {
        if (tagName !== 'style' || styleFrom === undefined) return;
        for (const one of styleAddresses(source.slice(styleFrom, location?.startOffset), styleFrom)) add(one);
        styleFrom = undefined;
      },
      text: () => {},
    },
    undefined,
    true,
  );
  if (base !== undefined) {
    found.clear();
    add(base);
  }
  return [...found].sort((a, b) => a - b).map((at) => ({ at, drop: 0, insert }));
}

function* addressesOf(source: string, tag: TagToken): Generator<Written> {
  for (const { name, value } of tag.attrs) {
    const span = attributeSpan(source, tag, name);
    if (span === undefined) continue;
    const raw = source.slice(span.from, span.to);
    const key = `${tag.tagName}.${name}`;
    if (addressAttributes.has(key) || drawingAddresses.has(key)) yield { text: value, at: span.from };
    else if (setAttributes.has(key)) {
      for (const { text, at } of readSrcsetPositions(raw)) yield { text, at: span.from + at };
    } else if (name === 'style') yield* styleAddresses(raw, span.from);
    else if (name === 'content' && isRefresh(tag)) {
      const opening = refreshOpening.exec(raw)?.[0].length;
      if (opening !== undefined) yield { text: raw.slice(opening), at: span.from + opening };
    }
  }
}

const isRefresh = ({ tagName, attrs }: TagToken): boolean =>
  tagName === 'meta' &&
  attrs.some(({ name, value }) => name === 'http-equiv' && value.toLowerCase() === 'refresh');

function* styleAddresses(css: string, from: number): Generator<Written> {
  for (const match of css.matchAll(styleAddress)) {
    yield { text: match[1] ?? '', at: from + match.index + match[0].length };
  }
}

/** As a browser reads it: without blanks around it and line breaks inside. */
const plainAddress = (text: string): string => text.replace(/[\t\n\r]/g, '').trim();

/** Not of the host or another one, and not the page itself with another fragment or query. */
function isRelative(text: string): boolean {
  const plain = plainAddress(text);
  return plain !== '' && !/^(?:[/\\?#]|[a-z][a-z0-9+.-]*:)/i.test(plain);
}

function leadingBlanks(source: string, at: number): number {
  let end = at;
  while (end < source.length && source.charCodeAt(end) <= 0x20) end += 1;
  return end - at;
}

/**
 * The paths to which the links of a page lead on its own site, decoded, without slash at either end.
 *
 * @param path of the page
 */
export function linkedPaths(source: string, path: string): ReadonlySet<string> {
  const hrefs = new Set<string>();
  let base: string | undefined;
  readHtmlTokens(source, {
    start: ({ tagName, attrs }) => {
      const href = attrs.find(({ name }) => name === 'href')?.value;
      if (href === undefined) return;
      if (tagName === 'base' && /^[^?#]/.test(plainAddress(href))) base ??= href;
      else if ((tagName === 'a' || tagName === 'area') && hrefs.size < maxAddresses) hrefs.add(href);
    },
    end: () => {},
    text: () => {},
  });
  const page = `http://site/${path.split('/').map(encodeURIComponent).join('/')}`;
  const from = URL.parse(utf8(base ?? ''), page)?.href ?? page;
  const paths = new Set<string>();
  for (const href of hrefs) {
    const found = pathOf(href, from);
    if (found !== undefined) paths.add(found);
  }
  return paths;
}

const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

function pathOf(href: string, from: string): string | undefined {
  const url = URL.parse(utf8(href), from);
  if (url === null || url.host !== 'site') return undefined;
  try {
    return decodeURIComponent(url.pathname).replace(/^\//, '').replace(/\/$/, '');
  } catch {
    return undefined;
  }
}
