// The `values` target, pure: a YAML document in another owner's ConfigMap or Secret. The keys of its `staticExport`
// group name the published version and, if the spec says so, the link. Refuses: rewriting a document. Text is
// spliced by source offsets, so that every byte outside these values stays. The result is parsed again before it is
// returned. No message quotes the document.

import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  parseDocument,
  Scalar,
  visit,
} from 'yaml';
import type { Link } from '../wire/link.ts';
import {
  insertLeaves,
  type Leaf,
  type LeafName,
  leafNames,
  type Splice,
  spliceLeaf,
  spliceNewGroup,
  spliceText,
} from './values-splice.ts';

export interface WantedValues {
  /** Absent: this key is not changed. */
  readonly enabled?: true;
  /** Always written as a string that YAML 1.1 and 1.2 both read as a string. Absent: this key is not changed. */
  readonly version?: string;
  /** Absent: this key is not changed. */
  readonly digest?: string;
  /** Absent: this key is not changed. */
  readonly bundleUrl?: Link;
}

export type ValuesPlan =
  | { readonly outcome: 'in-sync' }
  /** `text` may hold the link. `keys` change, in the order in which they are written. */
  | { readonly outcome: 'edit'; readonly text: string; readonly keys: readonly LeafName[] }
  | { readonly outcome: 'refused'; readonly code: ValuesRefusal; readonly message: string };

export type ValuesRefusal =
  | 'TooLarge' // over a limit of length, tokens or aliases: parsing would take too long
  | 'TooSlow' // within the limits, but parsing took too much time or memory
  | 'InvalidYaml' // does not parse: tabs, duplicate keys, broken syntax
  | 'MultipleDocuments'
  | 'NotAMap' // the document, `staticExport`, or one of its keys has another type
  | 'SharedNode' // anchors, aliases, merge keys or tags in the group: an edit would change more than its key
  | 'Uneditable'; // parses, but no edit of these keys alone gives the wanted document

/** Characters. Values are rarely longer than a tenth of it. */
const maxLength = 256 * 1024;
/** Lexical tokens: 256 KiB of ordinary values have about 120,000; the parser takes 1 KB of memory for each. */
const maxTokens = 150_000;
/** Markers of a document's start. More than one is refused anyway, and parsing thousands takes seconds. */
const maxMarkers = 100;
/** Anchors, aliases and tags: the parser's time grows with the square of their number. */
const maxSharedNodes = 1000;

/**
 * The parser's own check of keys compares each key with every other. For each error, the parser also walks through
 * the text to quote source lines: 128,000 errors in one line took 20 s.
 */
const parsing = { uniqueKeys: false, prettyErrors: false } as const;

class Refusal extends Error {
  readonly code: ValuesRefusal;

  constructor(code: ValuesRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Plans the edit that gives `staticExport.enabled|version|digest|bundleUrl` of a YAML document the wanted values.
 * Comments, order, quoting, line endings, anchors elsewhere and the trailing newline are kept byte for byte. Never
 * throws. Planning again on the edited text gives `in-sync`.
 */
export function planValuesEdit(text: string, wanted: WantedValues): ValuesPlan {
  try {
    return plan(text, wantedLeaves(wanted));
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', code: error.code, message: error.message };
    // The parser's own limits (depth, alias count). Its messages may quote the text.
    return { outcome: 'refused', code: 'InvalidYaml', message: 'the document is too complex to be edited' };
  }
}

function plan(text: string, leaves: readonly Leaf[]): ValuesPlan {
  refuseLargeText(text);
  const document = readDocument(text);
  refuseInheritedGroup(document);
  const group = readGroup(document);
  const stale =
    group === undefined ? [] : leaves.map((leaf) => [leaf.name, spliceStaleLeaf(group, leaf)] as const);
  const splices = stale.flatMap(([, splice]) => splice);
  const missing = group === undefined ? leaves : leaves.filter(({ name }) => !group.has(name));
  if (splices.length === 0 && missing.length === 0) return { outcome: 'in-sync' };
  const changed = new Set([
    ...stale.flatMap(([name, splice]) => (splice.length === 0 ? [] : [name])),
    ...missing.map(({ name }) => name),
  ]);
  const keys = leafNames.filter((name) => changed.has(name));
  const candidates: readonly (readonly Splice[])[] =
    group === undefined || group.items.length === 0
      ? spliceNewGroup(text, document, missing)
      : [insertLeaves(text, document, group, missing)];
  for (const inserted of candidates.length === 0 ? [[]] : candidates) {
    const edited = spliceText(text, [...splices, ...inserted]);
    if (edited !== undefined && isFaithful(document, edited, leaves))
      return { outcome: 'edit', text: edited, keys };
  }
  throw new Refusal(
    'Uneditable',
    'staticExport cannot be edited in place; write it as a plain block of one `name: value` per line',
  );
}

/** Bounds the parser's input. The lexer itself is linear, and stops at the first exceeded bound. */
function refuseLargeText(text: string): void {
  const refuse = (what: string): never => {
    throw new Refusal('TooLarge', `the document ${what}; keep the site's values in a document of their own`);
  };
  if (text.length > maxLength) refuse('is over 256 KiB');
  let tokens = 0;
  let sharedNodes = 0;
  let markers = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (token === '---') markers += 1;
    if (markers > maxMarkers) refuseDocuments();
    if (token.startsWith('&') || token.startsWith('*') || token.startsWith('!')) sharedNodes += 1;
    if (tokens > maxTokens) refuse(`has more than ${maxTokens} tokens`);
    if (sharedNodes > maxSharedNodes) refuse(`has more than ${maxSharedNodes} anchors, aliases and tags`);
  }
}

function refuseDocuments(): never {
  throw new Refusal('MultipleDocuments', 'the text holds several YAML documents; keep values in one');
}

/** In the order in which they are written. */
function wantedLeaves(wanted: WantedValues): readonly Leaf[] {
  const { enabled, version, digest } = wanted;
  const values = { enabled, bundleUrl: wanted.bundleUrl?.reveal(), version, digest };
  return leafNames.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [{ name, value }];
  });
}

function readDocument(text: string): Document.Parsed {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { ...parsing, keepSourceTokens: true, lineCounter });
  const [document, ...more] = 'empty' in documents ? [parseDocument('')] : documents;
  if (more.length > 0) refuseDocuments();
  const error = document?.errors[0];
  if (document === undefined || error !== undefined) {
    const line = error === undefined ? undefined : lineCounter.linePos(error.pos[0]).line;
    throw new Refusal(
      'InvalidYaml',
      `the document is not valid YAML (${error?.code ?? 'UNREADABLE'}${line === undefined ? '' : ` in line ${line}`}); correct it first`,
    );
  }
  refuseDuplicates(document);
  if (document.contents !== null && !isMap(document.contents) && !isEmptyScalar(document.contents)) {
    throw new Refusal('NotAMap', 'the document is not a map of values');
  }
  return document;
}

function refuseDuplicates(document: Document.Parsed): void {
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value) && key.value !== '<<') {
          throw new Refusal('InvalidYaml', 'the document has a key twice (DUPLICATE_KEY); correct it first');
        }
        seen.add(key.value);
      }
    },
  });
}

/** The `staticExport` map, or `undefined` if there is none yet (absent or null). */
function readGroup(document: Document.Parsed) {
  if (!isMap(document.contents)) return undefined;
  const node = document.contents.get('staticExport', true);
  if (node === undefined || isEmptyScalar(node)) return undefined;
  refuseSharing(node);
  if (!isMap<ParsedNode, ParsedNode | null>(node)) {
    throw new Refusal('NotAMap', 'staticExport is not a map; remove its value or make it a map');
  }
  return node;
}

const isEmptyScalar = (node: unknown): boolean =>
  isScalar(node) && node.value === null && node.anchor === undefined && node.tag === undefined;

function refuseSharing(group: unknown): void {
  const refuse = (what: string): never => {
    throw new Refusal('SharedNode', `staticExport holds ${what}; write its values out in full`);
  };
  const look = (node: { readonly anchor?: string; readonly tag?: string }): void => {
    if (node.anchor !== undefined) refuse('an anchor');
    if (node.tag !== undefined) refuse('a tag');
  };
  if (!isNode(group)) return;
  visit(group, {
    Alias: () => refuse('an alias'),
    Collection: (_key, node) => look(node),
    Scalar: (_key, node) => look(node),
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && pair.key.value === '<<') refuse('a merge key');
    },
  });
}

/** A new `staticExport` key would hide all of a group that a merge key provides. */
function refuseInheritedGroup(document: Document.Parsed): void {
  if (!isMap(document.contents) || document.contents.has('staticExport') || !document.contents.has('<<'))
    return;
  const [merged] = parseAllDocuments(document.toString(), { ...parsing, merge: true });
  const value: unknown = merged?.toJS();
  if (typeof value === 'object' && value !== null && 'staticExport' in value) {
    throw new Refusal('SharedNode', 'staticExport is merged in by `<<`; write it out in the document itself');
  }
}

function spliceStaleLeaf(group: ReturnType<typeof readGroup>, leaf: Leaf): readonly Splice[] {
  const pair = group?.items.find(({ key }) => isScalar(key) && key.value === leaf.name);
  if (pair === undefined) return [];
  const node = pair.value;
  if (node !== null && !isScalar(node)) {
    throw new Refusal('NotAMap', `staticExport.${leaf.name} is not a single value; make it one`);
  }
  if (node?.type === Scalar.BLOCK_FOLDED || node?.type === Scalar.BLOCK_LITERAL) {
    throw new Refusal('Uneditable', `staticExport.${leaf.name} is a block of text; write it in one line`);
  }
  if (node !== null && holds(node, leaf.value)) return [];
  const splice = spliceLeaf(pair, leaf);
  if (splice === undefined) {
    throw new Refusal(
      'Uneditable',
      `staticExport.${leaf.name} has no value to replace; write \`name: value\``,
    );
  }
  return [splice];
}

/** True if every YAML 1.1 or 1.2 reader sees exactly this value. */
function holds(node: Scalar, value: string | true): boolean {
  if (node.type !== Scalar.PLAIN) return node.value === value;
  return (['1.1', '1.2'] as const).every((version) => {
    const [document] = parseAllDocuments(node.source ?? '', { ...parsing, version });
    return document !== undefined && isScalar(document.contents) && document.contents.value === value;
  });
}

/** Checks the result: one valid document, the keys as wanted, and the same meaning everywhere else. */
function isFaithful(before: Document.Parsed, edited: string, leaves: readonly Leaf[]): boolean {
  const documents = parseAllDocuments(edited, parsing);
  const [after] = documents;
  if (after === undefined || documents.length !== 1 || after.errors.length > 0) return false;
  const group = readGroup(after);
  const areLeavesHeld = leaves.every(({ name, value }) => {
    const node = group?.get(name, true);
    return isScalar(node) && holds(node, value);
  });
  return areLeavesHeld && isDeepStrictEqual(meaningOutside(after, leaves), meaningOutside(before, leaves));
}

/** Everything except these keys, as `[keys of the root in order, values, keys of the group, values]`. */
function meaningOutside(document: Document.Parsed, leaves: readonly Leaf[]): readonly unknown[] {
  const root: unknown = document.toJS({ mapAsMap: true });
  if (!(root instanceof Map)) return [[], []];
  const names = new Set<unknown>(leaves.map(({ name }) => name));
  const group: unknown = root.get('staticExport');
  const outside = [...root].filter(([key]) => key !== 'staticExport');
  const inside = group instanceof Map ? [...group].filter(([key]) => !names.has(key)) : [];
  return [outside, inside];
}
