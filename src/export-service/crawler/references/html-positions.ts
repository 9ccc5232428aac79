// Where the addresses of an HTML or SVG document stand in its source: in attributes, in style sheets, in what a meta element
// refreshes to. Reads the same tables as html-references.ts, and in addition those attributes that a visitor's browser follows
// and a crawler does not. Never throws and never recurses.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { readCssPositions } from './css-references.ts';
import { attributeForm, isPictureMeta, refreshTarget } from './html-references.ts';
import { readImportMapIntegrity } from './import-map.ts';
import type { Span } from './next-stream.ts';
import { type AddressPosition, addReferences, type IntegrityPosition } from './reference.ts';
import { readSrcsetPositions } from './srcset.ts';

export interface HtmlPositions {
  /** Of the first `<base href>`: what references are relative to. */
  readonly base: string | undefined;
  readonly positions: readonly AddressPosition[];
  /** Text of scripts without `src`. */
  readonly scripts: readonly Span[];
  /** Of elements and of import maps. */
  readonly integrity: readonly IntegrityPosition[];
}

/** No page of the site is behind them, or they are the base of others. */
const followed = new Set(['base.href', 'link.href', 'form.action', 'button.formaction', 'input.formaction']);

/** @param source one character for each byte */
export function readHtmlPositions(source: string): HtmlPositions {
  const positions: AddressPosition[] = [];
  const scripts: Span[] = [];
  const integrity: IntegrityPosition[] = [];
  let base: string | undefined;
  let open: { readonly tag: TagToken; readonly from: number } | undefined;
  const finish = (to: number): void => {
    if (open === undefined) return;
    const { tag, from } = open;
    open = undefined;
    if (isImportMap(tag)) addReferences(integrity, readImportMapIntegrity(source, { from, to }));
    if (tag.tagName === 'script') scripts.push({ from, to });
    else addReferences(positions, moved(readCssPositions(source.slice(from, to)), from));
  };
  readHtmlTokens(
    source,
    {
      start: (tag, isOpen) => {
        addReferences(positions, positionsOf(source, tag));
        addReferences(integrity, integrityOf(source, tag));
        if (tag.tagName === 'base') base ??= tag.attrs.find(({ name }) => name === 'href')?.value;
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
  return { base, positions, scripts, integrity };
}

function* positionsOf(source: string, tag: TagToken): Generator<AddressPosition> {
  for (const { name, value } of tag.attrs) {
    const span = valueSpan(source, tag, name);
    if (span === undefined) continue;
    const { from } = span;
    const raw = source.slice(from, span.to);
    const key = `${tag.tagName}.${name}`;
    const form = followed.has(key) ? 'address' : attributeForm(tag, name);
    if (form === 'address') yield { text: value, at: from };
    else if (form === 'set') yield* moved(readSrcsetPositions(raw), from);
    else if (name === 'style') yield* moved(readCssPositions(withQuotes(raw)), from);
    else if (key === 'meta.content') yield* metaPositions(tag, raw, from);
  }
}

/** From behind the opening quote to behind the closing one. */
function valueSpan(source: string, tag: TagToken, name: string): Span | undefined {
  const { startOffset = 0, endOffset = 0 } = tag.location?.attrs?.[name] ?? {};
  const opening = /^[^\s=]+\s*=\s*["']?/.exec(source.slice(startOffset, endOffset))?.[0].length;
  return opening === undefined ? undefined : { from: startOffset + opening, to: endOffset };
}

/** Attributes with the address of what `integrity` is about. */
const loaded: Readonly<Record<string, string>> = { 'script.integrity': 'src', 'link.integrity': 'href' };

function* integrityOf(source: string, tag: TagToken): Generator<IntegrityPosition> {
  const name = loaded[`${tag.tagName}.integrity`];
  const hashes = valueSpan(source, tag, 'integrity');
  if (name === undefined || hashes === undefined) return;
  const at = valueSpan(source, tag, name)?.from;
  const address = addressOf(source, tag, name);
  if (at === undefined || address === undefined) return;
  const isQuoted = /["']/.test(source.charAt(hashes.from - 1));
  yield { address, addressAt: at, hashes: { from: hashes.from, to: hashes.to - (isQuoted ? 1 : 0) } };
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

function* moved(positions: Iterable<AddressPosition>, by: number): Generator<AddressPosition> {
  for (const position of positions) yield { ...position, at: position.at + by };
}

/** With quotes as such, and blanks for the rest of their references: every other character keeps its position. */
function withQuotes(raw: string): string {
  return raw.replace(/&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);/gi, (reference) =>
    (/quot|34|22/.test(reference) ? '"' : "'").padEnd(reference.length),
  );
}
