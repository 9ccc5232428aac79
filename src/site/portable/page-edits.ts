// Edits that make one page work from a disk: its addresses, the elements that go, and the script that takes their place. Works on text
// with one character for each byte. Never throws and never recurses; one pass. Invariant: the edits of edited text are none.

import { type AttributeSpan, attributeSpan, withQuotes } from '#platform/html/attribute-span.ts';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { inOrder, type SourceEdit } from '#platform/html/source-edits.ts';
import { readSrcsetPositions } from '#platform/html/srcset.ts';
import { attributeForm, isPictureMeta, refreshTarget } from '../references/html-references.ts';
import type { AddressUse, Relocated, TextAddresses } from './relocation.ts';
import { attributeText, elementGoes, type PageScripts, pageScripts } from './script-rule.ts';
import { type SpriteSymbol, type Sprites, spriteMarkup } from './sprites.ts';
import { asUtf8, type OnAddress, styleEdits } from './text-edits.ts';

export interface PageOutcome {
  readonly edits: readonly SourceEdit[];
  /** Files that the page still names. */
  readonly kept: ReadonlySet<string>;
  /** Files of scripts and hints that went. */
  readonly dropped: ReadonlySet<string>;
  /** Scripts that went. */
  readonly scripts: number;
  /** Addresses of the site without a file. */
  readonly lost: number;
  /** Pictures whose parts the page uses. */
  readonly sprites: ReadonlySet<string>;
}

/** element.attribute that no crawler follows; the rest is in the tables of html-references.ts. */
const followed = new Set(['link.href', 'form.action', 'button.formaction', 'input.formaction']);
const links = new Set(['a', 'area', 'form', 'button', 'input', 'iframe', 'frame', 'meta']);
/** `rel` of links that a browser loads. */
const loads =
  /(?:^|\s)(?:stylesheet|icon|apple-touch-icon(?:-precomposed)?|apple-touch-startup-image|mask-icon|fluid-icon|manifest|search|preload|modulepreload|prefetch|prerender)(?:\s|$)/i;
const loadedAttributes = ['src', 'href', 'poster', 'data'];

/**
 * @param script address of the script for readers, as the page names it; `undefined` for a picture, whose scripts stay
 * @param symbols of pictures, as far as they are read already
 */
export function pageEdits(
  source: string,
  addresses: TextAddresses,
  script: string | undefined,
  symbols: Sprites = new Map(),
): PageOutcome {
  const page = createPageReader(source, addresses, script, symbols);
  readHtmlTokens(source, { start: page.start, end: page.end, text: () => {} }, undefined, true);
  return page.finish();
}

interface OpenElement {
  readonly tag: TagToken;
  readonly from: number;
}

function createPageReader(
  source: string,
  addresses: TextAddresses,
  script: string | undefined,
  symbols: Sprites,
) {
  const edits: SourceEdit[] = [];
  const kept = new Set<string>();
  const dropped = new Set<string>();
  const sprites = new Set<string>();
  const used = new Map<string, SpriteSymbol>();
  const rule: PageScripts = pageScripts(source);
  let scripts = 0;
  let lost = 0;
  let open: OpenElement | undefined;
  let headEnd: number | undefined;
  let bodyStart: number | undefined;
  let bodyEnd: number | undefined;
  const keep: OnAddress = ({ target, isLost }) => {
    if (isLost) lost += 1;
    else if (target !== undefined) kept.add(target);
  };
  const drop = (from: number, to: number): void => {
    edits.push({ at: from, drop: to - from, insert: '' });
  };
  const dropScript = (target: string | undefined, from: number, to: number): void => {
    scripts += 1;
    if (target !== undefined) dropped.add(target);
    drop(from, to);
  };

  const closeOpen = (textEnd: number, end: number): void => {
    if (open === undefined) return;
    const { tag, from } = open;
    open = undefined;
    const text = source.slice(from, textEnd);
    if (tag.tagName === 'style') edits.push(...styleEdits(text, addresses, keep, from));
    else {
      const src = relocateAttribute(source, tag, 'src', addresses, 'load');
      if (script !== undefined && rule.goes(tag, src?.target, text))
        dropScript(src?.target, tag.location?.startOffset ?? from, end);
      else editAttributes(tag);
    }
  };

  const symbolOf = (tag: TagToken, name: string, target: string | undefined): SpriteSymbol | undefined => {
    const [, fragment] = tag.tagName === 'use' ? (attributeText(tag, name)?.split('#') ?? []) : [];
    if (target === undefined || fragment === undefined || !/href$/.test(name)) return undefined;
    sprites.add(target);
    const symbol = symbols.get(`${target}#${fragment}`);
    if (symbol !== undefined) used.set(symbol.id, symbol);
    return symbol;
  };

  const editAttributes = (tag: TagToken): void => {
    const own = new Set<string>();
    for (const { name } of tag.attrs) {
      for (const { edit, relocated } of attributeEdits(source, tag, name, addresses)) {
        if (relocated.target !== undefined) own.add(name);
        keep(relocated);
        const symbol = script === undefined ? undefined : symbolOf(tag, name, relocated.target);
        if (symbol !== undefined) edits.push(...valueEdit(source, tag, name, `#${symbol.id}`));
        else if (edit !== undefined) edits.push(edit);
      }
    }
    if (!loadedAttributes.some((name) => own.has(name)) && !own.has('srcset')) return;
    for (const name of ['integrity', 'crossorigin']) {
      const { startOffset, endOffset } = tag.location?.attrs?.[name] ?? {};
      if (startOffset === undefined || endOffset === undefined) continue;
      const blank = /\s/.test(source.charAt(startOffset - 1)) ? 1 : 0;
      drop(startOffset - blank, endOffset);
    }
  };

  const start = (tag: TagToken, isOpen: boolean): void => {
    const { tagName, location } = tag;
    const { startOffset, endOffset } = location ?? {};
    if (startOffset === undefined || endOffset === undefined) return;
    if (tagName === 'body') bodyStart ??= startOffset;
    if (isOpen && (tagName === 'script' || tagName === 'style')) {
      open = { tag, from: endOffset };
      if (tagName === 'style') editAttributes(tag);
      return;
    }
    if (tagName === 'base') {
      const href = attributeText(tag, 'href');
      if (href === undefined) return;
      addresses.setBase(decodedAttribute(source, tag, 'href'));
      const { startOffset: from = startOffset, endOffset: to = endOffset } = location?.attrs?.['href'] ?? {};
      if (attributeText(tag, 'target') === undefined) drop(startOffset, endOffset);
      else drop(from, to);
      return;
    }
    const href = tagName === 'link' ? relocateAttribute(source, tag, 'href', addresses, 'load') : undefined;
    if (elementGoes(tag, href?.target !== undefined)) {
      // What a page loads ahead may still be loaded by its text.
      if (href?.target !== undefined && isCode(tag)) dropped.add(href.target);
      drop(startOffset, endOffset);
    } else editAttributes(tag);
  };

  return {
    start,
    end: ({ tagName, location }: TagToken): void => {
      const end = location?.endOffset ?? source.length;
      if (tagName === open?.tag.tagName) closeOpen(location?.startOffset ?? end, end);
      if (tagName === 'head') headEnd ??= location?.startOffset;
      if (tagName === 'body') bodyEnd ??= location?.startOffset;
    },
    finish: (): PageOutcome => {
      closeOpen(source.length, source.length);
      const at = headEnd ?? bodyStart ?? source.length;
      if (scripts > 0) edits.push({ at, drop: 0, insert: `<script defer="" src="${script}"></script>` });
      const markup = spriteMarkup(used.values());
      if (markup !== '') edits.push({ at: bodyEnd ?? source.length, drop: 0, insert: markup });
      return { edits: edits.sort(inOrder), kept, dropped, scripts, lost, sprites };
    },
  };
}

/** The whole value of an attribute. */
function valueEdit(source: string, tag: TagToken, name: string, insert: string): readonly SourceEdit[] {
  const span = valueSpan(source, tag, name);
  return span === undefined ? [] : [{ at: span.from, drop: span.to - span.from, insert }];
}

function valueSpan(source: string, tag: TagToken, name: string): AttributeSpan | undefined {
  const span = attributeSpan(source, tag, name);
  if (span === undefined) return undefined;
  const isQuoted = /["']/.test(source.charAt(span.from - 1));
  return isQuoted && span.to > span.from ? { ...span, to: span.to - 1 } : span;
}

function isCode(tag: TagToken): boolean {
  const as = attributeText(tag, 'as')?.toLowerCase();
  return as === 'script' || as === 'fetch' || /modulepreload/i.test(attributeText(tag, 'rel') ?? '');
}

interface AttributeEdit {
  readonly relocated: Relocated;
  readonly edit: SourceEdit | undefined;
}

function* attributeEdits(
  source: string,
  tag: TagToken,
  name: string,
  addresses: TextAddresses,
): Generator<AttributeEdit> {
  const key = `${tag.tagName}.${name}`;
  const form = followed.has(key) ? 'address' : attributeForm(tag, name);
  const isMeta = key === 'meta.content';
  if (form === undefined && !isMeta && name !== 'style') return;
  const span = valueSpan(source, tag, name);
  if (span === undefined) return;
  const { from, to } = span;
  const raw = source.slice(from, to);
  if (name === 'style') {
    yield* styleAttributeEdits(raw, from, addresses);
  } else if (form === 'set') {
    for (const { text, at } of readSrcsetPositions(raw)) {
      const relocated = addresses.relocate(withoutReferences(asUtf8(text)), 'load');
      yield { relocated, edit: editOf(relocated, from + at, text.length) };
    }
  } else if (isMeta && !isPictureMeta(tag)) {
    const target = refreshTarget(tag, withQuotes(raw));
    if (target === undefined) return;
    const relocated = addresses.relocate(withoutReferences(asUtf8(target.text)), 'link');
    yield { relocated, edit: editOf(relocated, from + target.at, target.text.length) };
  } else {
    const relocated = relocateAttribute(source, tag, name, addresses, useOf(tag, name));
    if (relocated !== undefined) yield { relocated, edit: editOf(relocated, from, to - from) };
  }
}

function* styleAttributeEdits(raw: string, from: number, addresses: TextAddresses): Generator<AttributeEdit> {
  const found: Relocated[] = [];
  const edits = styleEdits(withQuotes(raw), addresses, (relocated) => found.push(relocated), from);
  const rest = edits.values();
  for (const relocated of found) {
    yield { relocated, edit: relocated.text === undefined ? undefined : rest.next().value };
  }
}

function editOf({ text }: Relocated, at: number, drop: number): SourceEdit | undefined {
  return text === undefined ? undefined : { at, drop, insert: text.replaceAll('&', '&amp;') };
}

function useOf(tag: TagToken, name: string): AddressUse {
  if (tag.tagName === 'link') return loads.test(attributeText(tag, 'rel') ?? '') ? 'load' : 'mention';
  if (tag.tagName === 'meta') return 'mention';
  return links.has(tag.tagName) && name !== 'background' ? 'link' : 'load';
}

function relocateAttribute(
  source: string,
  tag: TagToken,
  name: string,
  addresses: TextAddresses,
  use: AddressUse,
): Relocated | undefined {
  if (attributeText(tag, name) === undefined) return undefined;
  return addresses.relocate(decodedAttribute(source, tag, name), use);
}

/** As a browser reads it. Among characters that are bytes, one that a reference stands for cannot be told from a byte. */
function decodedAttribute(source: string, tag: TagToken, name: string): string {
  const value = attributeText(tag, name) ?? '';
  const { startOffset = 0, endOffset = 0 } = tag.location?.attrs?.[name] ?? {};
  const written = source.slice(startOffset, endOffset);
  if (!written.includes('&')) return asUtf8(value);
  let decoded: string | undefined;
  readHtmlTokens(`<a ${asUtf8(written)}>`, {
    start: ({ attrs }) => {
      decoded ??= attrs[0]?.value;
    },
    end: () => {},
    text: () => {},
  });
  return decoded ?? asUtf8(value);
}

/** Of addresses in lists, where nothing else is usual. */
const withoutReferences = (text: string): string => text.replace(/&(?:amp|#38|#x26);/gi, '&');
