// Computes where in a YAML text to replace a values key's value or to insert a line, as splices by source offset.
// Knows the syntax (block, flow, empty) and the document's own indentation and line ends; decides nothing.
// Invariant: a splice never covers text outside the value that it replaces; insertions cover nothing.

import {
  type Document,
  isMap,
  isScalar,
  type Pair,
  type ParsedNode,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml';

export const leafNames = ['enabled', 'bundleUrl', 'version', 'digest'] as const;
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

type Group = YAMLMap<ParsedNode, ParsedNode | null>;

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
export function spliceLeaf(pair: Pair<ParsedNode, ParsedNode | null>, leaf: Leaf): Splice | undefined {
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
  document: Document.Parsed,
  group: Group,
  missing: readonly Leaf[],
): readonly Splice[] {
  return missing.map((leaf) => {
    const before = leafNames.slice(0, leafNames.indexOf(leaf.name)).reverse();
    const neighbour = before
      .map((name) => group.items.find(({ key }) => isScalar(key) && key.value === name))
      .find((pair) => pair !== undefined);
    if (group.flow === true) return insertInFlow(text, group, neighbour, leaf);
    const first = group.items[0]?.key;
    const indent = first === undefined ? '' : indentBefore(text, first.range[0]);
    const line = `${indent}${formatEntry(leaf)}`;
    const anchor = neighbour === undefined ? groupColon(document) : endOf(neighbour);
    return insertLineAfter(text, anchor ?? text.length, line);
  });
}

/** Ways to write a group that is absent, null or empty, in order of preference. */
export function spliceNewGroup(
  text: string,
  document: Document.Parsed,
  leaves: readonly Leaf[],
): readonly (readonly Splice[])[] {
  const root = document.contents;
  const flow = `{${leaves.map(formatEntry).join(', ')}}`;
  if (!isMap<ParsedNode, ParsedNode | null>(root)) return [newRoot(text, document, leaves)];
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === 'staticExport');
  if (pair === undefined) {
    if (root.flow === true) {
      const separator = root.items.length === 0 ? '' : ', ';
      const at = root.items[0]?.key.range[0] ?? root.range[0] + 1;
      return [[{ from: at, to: at, text: `staticExport: ${flow}${separator}` }]];
    }
    const first = root.items[0]?.key.range[0] ?? 0;
    const indent = indentBefore(text, first);
    const block = formatBlock(text, root, indent, leaves);
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
  if (root.flow === true) return [inline];
  const indent = indentBefore(text, pair.key.range[0]) + indentStep(text, root);
  const lines = leaves.map((leaf) => `${indent}${formatEntry(leaf)}`).join(eolOf(text));
  return [[insertLineAfter(text, colon + 1, lines)], inline];
}

/** A document without contents: only comments or markers, or empty. */
function newRoot(text: string, document: Document.Parsed, leaves: readonly Leaf[]): readonly Splice[] {
  const root = document.contents;
  const block = ['staticExport:', ...leaves.map((leaf) => `  ${formatEntry(leaf)}`)].join(eolOf(text));
  if (root !== null && root.range[1] > root.range[0]) {
    // The map replaces an explicit null (`~`), in flow syntax so that it is valid at the same position.
    return [
      {
        from: root.range[0],
        to: root.range[1],
        text: `{staticExport: {${leaves.map(formatEntry).join(', ')}}}`,
      },
    ];
  }
  return [text === '' ? { from: 0, to: 0, text: `${block}\n` } : appendBlock(text, document, block)];
}

function formatBlock(text: string, root: YAMLMap, indent: string, leaves: readonly Leaf[]): string {
  const inner = indent + indentStep(text, root);
  return [`${indent}staticExport:`, ...leaves.map((leaf) => `${inner}${formatEntry(leaf)}`)].join(
    eolOf(text),
  );
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

function insertInFlow(
  text: string,
  group: Group,
  neighbour: Pair<ParsedNode, ParsedNode | null> | undefined,
  leaf: Leaf,
): Splice {
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
function colonOf(pair: Pair<ParsedNode, ParsedNode | null>): number | undefined {
  const token = pair.srcToken;
  if (token === undefined || !('sep' in token)) return undefined;
  return token.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
}

/** The end of the pair's own text: of its value, or of the colon if the value is empty. */
function endOf(pair: Pair<ParsedNode, ParsedNode | null>): number | undefined {
  const value = pair.value;
  if (value !== null && value.range[1] > value.range[0]) return value.range[1];
  const colon = colonOf(pair);
  return colon === undefined ? undefined : colon + 1;
}

function groupColon(document: Document.Parsed): number | undefined {
  if (!isMap<ParsedNode, ParsedNode | null>(document.contents)) return undefined;
  const pair = document.contents.items.find(({ key }) => isScalar(key) && key.value === 'staticExport');
  return pair === undefined ? undefined : colonOf(pair);
}

const eolOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n');

function indentBefore(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(line) ? line : '';
}

/** One level of this document's own indentation; two blanks where it has none yet. */
function indentStep(text: string, root: YAMLMap): string {
  for (const { key, value } of root.items) {
    if (!isMap<ParsedNode>(value) || value.flow === true || !isScalar(key)) continue;
    const outer = indentBefore(text, key.range?.[0] ?? 0).length;
    const inner = indentBefore(text, value.items[0]?.key.range[0] ?? 0).length;
    if (inner > outer) return ' '.repeat(inner - outer);
  }
  return '  ';
}
