// Finds what an HTML or SVG document links to and loads. One pass over its tokens, driven by tables of elements and
// attributes. Never throws and never recurses, because the document chooses its depth. Never changes the document.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { readCssReferences } from './css-references.ts';
import {
  type AddressPosition,
  addReferences,
  asHint,
  maxReferences,
  type Reference,
  type ReferenceUse,
} from './reference.ts';
import { wholePage } from './script-references.ts';
import { readSrcset } from './srcset.ts';

export interface HtmlReferences {
  /** Of the first `<base href>`: what references are relative to. */
  readonly base: string | undefined;
  readonly references: readonly Reference[];
  /** Text of scripts without `src`, data blocks included. */
  readonly inlineScripts: readonly string[];
  /** Addresses of scripts and preloads, as written. */
  readonly scriptSources: readonly string[];
  /** Not read to its end: a tag that no browser would take. */
  readonly isPartial: boolean;
}

type Element = TagToken;

/** element.attribute → use, in lower case as tokens are; `*` is any element. */
const attributeUses = usesOf({
  page: 'a.href a.xlink:href area.href iframe.src frame.src object.data embed.src',
  asset:
    'script.src img.src input.src audio.src video.src video.poster source.src track.src use.href use.xlink:href image.href image.xlink:href feimage.href feimage.xlink:href *.background',
  hint: '*.data-src',
});
const srcsetUses = usesOf({ asset: 'img.srcset source.srcset link.imagesrcset', hint: '*.data-srcset' });
/** By `rel`. */
const linkUses = usesOf({
  page: 'next prev previous alternate first last start contents index glossary help copyright license author up',
  asset:
    'stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon manifest search preload modulepreload',
  hint: 'prefetch',
});

/** @param names by use, with blanks between them */
function usesOf(names: Readonly<Partial<Record<ReferenceUse, string>>>): ReadonlyMap<string, ReferenceUse> {
  const uses = ['page', 'asset', 'hint'] as const;
  return new Map(uses.flatMap((use) => (names[use] ?? '').split(' ').map((name) => [name, use] as const)));
}

/** Pictures of a page that other sites show. Visitors do not notice a missing one. */
const metaPictures =
  /^(?:og:image|og:image:url|twitter:image|msapplication-tileimage|msapplication-config)$/i;

const maxMetaLength = 4096;

/** A text of one word a token takes forty bytes for each until its pieces are joined. */
const maxPieces = 1024;

/** @param pieceLength how much is read at a time; it changes nothing of what is found */
export function readHtmlReferences(html: string, pieceLength?: number): HtmlReferences {
  const references: Reference[] = [];
  const inlineScripts: string[] = [];
  const scriptSources: string[] = [];
  let base: string | undefined;
  /** The style or script without `src` that is open. */
  let open: { readonly tagName: string; readonly pieces: string[]; text: string } | undefined;

  const finish = (): void => {
    const text = open === undefined ? '' : open.text + open.pieces.join('');
    if (open?.tagName === 'style') addReferences(references, readCssReferences(text));
    else if (text !== '') inlineScripts.push(text);
    open = undefined;
  };
  const addText = (chars: string): void => {
    if (open === undefined || open.pieces.push(chars) < maxPieces) return;
    open.text += open.pieces.join('');
    open.pieces.length = 0;
  };
  const start = (element: Element, isOpen: boolean): void => {
    const { tagName } = element;
    addReferences(references, readElement(element));
    if (tagName === 'base') base ??= attribute(element, 'href');
    const source = tagName === 'script' ? attribute(element, 'src') : preloadSource(element);
    if (source !== undefined && scriptSources.length < maxReferences) scriptSources.push(source);
    const isCode = tagName === 'style' || tagName === 'script';
    if (isOpen && isCode && source === undefined) open = { tagName, pieces: [], text: '' };
  };
  const end = ({ tagName }: Element): void => {
    if (tagName === open?.tagName) finish();
  };
  const isWhole = readHtmlTokens(html, { start, end, text: addText, space: addText }, pieceLength);
  finish();
  addReferences(references, scriptSources.flatMap(wholePage).map(asHint));
  return { base, references, inlineScripts, scriptSources, isPartial: !isWhole };
}

function* readElement(element: Element): Generator<Reference> {
  for (const attr of element.attrs) {
    const { name } = attr;
    const use = lookUp(attributeUses, element, name);
    if (use !== undefined) yield { text: attr.value, use };
    const setUse = lookUp(srcsetUses, element, name);
    if (setUse !== undefined) for (const text of readSrcset(attr.value)) yield { text, use: setUse };
    if (name === 'style') yield* readCssReferences(attr.value);
  }
  if (element.tagName === 'link') yield* readLink(element);
  else if (element.tagName === 'meta') yield* readMeta(element);
}

function lookUp(
  table: ReadonlyMap<string, ReferenceUse>,
  { tagName }: Element,
  name: string,
): ReferenceUse | undefined {
  return table.get(`${tagName}.${name}`) ?? table.get(`*.${name}`);
}

/** How an attribute of the tables holds what it names: one address, or several as a srcset. */
export function attributeForm(element: Element, name: string): 'address' | 'set' | undefined {
  if (lookUp(attributeUses, element, name) !== undefined) return 'address';
  return lookUp(srcsetUses, element, name) === undefined ? undefined : 'set';
}

function* readLink(element: Element): Generator<Reference> {
  const href = attribute(element, 'href');
  const rels = (attribute(element, 'rel') ?? '').toLowerCase().split(/\s+/);
  const uses = rels.map((rel) => linkUses.get(rel)).filter((use) => use !== undefined);
  if (href === undefined || uses.length === 0) return;
  // `alternate stylesheet` is a style sheet; the strongest claim of an asset wins over that of a page.
  yield { text: href, use: uses.includes('asset') ? 'asset' : (uses[0] ?? 'hint') };
}

function* readMeta(element: Element): Generator<Reference> {
  const content = metaContent(attribute(element, 'content') ?? '');
  const target = refreshTarget(element, content);
  if (target !== undefined) yield { text: target.text, use: 'page' };
  if (isPictureMeta(element) && content !== '') yield { text: content, use: 'hint' };
}

/** Without what follows the last word: a regular expression would try every split of it. */
const metaContent = (content: string): string => content.slice(0, maxMetaLength).trimEnd();

/** @param content of the element, as read or as written. @returns where a refresh leads, and its position in the content */
export function refreshTarget(element: Element, content: string): AddressPosition | undefined {
  if (attribute(element, 'http-equiv')?.toLowerCase() !== 'refresh') return undefined;
  const opening = /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?/i;
  const whole = /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(\S.*))/is;
  const known = metaContent(content);
  const target = whole.exec(known);
  const written = target?.[1] ?? target?.[2] ?? target?.[3] ?? '';
  const quote = target?.[3] === undefined ? 1 : 0;
  const at = (opening.exec(known)?.[0].length ?? 0) + quote + written.length - written.trimStart().length;
  return written.trim() === '' ? undefined : { text: written.trim(), at };
}

export function isPictureMeta(element: Element): boolean {
  return metaPictures.test(attribute(element, 'property') ?? attribute(element, 'name') ?? '');
}

function preloadSource(element: Element): string | undefined {
  if (element.tagName !== 'link') return undefined;
  const isPreload = /(?:^|\s)(?:module)?preload(?:\s|$)/i.test(attribute(element, 'rel') ?? '');
  return isPreload ? attribute(element, 'href') : undefined;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name)?.value;
}
