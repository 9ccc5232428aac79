// Finds what an HTML or SVG document links to and loads. One pass over its tokens, driven by tables of elements and
// attributes. Never throws and never recurses, because the document chooses its depth. Never changes the document.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { readSrcset } from '#platform/html/srcset.ts';
import { readCssReferences } from './css-references.ts';
import {
  type AddressPosition,
  addReferences,
  asHint,
  type LoadUse,
  maxReferences,
  type Reference,
} from './reference.ts';
import { wholePage } from './script-references.ts';

export interface HtmlReferences {
  /** Of the first `<base href>`: what references are relative to. */
  readonly base: string | undefined;
  /** How many of the references come before it. */
  readonly baseAt: number;
  readonly references: readonly Reference[];
  /** Text of scripts without `src`, data blocks included. */
  readonly inlineScripts: readonly string[];
  /** Addresses of scripts and preloads, as written. */
  readonly scriptSources: readonly string[];
  /** Not read to its end: a tag that no browser would take. */
  readonly isPartial: boolean;
}

type Element = TagToken;

type Use = Omit<Reference, 'text'>;

/** By name of the attribute, then of the element, in lower case as tokens are; `*` is any element. */
type AttributeTable = ReadonlyMap<string, ReadonlyMap<string, Use>>;

const attributeUses = attributeTableOf([
  [{ use: 'page' }, 'a.href a.xlink:href area.href'],
  [{ use: 'page', load: 'frame' }, 'iframe.src frame.src object.data embed.src'],
  // Elements of SVG name their script by `href`.
  [{ use: 'asset', load: 'script' }, 'script.src script.href script.xlink:href'],
  [
    { use: 'asset', load: 'picture' },
    'img.src input.src video.poster use.href use.xlink:href image.href image.xlink:href feimage.href feimage.xlink:href body.background table.background thead.background tbody.background tfoot.background tr.background td.background th.background',
  ],
  [{ use: 'asset', load: 'media' }, 'audio.src source.src track.src'],
  [{ use: 'asset', load: 'video' }, 'video.src'],
  // Where scripts keep the address of a picture until a visitor comes near.
  [{ use: 'hint', load: 'picture', isLate: true }, 'img.data-src'],
  [{ use: 'hint' }, '*.data-src'],
]);
const srcsetUses = attributeTableOf([
  [{ use: 'asset', load: 'picture' }, 'img.srcset source.srcset'],
  [{ use: 'asset', load: 'preload' }, 'link.imagesrcset'],
  [{ use: 'hint', load: 'picture', isLate: true }, 'img.data-srcset source.data-srcset'],
  [{ use: 'hint' }, '*.data-srcset'],
]);
/** By `rel`. The first that an element has is what it is: `alternate stylesheet` is a style sheet. */
const linkUses = tableOf([
  [{ use: 'asset', load: 'style' }, 'stylesheet'],
  [{ use: 'asset', load: 'manifest' }, 'manifest search'],
  [{ use: 'asset', load: 'preload' }, 'preload modulepreload'],
  [
    { use: 'asset', load: 'picture' },
    'icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon',
  ],
  [
    { use: 'page' },
    'next prev previous alternate first last start contents index glossary help copyright license author up',
  ],
  [{ use: 'hint', load: 'prefetch' }, 'prefetch prerender'],
  [{ use: 'hint', load: 'connection' }, 'preconnect dns-prefetch'],
]);

/** @param rows names with blanks between them */
function tableOf(rows: readonly (readonly [Use, string])[]): ReadonlyMap<string, Use> {
  return new Map(rows.flatMap(([use, names]) => names.split(' ').map((name) => [name, use] as const)));
}

/** @param rows as of {@link tableOf}, with names such as `img.src` */
function attributeTableOf(rows: readonly (readonly [Use, string])[]): AttributeTable {
  const entries = [...tableOf(rows)].map(([name, use]) => ({ at: name.indexOf('.'), name, use }));
  const byAttribute = Map.groupBy(entries, ({ at, name }) => name.slice(at + 1));
  return new Map(
    [...byAttribute].map(([attribute, uses]) => [
      attribute,
      new Map(uses.map(({ at, name, use }) => [name.slice(0, at), use])),
    ]),
  );
}

/** By `rel`: what a browser only prepares. */
const connecting = new Set(['preconnect', 'dns-prefetch', 'prefetch', 'prerender']);
/** Types that browsers run (HTML: "JavaScript MIME type"; an empty one is one). */
const scriptType =
  /^(?:|module|text\/(?:javascript1\.[0-5]|jscript|livescript)|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/;

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
  let baseAt = 0;
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
  /** What a `<source>` belongs to. */
  let player: LoadUse = 'media';
  const start = (element: Element, isOpen: boolean): void => {
    const { tagName } = element;
    if (tagName === 'audio' || tagName === 'video') player = tagName === 'video' ? 'video' : 'media';
    if (element.attrs.length > 0) addReferences(references, readElement(element, player));
    const href = tagName === 'base' && base === undefined ? attribute(element, 'href') : undefined;
    if (href !== undefined) [base, baseAt] = [href, references.length];
    const source = tagName === 'script' ? attribute(element, 'src') : preloadSource(element);
    if (source !== undefined && scriptSources.length < maxReferences) scriptSources.push(source);
    const isCode = tagName === 'style' || tagName === 'script';
    if (isOpen && isCode && source === undefined) open = { tagName, pieces: [], text: '' };
  };
  const end = ({ tagName }: Element): void => {
    if (tagName === 'video') player = 'media';
    if (tagName === open?.tagName) finish();
  };
  const isWhole = readHtmlTokens(html, { start, end, text: addText, space: addText }, pieceLength);
  finish();
  addReferences(references, scriptSources.flatMap(wholePage).map(asHint));
  return { base, baseAt, references, inlineScripts, scriptSources, isPartial: !isWhole };
}

function* readElement(element: Element, player: LoadUse): Generator<Reference> {
  for (const { name, value } of element.attrs) {
    const use = addressUse(element, name, player);
    if (use !== undefined) yield { text: value, ...use };
    const setUse = lookUp(srcsetUses, element, name);
    if (setUse !== undefined) for (const text of readSrcset(value)) yield { text, ...setUse };
    if (name === 'style') yield* readCssReferences(value);
  }
  if (element.tagName === 'link') yield* readLink(element);
  else if (element.tagName === 'meta') yield* readMeta(element);
}

function addressUse(element: Element, name: string, player: LoadUse): Use | undefined {
  const { tagName } = element;
  const use = lookUp(attributeUses, element, name);
  if (use === undefined) return undefined;
  if (tagName === 'input') return typeOf(element) === 'image' ? use : undefined;
  if (tagName === 'source') return { ...use, load: player };
  // A script of another type runs only when another one changes it, such as after a consent.
  if (tagName === 'script' && !scriptType.test(typeOf(element)))
    return { use: 'hint', load: 'script', isLate: true };
  return use;
}

const typeOf = (element: Element): string => attribute(element, 'type')?.trim().toLowerCase() ?? '';

function lookUp(table: AttributeTable, { tagName }: Element, name: string): Use | undefined {
  const byElement = table.get(name);
  return byElement?.get(tagName) ?? byElement?.get('*');
}

/** How an attribute of the tables holds what it names: one address, or several as a srcset. */
export function attributeForm(element: Element, name: string): 'address' | 'set' | undefined {
  if (lookUp(attributeUses, element, name) !== undefined) return 'address';
  return lookUp(srcsetUses, element, name) === undefined ? undefined : 'set';
}

/** Whether a link only prepares a connection, or a later visit. */
export function isConnectionLink(element: Element): boolean {
  return element.tagName === 'link' && relsOf(element).every((rel) => connecting.has(rel));
}

const relsOf = (element: Element): readonly string[] =>
  (attribute(element, 'rel') ?? '').trim().toLowerCase().split(/\s+/);

function* readLink(element: Element): Generator<Reference> {
  const href = attribute(element, 'href');
  const rels = new Set(relsOf(element));
  if (href === undefined) return;
  // A description for browsers has its type; otherwise `search` is the page of a search, as of Sphinx.
  if (rels.has('search') && !/opensearch/.test(typeOf(element))) {
    yield { text: href, use: 'page' };
    return;
  }
  const use = linkUses.entries().find(([rel]) => rels.has(rel))?.[1];
  if (use !== undefined) yield { text: href, ...use };
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
