// Finds the data files next to the pages of a Next.js static export. Its router builds their names, and no page has
// them: `x.txt` for the page `/x`, then `x/__next._tree.txt`, and a file per segment that the tree names. Without them
// every click gets a 404 and then loads a whole page. All found are hints. Never throws.

import { readJson } from '#platform/wire/json-text.ts';
import { asHint, type Reference } from './reference.ts';

/** A page's data as a whole. */
export function payloadOf(pagePath: string): Reference {
  const page = pagePath.endsWith('/') ? `${pagePath}index` : pagePath.replace(/\.html$/, '');
  return asHint(`${page}.txt`);
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
