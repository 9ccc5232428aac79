// Where the addresses of an HTML or SVG document stand in its source: in attributes, in style sheets, in what a meta element
// refreshes to. Reads the same tables as html-references.ts, and in addition those attributes that a visitor's browser follows
// and a crawler does not. Never throws and never recurses.

import { attributeSpan, withQuotes } from '#platform/html/attribute-span.ts';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { readSrcsetPositions } from '#platform/html/srcset.ts';
import { readCssPositions } from './css-references.ts';
import { attributeForm, isConnectionLink, isPictureMeta, refreshTarget } from './html-references.ts';
import { readImportMapIntegrity } from './import-map.ts';
import type { Span } from './next-stream.ts';
import { type AddressPosition, addReferences, type IntegrityPosition } from './reference.ts';

export interface HtmlPositions {
  /** Of the first `<base href>`: what references are relative to. */
  readonly base: string | undefined;
  /** Where that one is written. */
  readonly baseSpan: Span | undefined;
  readonly positions: readonly AddressPosition[];
  /** Those in the attributes of a script element. */
  readonly ofScripts: ReadonlySet<AddressPosition>;
  /** Text of scripts without `src`. */
  readonly scripts: readonly Span[];
  /** Of elements and of import maps. */
  readonly integrity: readonly IntegrityPosition[];
  /** Values of attributes that are data, as of components that a script brings to life. */
  readonly data: readonly Span[];
  /** Links that only prepare a connection or a later visit: what they name, and the whole tag. */
  readonly connections: readonly ConnectionPosition[];
  /** Values of a Content-Security-Policy that the page itself has. */
  readonly policies: readonly Span[];
}

export interface ConnectionPosition {
  readonly text: string;
  readonly tag: Span;
}

/** No page of the site is behind them, or they are the base of others. */
const followed = new Set(['base.href', 'link.href', 'form.action', 'button.formaction', 'input.formaction']);

/** @param source one character for each byte */
export function readHtmlPositions(source: string): HtmlPositions {
  const positions: AddressPosition[] = [];
  const ofScripts = new Set<AddressPosition>();
  const scripts: Span[] = [];
  const integrity: IntegrityPosition[] = [];
  const data: Span[] = [];
  const connections: ConnectionPosition[] = [];
  const policies: Span[] = [];
  let base: string | undefined;
  let baseSpan: Span | undefined;
  let open: { readonly tag: TagToken; readonly from: number } | undefined;
  const finish = (to: number): void => {
    if (open === undefined) return;
    const { tag, from } = open;
    open = undefined;
    if (isImportMap(tag)) addReferences(integrity, readImportMapIntegrity(source, { from, to }));
    if (tag.tagName === 'script') scripts.push({ from, to });
    else addReferences(positions, styleText(readCssPositions(source.slice(from, to)), from));
  };
  readHtmlTokens(
    source,
    {
      start: (tag, isOpen) => {
        const before = positions.length;
        addReferences(positions, positionsOf(source, tag));
        if (tag.tagName === 'script') for (const one of positions.slice(before)) ofScripts.add(one);
        addReferences(integrity, integrityOf(source, tag));
        addReferences(data, dataOf(source, tag));
        addReferences(connections, connectionsOf(tag));
        addReferences(policies, policyOf(source, tag));
        if (tag.tagName === 'base' && base === undefined) {
          base = tag.attrs.find(({ name }) => name === 'href')?.value;
          const span = base === undefined ? undefined : attributeSpan(source, tag, 'href');
          baseSpan = span && { from: span.from, to: valueEnd(source, span) };
        }
        const isCode = tag.tagName === 'style' || tag.tagName === 'script';
        const hasSource = tag.attrs.some(({ name }) => tag.tagName === 'script' && name === 'src');
        const from = tag.location?.endOffset;
        if (isOpen && isCode && !hasSource && from !== undefined) open = { tag, from };
      },
      end: ({ tagName, location }) => {
        if (tagName === open?.tag.tagName) finish(location?.startOffset ?? source.length);
      },
      text: () => {},
    },
    undefined,
    true,
  );
  finish(source.length);
  return { base, baseSpan, positions, ofScripts, scripts, integrity, data, connections, policies };
}

function* positionsOf(source: string, tag: TagToken): Generator<AddressPosition> {
  for (const { name, value } of tag.attrs) {
    const span = attributeSpan(source, tag, name);
    if (span === undefined) continue;
    const { from } = span;
    const raw = source.slice(from, span.to);
    const key = `${tag.tagName}.${name}`;
    const form = followed.has(key) ? 'address' : attributeForm(tag, name);
    if (form === 'address') yield { text: value, at: from, to: valueEnd(source, span) };
    else if (form === 'set') yield* moved(readSrcsetPositions(raw), from);
    else if (name === 'style') yield* moved(readCssPositions(withQuotes(raw)), from);
    else if (key === 'meta.content') yield* metaPositions(tag, raw, from);
  }
}

function* dataOf(source: string, tag: TagToken): Generator<Span> {
  for (const { name, value } of tag.attrs) {
    const span = /^\s{0,16}[[{]/.test(value) ? attributeSpan(source, tag, name) : undefined;
    if (span !== undefined) yield { from: span.from, to: valueEnd(source, span) };
  }
}

function* policyOf(source: string, tag: TagToken): Generator<Span> {
  const name = tag.attrs.find((attr) => tag.tagName === 'meta' && attr.name === 'http-equiv')?.value;
  const isPolicy = name?.trim().toLowerCase() === 'content-security-policy';
  const span = isPolicy ? attributeSpan(source, tag, 'content') : undefined;
  if (span !== undefined) yield { from: span.from, to: valueEnd(source, span) };
}

function* connectionsOf(tag: TagToken): Generator<ConnectionPosition> {
  const text = tag.attrs.find(({ name }) => name === 'href')?.value;
  const { location } = tag;
  if (text === undefined || !location || !isConnectionLink(tag)) return;
  yield { text, tag: { from: location.startOffset, to: location.endOffset } };
}

/** Attributes with the address of what `integrity` is about. */
const loaded: Readonly<Record<string, string>> = { 'script.integrity': 'src', 'link.integrity': 'href' };

function* integrityOf(source: string, tag: TagToken): Generator<IntegrityPosition> {
  const name = loaded[`${tag.tagName}.integrity`];
  const hashes = attributeSpan(source, tag, 'integrity');
  if (name === undefined || hashes === undefined) return;
  const at = attributeSpan(source, tag, name)?.from;
  const address = addressOf(source, tag, name);
  if (at === undefined || address === undefined) return;
  yield { address, addressAt: at, hashes: { from: hashes.from, to: valueEnd(source, hashes) } };
}

/** Before the closing quote, where there is one. */
function valueEnd(source: string, { from, to }: Span): number {
  return /["']/.test(source.charAt(from - 1)) ? to - 1 : to;
}

/** Read again as UTF-8: among characters that are bytes, one that a reference stands for cannot be told from a byte. */
function addressOf(source: string, { location }: TagToken, name: string): string | undefined {
  let address: string | undefined;
  const written = Buffer.from(source.slice(location?.startOffset, location?.endOffset), 'latin1');
  readHtmlTokens(written.toString(), {
    start: ({ attrs }) => {
      address ??= attrs.find((attr) => attr.name === name)?.value;
    },
    end: () => {},
    text: () => {},
  });
  return address;
}

function isImportMap({ tagName, attrs }: TagToken): boolean {
  const type = attrs.find(({ name }) => name === 'type')?.value;
  return tagName === 'script' && type?.trim().toLowerCase() === 'importmap';
}

function* metaPositions(tag: TagToken, raw: string, from: number): Generator<AddressPosition> {
  if (isPictureMeta(tag)) yield { text: raw, at: from };
  const target = refreshTarget(tag, withQuotes(raw));
  if (target !== undefined) yield { ...target, at: target.at + from };
}

function* styleText(positions: Iterable<AddressPosition>, by: number): Generator<AddressPosition> {
  for (const position of moved(positions, by)) yield { ...position, isRaw: true };
}

function* moved(positions: Iterable<AddressPosition>, by: number): Generator<AddressPosition> {
  for (const position of positions) {
    const { at, to } = position;
    yield { ...position, at: at + by, ...(to !== undefined && { to: to + by }) };
  }
}
