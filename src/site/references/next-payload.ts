// Finds the data files next to the pages of a Next.js static export. Its router builds their names, and no page has
// them: `x.txt` for the page `/x`, then `x/__next._tree.txt`, and a file per segment that the tree names. Without them
// every click gets a 404 and then loads a whole page. The Pages Router has them in a folder of the build, and a server that runs
// gives the data of `/x` for a header, which a bundle keeps as `x.txt` too. All found are hints. Never throws.

import { readJson } from '#platform/wire/json-text.ts';
import type { Address } from '../site-scope.ts';
import { asHint, type Reference } from './reference.ts';

/** A page's data as a whole. */
export function payloadOf(pagePath: string): Reference {
  const page = pagePath.endsWith('/') ? `${pagePath}index` : pagePath.replace(/\.html$/, '');
  return asHint(`${page}.txt`);
}

/** The type with which a server that runs answers a request for a page's data. */
export const isPayloadType = (contentType: string): boolean => /^text\/x-component\b/i.test(contentType);

/**
 * The address at which a server that runs has the data of a page. Its current versions want the query, which their client adds
 * too, and all of them want the header.
 * @param path of the file that a bundle has them in
 */
export function payloadAddress(path: string): Address | undefined {
  const page = /^(.*)\.txt$/.exec(path)?.[1]?.replace(/\/index$/, '/');
  return page === undefined ? undefined : { path: page, query: payloadQuery };
}

const payloadQuery = '?_rsc';

/** Headers of a request for data; none for another address. */
export const payloadHeaders = ({ query }: Address): Readonly<Record<string, string>> =>
  query === payloadQuery ? { rsc: '1' } : {};

/** What the Pages Router has at the end of the data in each page, behind what the page itself chose. */
const buildMember = /^"buildId":"([\w-]{1,100})"/;
const localeMember = /"locale":"([\w-]{1,40})"/;
const tailLength = 4096;

/**
 * @param script of a page, not run
 * @param anchors paths of the scripts of that page
 * @returns the data of this page, for which the Pages Router asks when a visitor navigates to it
 */
export function readPageData(
  script: string,
  pagePath: string,
  anchors: readonly string[],
): readonly Reference[] {
  const tail = script.slice(-tailLength);
  const end = tail.slice(Math.max(0, tail.lastIndexOf('"buildId":')));
  const build = /"gss?p":true/.test(end) ? buildMember.exec(end)?.[1] : undefined;
  const anchor = anchors.find((path) => path.includes('/_next/static/'));
  if (build === undefined || anchor === undefined) return [];
  const base = anchor.slice(0, anchor.indexOf('/_next/static/'));
  const page = (pagePath.startsWith(`${base}/`) ? pagePath.slice(base.length) : pagePath)
    .replace(/\.html$/, '')
    .replace(/\/$/, '');
  const locale = localeMember.exec(end)?.[1];
  const isLocal = locale === undefined || `${page}/`.startsWith(`/${locale}/`);
  const name = `${isLocal ? '' : `/${locale}`}${page}`;
  return [asHint(`${base}/_next/data/${build}${name === '' ? '/index' : name}.json`)];
}

/** Rows of React's stream: a number in hex, a colon, a value. */
const row = /^([0-9a-f]*):(.*)$/gm;
const treeName = '/__next._tree.txt';
const maxSegments = 500;
/** Nodes of the tree that are read: a node that names itself as its child has no end. */
const maxNodes = 10_000;
/** Rows become objects, ten times as large. The tree of a page is some kilobytes. */
const maxTreeLength = 1024 * 1024;

/**
 * @param path of the text file
 * @returns the files that its reader asks for next; nothing for other text
 */
export function readPayload(path: string, text: string): readonly Reference[] {
  if (!isStream(text)) return [];
  if (path.endsWith(treeName)) {
    const folder = path.slice(0, -treeName.length);
    return readSegments(text).map((segment) => asHint(`${folder}/__next${segment.replaceAll('/', '.')}.txt`));
  }
  if (/\/__next\.[^/]*$/.test(path)) return [];
  const folder = path.replace(/\.txt$/, '').replace(/\/index$/, '');
  return ['_tree', '_full', '_head', '_index'].map((name) => asHint(`${folder}/__next.${name}.txt`));
}

/** Whether a text file begins as React's stream does. */
export const isStream = (text: string): boolean => /^[0-9a-f]*:[["{A-Z]/.test(text);

/** Paths of all segments, each with its parents', in Next's spelling: `/guide/$d$slug/__PAGE__`. */
function readSegments(text: string): readonly string[] {
  const rows = new Map(
    [...text.slice(0, maxTreeLength).matchAll(row)].map(([, id = '', value = '']) => [id, readJson(value)]),
  );
  const found: string[] = [];
  const pending: { readonly node: unknown; readonly parent: string }[] = [
    { node: root(rows.get('0')), parent: '' },
  ];
  let nodes = 0;
  for (let at = pending.pop(); at !== undefined && found.length < maxSegments; at = pending.pop()) {
    const name = segmentName(field(at.node, 's') ?? nameAndType(at.node));
    if (name === undefined) continue;
    const path = name === '' ? at.parent : `${at.parent}/${name}`;
    if (path !== '') found.push(path);
    for (const [slot, node] of slotsOf(at.node, rows)) {
      nodes += 1;
      if (nodes > maxNodes) return found.sort();
      pending.push({ node, parent: slot === 'children' ? path : `${path}/@${encode(slot)}` });
    }
  }
  return found.sort();
}

/** `{t: {t: node}}` since Next 16.4, `{tree: node}` before. */
function root(value: unknown): unknown {
  return field(field(value, 't'), 't') ?? field(value, 'tree');
}

function nameAndType(node: unknown): unknown {
  const type = field(node, 'paramType');
  return typeof type === 'string' ? [field(node, 'name'), '', type] : field(node, 'name');
}

function slotsOf(node: unknown, rows: ReadonlyMap<string, unknown>): readonly (readonly [string, unknown])[] {
  const listed = field(node, 'c');
  const pairs = typeof listed === 'string' ? rows.get(listed.replace(/^\$Q?/, '')) : listed;
  if (Array.isArray(pairs)) {
    return pairs.flatMap((pair: unknown) =>
      Array.isArray(pair) && typeof pair[0] === 'string' ? [[pair[0], pair[1]] as const] : [],
    );
  }
  const slots = field(node, 'slots');
  return typeof slots === 'object' && slots !== null ? Object.entries(slots) : [];
}

/** As Next spells a segment in a file's name: plain, or `$type$name` for a parameter. */
function segmentName(segment: unknown): string | undefined {
  if (typeof segment === 'string') return segment === '/_not-found' ? '_not-found' : encode(segment);
  if (!Array.isArray(segment)) return undefined;
  const [name, , type]: readonly unknown[] = segment;
  return typeof name === 'string' && typeof type === 'string' ? `$${type}$${encode(name)}` : undefined;
}

function encode(name: string): string {
  return /^[\w@-]*$/.test(name) ? name : `!${Buffer.from(name).toString('base64url')}`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** The picture behind an optimizer of Next.js, as its page or a visitor's browser would ask for it. */
export function sourceOfPicture({ path, query }: Address): string | undefined {
  const source = path.endsWith('/_next/image') ? new URLSearchParams(query).get('url') : null;
  return source ?? undefined;
}
