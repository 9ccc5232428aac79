// What an HTML or SVG document links to and loads. One walk over parse5's tree, driven by tables of elements and
// attributes; the document itself is never changed. Never throws and never recurses: depth is the document's choice.

import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { readCssReferences } from './css-references.ts';
import type { Reference, ReferenceUse } from './reference.ts';
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
}

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

/** element.attribute → use; `*` is any element. */
const attributeUses: Readonly<Record<string, ReferenceUse>> = {
  'a.href': 'page',
  'a.xlink:href': 'page',
  'area.href': 'page',
  'iframe.src': 'page',
  'frame.src': 'page',
  'object.data': 'page',
  'embed.src': 'page',
  'script.src': 'asset',
  'img.src': 'asset',
  'input.src': 'asset',
  'audio.src': 'asset',
  'video.src': 'asset',
  'video.poster': 'asset',
  'source.src': 'asset',
  'track.src': 'asset',
  'use.href': 'asset',
  'use.xlink:href': 'asset',
  'image.href': 'asset',
  'image.xlink:href': 'asset',
  'feImage.href': 'asset',
  'feImage.xlink:href': 'asset',
  '*.background': 'asset',
  '*.data-src': 'hint',
};
const srcsetUses: Readonly<Record<string, ReferenceUse>> = {
  'img.srcset': 'asset',
  'source.srcset': 'asset',
  'link.imagesrcset': 'asset',
  '*.data-srcset': 'hint',
};
const linkUses: Readonly<Record<string, ReferenceUse>> = {
  stylesheet: 'asset',
  icon: 'asset',
  'apple-touch-icon': 'asset',
  'apple-touch-icon-precomposed': 'asset',
  'apple-touch-startup-image': 'asset',
  'mask-icon': 'asset',
  'fluid-icon': 'asset',
  manifest: 'asset',
  search: 'asset',
  preload: 'asset',
  modulepreload: 'asset',
  prefetch: 'hint',
  next: 'page',
  prev: 'page',
  previous: 'page',
  alternate: 'page',
  first: 'page',
  last: 'page',
  start: 'page',
  contents: 'page',
  index: 'page',
  glossary: 'page',
  help: 'page',
  copyright: 'page',
  license: 'page',
  author: 'page',
  up: 'page',
};
/** Pictures that others show of a page. Their absence harms no visitor. */
const metaPictures =
  /^(?:og:image|og:image:url|twitter:image|msapplication-tileimage|msapplication-config)$/i;

const maxMetaLength = 4096;

export function readHtmlReferences(html: string): HtmlReferences {
  const references: Reference[] = [];
  const inlineScripts: string[] = [];
  const scriptSources: string[] = [];
  let base: string | undefined;
  const pending: Node[] = [parse(html, { scriptingEnabled: false })];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('tagName' in node) {
      references.push(...readElement(node));
      if (node.tagName === 'base') base ??= attribute(node, 'href');
      const source = node.tagName === 'script' ? attribute(node, 'src') : preloadSource(node);
      if (source !== undefined) scriptSources.push(source);
      else if (node.tagName === 'script') inlineScripts.push(textOf(node));
    }
    if ('content' in node) pending.push(node.content);
    if ('childNodes' in node) for (const child of node.childNodes.toReversed()) pending.push(child);
  }
  references.push(...scriptSources.flatMap(wholePage).map((text) => ({ text, use: 'hint' as const })));
  return { base, references, inlineScripts, scriptSources };
}

function* readElement(element: Element): Generator<Reference> {
  for (const attr of element.attrs) {
    const name = attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name;
    const use = lookUp(attributeUses, element, name);
    if (use !== undefined) yield { text: attr.value, use };
    const setUse = lookUp(srcsetUses, element, name);
    if (setUse !== undefined) for (const text of readSrcset(attr.value)) yield { text, use: setUse };
    if (name === 'style') yield* readCssReferences(attr.value);
  }
  if (element.tagName === 'style') yield* readCssReferences(textOf(element));
  else if (element.tagName === 'link') yield* readLink(element);
  else if (element.tagName === 'meta') yield* readMeta(element);
}

function lookUp(
  table: Readonly<Record<string, ReferenceUse>>,
  { tagName }: Element,
  name: string,
): ReferenceUse | undefined {
  return table[`${tagName}.${name}`] ?? table[`*.${name}`];
}

function* readLink(element: Element): Generator<Reference> {
  const href = attribute(element, 'href');
  const rels = (attribute(element, 'rel') ?? '').toLowerCase().split(/\s+/);
  const uses = rels.map((rel) => linkUses[rel]).filter((use) => use !== undefined);
  if (href === undefined || uses.length === 0) return;
  // `alternate stylesheet` is a style sheet; the strongest claim of an asset wins over that of a page.
  yield { text: href, use: uses.includes('asset') ? 'asset' : (uses[0] ?? 'hint') };
}

function* readMeta(element: Element): Generator<Reference> {
  const content = (attribute(element, 'content') ?? '').slice(0, maxMetaLength);
  if (attribute(element, 'http-equiv')?.toLowerCase() === 'refresh') {
    const target = /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(\S.*))/is.exec(content);
    const text = (target?.[1] ?? target?.[2] ?? target?.[3] ?? '').trim();
    if (text !== '') yield { text, use: 'page' };
  }
  const name = attribute(element, 'property') ?? attribute(element, 'name') ?? '';
  if (metaPictures.test(name) && content !== '') yield { text: content, use: 'hint' };
}

function preloadSource(element: Element): string | undefined {
  if (element.tagName !== 'link') return undefined;
  const isPreload = /(?:^|\s)(?:module)?preload(?:\s|$)/i.test(attribute(element, 'rel') ?? '');
  return isPreload ? attribute(element, 'href') : undefined;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name && !attr.prefix)?.value;
}

function textOf(element: Element): string {
  return element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}
