// Where a body of the site names an asset that was copied from another host, and what stands there instead. Reads addresses of
// pages and styles by their positions, texts of scripts and data as quoted literals, and HTML that data carry. Pure. Refuses prose:
// a page about a library may show the address that it loads. Invariant: linear time, and what is no such address keeps its bytes.

import { apart, type SourceEdit } from '#platform/html/source-edits.ts';
import type { BodyKind } from '#site/references/body-links.ts';
import { externalHref } from '#site/references/external.ts';
import type { Span } from '#site/references/next-stream.ts';
import type { BodyPositions } from '#site/references/positions.ts';
import { escapedFragment, padded } from './chosen-names.ts';
import { type DataForm, readHtmlInData, readHtmlInStream } from './html-in-data.ts';

export interface VendoredNames {
  /** From an address to a path in the bundle. */
  readonly paths: ReadonlyMap<string, string>;
  /** Of these addresses, each once. */
  readonly hosts: readonly string[];
  /** Where the bundle is served. */
  readonly basePath: string;
  /** Of a link that only prepares a connection to another host, or a later visit of it. */
  readonly dropsConnection: (href: string) => boolean;
}

export interface VendoredSource
  extends Pick<BodyPositions, 'positions' | 'scripts' | 'data' | 'counted' | 'connections' | 'policies'> {
  readonly role: BodyKind;
  /** One character for each byte. */
  readonly source: string;
  /** What relative addresses are relative to. */
  readonly base: URL;
  /** Of a page whose base is on another host. */
  readonly foreignBase?: ForeignBase | undefined;
}

/** It makes each relative address one of another host, also that of a copy. */
export interface ForeignBase {
  readonly span: Span;
  /** What addresses before it are relative to. */
  readonly own: URL;
}

/** How addresses stand in a text. What stands deeper is prose, such as a sample of code that the site shows. */
interface TextForm {
  /** Backslashes before a quote, at most: each text in a text adds some. */
  readonly mostEscapes: number;
  /** Whether `url(…)` is one too. */
  readonly hasCalls: boolean;
  /** Whether the length of an address counts. */
  readonly isCounted: boolean;
}

const scriptForm: TextForm = { mostEscapes: 8, hasCalls: true, isCounted: false };
const dataForm: TextForm = { mostEscapes: 0, hasCalls: false, isCounted: false };
const textForms: Readonly<Partial<Record<BodyKind, TextForm>>> = {
  script: scriptForm,
  payload: { ...dataForm, isCounted: true },
  manifest: dataForm,
  other: dataForm,
};

/** @returns edits in order, none within another */
export function editVendored(body: VendoredSource, names: VendoredNames): readonly SourceEdit[] {
  const { role, source, data, scripts } = body;
  const form = textForms[role];
  if (form !== undefined) {
    const whole = { from: 0, to: source.length };
    return apart([...textEdits(body, whole, form, names), ...streamEdits(body, names)]);
  }
  return apart([
    ...(body.foreignBase === undefined
      ? addressEdits(body, names)
      : foreignEdits(body, body.foreignBase, names)),
    ...connectionEdits(body, names),
    ...policyEdits(body, names),
    ...data.flatMap((span) => [
      ...literalEdits(body, span, dataForm, names),
      ...htmlEdits(body, span, { isAttribute: true }, names),
    ]),
    ...scripts.flatMap((span) => textEdits(body, span, formOf(source, span), names)),
    ...streamEdits(body, names),
  ]);
}

/** Literals, and addresses of the HTML that data carry. A script's own literals are read however deep they stand. */
function textEdits(
  body: VendoredSource,
  span: Span,
  form: TextForm,
  names: VendoredNames,
): readonly SourceEdit[] {
  const literals = literalEdits(body, span, form, names);
  return form === scriptForm
    ? literals
    : apart([...literals, ...htmlEdits(body, span, { isStream: form.isCounted }, names)]);
}

function htmlEdits(
  { source, base }: VendoredSource,
  span: Span,
  form: DataForm,
  names: VendoredNames,
): readonly SourceEdit[] {
  const found = readHtmlInData(source, span, holdsOf(names), form);
  return copiesIn(found, base, form.isStream === true, names);
}

/** Long texts of React's stream. */
function streamEdits(
  { source, base, counted, role }: VendoredSource,
  names: VendoredNames,
): readonly SourceEdit[] {
  if (counted.length === 0) return [];
  const found = readHtmlInStream(source, counted, holdsOf(names), role === 'document');
  return copiesIn(found, base, true, names);
}

const holdsOf =
  ({ hosts }: VendoredNames) =>
  (piece: string): boolean =>
    hosts.some((host) => piece.includes(host));

function copiesIn(
  found: ReturnType<typeof readHtmlInData>,
  base: URL,
  isCounted: boolean,
  names: VendoredNames,
): readonly SourceEdit[] {
  return found.flatMap(({ text, at, to }) => {
    const copy = copyOf(plainText(Buffer.from(text, 'latin1').toString()), base, names);
    if (copy === undefined) return [];
    const { address, fragment } = copy;
    const insert = isCounted ? padded(address, to - at - fragment.length) : address;
    return [{ at, drop: to - at, insert: `${insert}${fragment}` }];
  });
}

/** Of a script of a page: React's stream is data within a text, and says its lengths. */
function formOf(source: string, { from, to }: Span): TextForm {
  const text = source.slice(from, to);
  if (text.includes('__next_f')) return { mostEscapes: 1, hasCalls: false, isCounted: true };
  return /^\s{0,64}[[{]/.test(text) ? dataForm : scriptForm;
}

function addressEdits({ positions, base }: VendoredSource, names: VendoredNames): readonly SourceEdit[] {
  return positions.flatMap(({ text, at, to }) => {
    // Positions in scripts have no end: they are read as literals.
    if (to === undefined) return [];
    const written = plainText(Buffer.from(text, 'latin1').toString());
    const copy = copyOf(written, base, names);
    return copy === undefined ? [] : [{ at, drop: to - at, insert: `${copy.address}${copy.fragment}` }];
  });
}

/**
 * A page with a copy has its own base again, so that addresses without a copy are written out. Addresses of the page itself, such as
 * `#part`, lead to the page.
 */
function foreignEdits(
  { source, positions, base }: VendoredSource,
  { span, own }: ForeignBase,
  names: VendoredNames,
): readonly SourceEdit[] {
  let hasCopy = false;
  const edits = positions.flatMap(({ text, at, to, isRaw }): readonly SourceEdit[] => {
    if (to === undefined || at === span.from) return [];
    const isBefore = at < span.from;
    const written = plainText(Buffer.from(text, 'latin1').toString());
    const copy = copyOf(written, isBefore ? own : base, names);
    hasCopy ||= copy !== undefined;
    if (copy !== undefined) return [{ at, drop: to - at, insert: `${copy.address}${copy.fragment}` }];
    const href = isBefore || !isRelative(written) ? undefined : externalHref(written, base);
    if (href === undefined) return [];
    const insert = `${writtenOut(href)}${escapedFragment(written)}`;
    // In an attribute, `&lt` begins a character reference.
    return [{ at, drop: to - at, insert: isRaw === true ? insert : insert.replaceAll('&', '&amp;') }];
  });
  if (!hasCopy) return [];
  const isQuoted = /["']/.test(source.charAt(span.from - 1));
  return [...edits, { at: span.from, drop: span.to - span.from, insert: isQuoted ? '' : '""' }];
}

const isRelative = (text: string): boolean => !/^(?:$|#|[a-z][a-z\d+.-]*:)/i.test(text.trim());

/** Without what would end an attribute, a style or a character reference. */
const writtenOut = (href: string): string =>
  href.replace(/["'();<>]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

function connectionEdits({ connections, base }: VendoredSource, names: VendoredNames): readonly SourceEdit[] {
  return connections.flatMap(({ text, tag }) => {
    const href = externalHref(text, base);
    const isDropped = href !== undefined && names.dropsConnection(href);
    return isDropped ? [{ at: tag.from, drop: tag.to - tag.from, insert: '' }] : [];
  });
}

/** A policy that lets a copied file come from its host lets the copy come from the site. */
function policyEdits({ source, policies }: VendoredSource, { hosts }: VendoredNames): readonly SourceEdit[] {
  if (policies.length === 0) return [];
  const namesCopied = (word: string): boolean => {
    const name = word.replace(/^https?:\/\//i, '').replace(/\/.*$/s, '');
    return hosts.some((host) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name));
  };
  return policies.flatMap(({ from, to }) =>
    [...source.slice(from, to).matchAll(directive)].flatMap(({ 0: written, index }) => {
      const [, ...sources] = written.trim().split(/\s+/);
      const isSelf = sources.some((word) => /^(?:'|&(?:apos|#39|#x27);)self/i.test(word) || word === '*');
      if (isSelf || !sources.some(namesCopied)) return [];
      return [{ at: from + index + written.trimEnd().length, drop: 0, insert: ' &#39;self&#39;' }];
    }),
  );
}

/** A semicolon ends it, but not one of a character reference. */
const directive = /(?:&#?\w{1,8};|[^;])+/g;

/** As HTML and scripts write it, also one within the other. */
const plainText = (text: string): string =>
  text
    .replaceAll(/\\{1,8}u0026/gi, '&')
    .replaceAll(/&(?:amp|#38|#x26);/gi, '&')
    .replaceAll(/\\{1,8}\//g, '/');

/** An address with a host, as scripts and data write it: `https://x/y`, `//x/y`, `https:\/\/x\/y`. */
const hostStart = /(?:https?:)?(?:\\{0,8}\/){2}(?=[\w[])/gi;
/** What stands before a literal: a quote, or the bracket of a style's `url(`. */
const opening = /(?:(\\{0,16})["'`]|(\()|&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);)$/i;
/** A backslash belongs to an address only where it begins an escape of one of its characters. */
const literal = /(?:[^\s"'`<>()\\&]|\\{1,8}(?:u0026|\/)|&(?!quot;|apos;|#0{0,4}3[49];|#x0{0,4}2[27];))*/giy;
/** What stands behind it, or the descriptor of a picture in a set. */
const closing =
  /(?:\\{0,8}["'`)]|&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);|,?\s{1,16}(?:[\d.]{1,12}[wx]|https?:))/iy;
/** What stands before an address that is not the first of a set. A comma alone also stands in prose. */
const nextOfSet = /[\d.]{1,12}[wx],\s{1,16}$/;
const mostLiteral = 8192;

/** Addresses of a script or of data that stand in quotes as a whole. */
function literalEdits(
  { source, base }: VendoredSource,
  { from, to }: Span,
  { mostEscapes, hasCalls, isCounted }: TextForm,
  names: VendoredNames,
): readonly SourceEdit[] {
  const text = source.slice(from, to);
  const edits: SourceEdit[] = [];
  let done = 0;
  for (const { 0: start, index } of text.matchAll(hostStart)) {
    if (index < done) continue;
    const before = text.slice(Math.max(0, index - 48), index);
    const [isOpened, escapes = '', call] = opening.exec(before) ?? [];
    const isQuoted =
      isOpened !== undefined && escapes.length <= mostEscapes && (call === undefined || hasCalls);
    if (!(isQuoted || nextOfSet.test(before))) continue;
    literal.lastIndex = index + start.length;
    const end = index + start.length + (literal.exec(text)?.[0].length ?? 0);
    if (end - index > mostLiteral) continue;
    const written = text.slice(index, end).replace(/,$/, '');
    closing.lastIndex = index + written.length;
    if (!closing.test(text)) continue;
    const copy = copyOf(plainText(Buffer.from(written, 'latin1').toString()), base, names);
    if (copy === undefined) continue;
    const { address, fragment } = copy;
    // A module has one name: elsewhere, another query would make another one of it.
    const insert = isCounted ? padded(address, written.length - fragment.length) : address;
    edits.push({ at: from + index, drop: written.length, insert: `${insert}${fragment}` });
    done = end;
  }
  return edits;
}

interface Copy {
  readonly address: string;
  /** Which glyph, or which part of a picture. */
  readonly fragment: string;
}

function copyOf(text: string, base: URL, { paths, basePath }: VendoredNames): Copy | undefined {
  const href = externalHref(text, base);
  const path = href === undefined ? undefined : paths.get(href);
  if (path === undefined) return undefined;
  return { address: `${basePath}/${path}`, fragment: escapedFragment(text) };
}
