// Computes where in a YAML text to replace a values key's value or to insert a line, as splices by source offset.
// Knows the syntax (block, flow, empty) and the document's own indentation and line ends; decides nothing.
// Invariant: a splice never covers text outside the value that it replaces; insertions cover nothing.

import { type Document, isMap, isScalar, type ParsedNode, Scalar, visit } from 'yaml';
import type { GroupPlace, ValuesMap, ValuesPair } from './values-group.ts';

export const leafNames = ['enabled', 'bundleUrl', 'version', 'digest', 'ref'] as const;
export type LeafName = (typeof leafNames)[number];

export interface Leaf {
  readonly name: LeafName;
  readonly value: string | true;
}

/** Replace `text.slice(from, to)` by `text`; an insertion has `from === to`. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** @returns `undefined` when splices overlap */
export function spliceText(text: string, splices: readonly Splice[]): string | undefined {
  const sorted = splices
    .map((splice, order) => ({ ...splice, order }))
    .sort((a, b) => a.from - b.from || a.order - b.order);
  let result = '';
  let at = 0;
  for (const splice of sorted) {
    if (splice.from < at) return undefined;
    result += text.slice(at, splice.from) + splice.text;
    at = splice.to;
  }
  return result + text.slice(at);
}

/** Replaces the value of an existing key, in the same quotes if it has some; `undefined` if the key has no colon. */
export function spliceLeaf(pair: ValuesPair, leaf: Leaf): Splice | undefined {
  const node = pair.value;
  const isSingleQuoted = isScalar(node) && node.type === Scalar.QUOTE_SINGLE;
  const written = formatLeaf(leaf.value, isSingleQuoted);
  if (node !== null && node.range[1] > node.range[0]) {
    return { from: node.range[0], to: node.range[1], text: written };
  }
  const colon = colonOf(pair);
  // Directly after the colon: a comment that follows keeps its distance.
  return colon === undefined ? undefined : { from: colon + 1, to: colon + 1, text: ` ${written}` };
}

/** Inserts missing keys into a group that has other entries. */
export function insertLeaves(
  text: string,
  { pair }: GroupPlace,
  group: ValuesMap,
  missing: readonly Leaf[],
): readonly Splice[] {
  return missing.map((leaf) => {
    const before = leafNames.slice(0, leafNames.indexOf(leaf.name)).reverse();
    const neighbour = before
      .map((name) => group.items.find(({ key }) => isScalar(key) && key.value === name))
      .find((one) => one !== undefined);
    if (group.flow === true) return insertInFlow(text, group, neighbour, leaf);
    const first = group.items[0]?.key;
    const indent = first === undefined ? '' : indentBefore(text, first.range[0]);
    const line = `${indent}${formatEntry(leaf)}`;
    const anchor = neighbour === undefined ? pair && colonOf(pair) : endOf(neighbour);
    return insertLineAfter(text, anchor ?? text.length, line);
  });
}

/** Ways to write a group that is absent, null or empty, in order of preference. */
export function spliceNewGroup(
  text: string,
  document: Document.Parsed,
  { parent, parentPair, pair, names }: GroupPlace,
  leaves: readonly Leaf[],
): readonly (readonly Splice[])[] {
  if (parent === undefined) return [newRoot(text, document, names, leaves)];
  const [name = '', ...below] = names;
  const flow = formatFlow(below, leaves);
  if (pair === undefined) {
    if (parent.flow === true) {
      const separator = parent.items.length === 0 ? '' : ', ';
      const at = parent.items[0]?.key.range[0] ?? (parent.range?.[0] ?? 0) + 1;
      return [[{ from: at, to: at, text: `${formatName(name)}: ${flow}${separator}` }]];
    }
    const first = parent.items[0]?.key.range[0] ?? 0;
    const indent = indentBefore(text, first);
    const block = formatBlock(text, indentStep(text, document), indent, names, leaves);
    if (parentPair !== undefined) return appendToMap(text, parent, parentPair, block);
    const prepended = `${block.trimStart()}${eolOf(text)}${indent}`;
    const ways = [[appendBlock(text, document, block)], [{ from: first, to: first, text: prepended }]];
    return endsInBlockText(text, document) ? ways.reverse() : ways;
  }
  const value = pair.value;
  if (value !== null && value.range[1] > value.range[0]) {
    return [[{ from: value.range[0], to: value.range[1], text: flow }]];
  }
  const colon = colonOf(pair);
  if (colon === undefined) return [];
  const inline = [{ from: colon + 1, to: colon + 1, text: ` ${flow}` }];
  if (parent.flow === true) return [inline];
  const step = indentStep(text, document);
  const lines = formatBlock(text, step, indentBefore(text, pair.key.range[0]) + step, below, leaves);
  return [[insertLineAfter(text, colon + 1, lines)], inline];
}

/** At the end of a map within the document, or else as its first entry. */
function appendToMap(
  text: string,
  map: ValuesMap,
  pair: ValuesPair,
  block: string,
): readonly (readonly Splice[])[] {
  const colon = colonOf(pair);
  const start = colon === undefined ? [] : [[insertLineAfter(text, colon + 1, block)]];
  const end = contentEnd(map);
  if (end === undefined) return start;
  // A block of text ends at the start of the next line.
  if (text[end - 1] === '\n') return [[{ from: end, to: end, text: `${block}${eolOf(text)}` }], ...start];
  return [[insertLineAfter(text, end, block)], ...start];
}

/** The end of the last entry's own text, without the comments that follow. */
function contentEnd(map: ValuesMap): number | undefined {
  const last = map.items.at(-1);
  if (last === undefined) return undefined;
  if (isMap<ParsedNode, ParsedNode | null>(last.value) && last.value.flow !== true) {
    return contentEnd(last.value) ?? endOf(last);
  }
  return endOf(last);
}

/** A document without contents: only comments or markers, or empty. */
function newRoot(
  text: string,
  document: Document.Parsed,
  names: readonly string[],
  leaves: readonly Leaf[],
): readonly Splice[] {
  const root = document.contents;
  if (root !== null && root.range[1] > root.range[0]) {
    // The map replaces an explicit null (`~`), in flow syntax so that it is valid at the same position.
    return [{ from: root.range[0], to: root.range[1], text: formatFlow(names, leaves) }];
  }
  const block = formatBlock(text, '  ', '', names, leaves);
  return [text === '' ? { from: 0, to: 0, text: `${block}\n` } : appendBlock(text, document, block)];
}

function formatFlow(names: readonly string[], leaves: readonly Leaf[]): string {
  const group = `{${leaves.map(formatEntry).join(', ')}}`;
  return names.reduceRight((inner, name) => `{${formatName(name)}: ${inner}}`, group);
}

/** A line for each name, and one for each leaf. */
function formatBlock(
  text: string,
  step: string,
  indent: string,
  names: readonly string[],
  leaves: readonly Leaf[],
): string {
  const inner = indent + step.repeat(names.length);
  return [
    ...names.map((name, depth) => `${indent}${step.repeat(depth)}${formatName(name)}:`),
    ...leaves.map((leaf) => `${inner}${formatEntry(leaf)}`),
  ].join(eolOf(text));
}

/** A name that some reader would take for another value, or for syntax, is quoted. */
function formatName(name: string): string {
  const isPlain = /^[A-Za-z_][\w.-]*$/.test(name) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(name);
  return isPlain ? name : JSON.stringify(name);
}

/**
 * True if a block of text ends at the end of the file. An insertion would add a line end to it, which some readers
 * count.
 */
function endsInBlockText(text: string, document: Document.Parsed): boolean {
  let isLast = false;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      const isBlock = type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED;
      isLast ||= isBlock && !text.endsWith('\n') && (range?.[1] ?? 0) >= text.trimEnd().length;
    },
  });
  return isLast;
}

/** At the end of the document; an end marker (`...`) stays after it. */
function appendBlock(text: string, document: Document.Parsed, block: string): Splice {
  const marker = /^\.\.\.(?=[ \t\r\n]|$)/m.exec(text.slice(document.range[1]));
  const at = marker === null ? text.length : document.range[1] + marker.index;
  const isLineStart = at === 0 || text[at - 1] === '\n';
  const eol = eolOf(text);
  // A text without a final newline stays without one.
  return { from: at, to: at, text: isLineStart ? `${block}${eol}` : `${eol}${block}` };
}

function insertInFlow(text: string, group: ValuesMap, neighbour: ValuesPair | undefined, leaf: Leaf): Splice {
  if (neighbour === undefined) {
    const at = group.items[0]?.key.range[0] ?? group.range?.[0] ?? text.length;
    return { from: at, to: at, text: `${formatEntry(leaf)}, ` };
  }
  const at = endOf(neighbour) ?? text.length;
  return { from: at, to: at, text: `, ${formatEntry(leaf)}` };
}

/** Inserts the next line after the line that contains `offset`. */
function insertLineAfter(text: string, offset: number, lines: string): Splice {
  const newline = text.indexOf('\n', offset);
  const eol = eolOf(text);
  return newline < 0
    ? { from: text.length, to: text.length, text: `${eol}${lines}` }
    : { from: newline + 1, to: newline + 1, text: `${lines}${eol}` };
}

const formatEntry = (leaf: Leaf): string => `${leaf.name}: ${formatLeaf(leaf.value, false)}`;

/** Text is always quoted: `1.10`, `on` and `2026-11-21` stay strings for every reader. */
function formatLeaf(value: string | true, isSingleQuoted: boolean): string {
  if (value === true) return 'true';
  return isSingleQuoted && /^[\x20-\x26\x28-\x7e]*$/.test(value) ? `'${value}'` : JSON.stringify(value);
}

/** Offset of the colon between key and value. */
function colonOf(pair: ValuesPair): number | undefined {
  const token = pair.srcToken;
  if (token === undefined || !('sep' in token)) return undefined;
  return token.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
}

/** The end of the pair's own text: of its value, or of the colon if the value is empty. */
function endOf(pair: ValuesPair): number | undefined {
  const value = pair.value;
  if (value !== null && value.range[1] > value.range[0]) return value.range[1];
  const colon = colonOf(pair);
  return colon === undefined ? undefined : colon + 1;
}

const eolOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n');

function indentBefore(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(line) ? line : '';
}

/** One level of this document's own indentation; two blanks where it has none yet. */
function indentStep(text: string, document: Document.Parsed): string {
  const root = document.contents;
  if (!isMap<ParsedNode>(root)) return '  ';
  for (const { key, value } of root.items) {
    if (!isMap<ParsedNode>(value) || value.flow === true || !isScalar(key)) continue;
    const outer = indentBefore(text, key.range?.[0] ?? 0).length;
    const inner = indentBefore(text, value.items[0]?.key.range[0] ?? 0).length;
    if (inner > outer) return ' '.repeat(inner - outer);
  }
  return '  ';
}
