// Finds the group of keys in a YAML document: the map at a path of names, such as `staticExport`. Refuses what an edit
// must not touch: anchors, aliases, merge keys and tags on the way to the group or in it, and values that are not maps.
// No message quotes the document; names of the path are the caller's.

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml';

export type ValuesRefusal =
  | 'TooLarge' // over a limit of length, tokens or aliases: parsing would take too long
  | 'TooSlow' // within the limits, but parsing took too much time or memory
  | 'InvalidYaml' // does not parse: tabs, duplicate keys, broken syntax
  | 'MultipleDocuments'
  | 'NotAMap' // the document, the group, or one of its keys has another type
  | 'SharedNode' // anchors, aliases, merge keys or tags in the group: an edit would change more than its key
  | 'Uneditable'; // parses, but no edit of these keys alone gives the wanted document

/** An edit that is not made, and why. */
export class ValuesRefused extends Error {
  readonly code: ValuesRefusal;

  constructor(code: ValuesRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

export type ValuesMap = YAMLMap<ParsedNode, ParsedNode | null>;
export type ValuesPair = Pair<ParsedNode, ParsedNode | null>;

/** Where the group is, or where it would be. */
export interface GroupPlace {
  /** The map itself; absent or empty otherwise. */
  readonly group: ValuesMap | undefined;
  /** The pair whose value the group is, or the pair without a value that is nearest to it. */
  readonly pair: ValuesPair | undefined;
  /** The map that holds `pair`, or would; `undefined` in a document without contents. */
  readonly parent: ValuesMap | undefined;
  /** The pair whose value `parent` is; absent at the root. */
  readonly parentPair: ValuesPair | undefined;
  /** Names below `parent` that lead to the group: the first is that of `pair`. */
  readonly names: readonly string[];
}

/** The parser's own check of keys compares each key with every other; errors with source lines take seconds. */
export const parsing = { uniqueKeys: false, prettyErrors: false } as const;

/**
 * @param path names of the maps from the root to the group, at least one
 * @throws {ValuesRefused} `NotAMap` or `SharedNode`
 */
export function findGroup(document: Document.Parsed, path: readonly string[]): GroupPlace {
  refuseInheritedGroup(document, path);
  const root = document.contents;
  if (!isMap<ParsedNode, ParsedNode | null>(root)) {
    return { group: undefined, pair: undefined, parent: undefined, parentPair: undefined, names: path };
  }
  let parent: ValuesMap = root;
  let parentPair: ValuesPair | undefined;
  for (const [depth, name] of path.entries()) {
    const place = { parent, parentPair, names: path.slice(depth) };
    const pair: ValuesPair | undefined = parent.items.find(({ key }) => isScalar(key) && key.value === name);
    const node = pair?.value;
    if (pair === undefined || node === undefined || node === null || isEmptyScalar(node)) {
      return { ...place, group: undefined, pair };
    }
    const shownPath = path.slice(0, depth + 1).join('.');
    const isLast = depth === path.length - 1;
    refuseSharing(node, shownPath, isLast);
    if (!isMap<ParsedNode, ParsedNode | null>(node)) {
      throw new ValuesRefused('NotAMap', `${shownPath} is not a map; remove its value or make it a map`);
    }
    if (isLast) return { ...place, group: node, pair };
    parent = node;
    parentPair = pair;
  }
  throw new Error('the path has no names');
}

export const isEmptyScalar = (node: unknown): boolean =>
  isScalar(node) && node.value === null && node.anchor === undefined && node.tag === undefined;

function refuseSharing(node: unknown, shownPath: string, isGroup: boolean): void {
  const refuse = (what: string): never => {
    throw new ValuesRefused('SharedNode', `${shownPath} holds ${what}; write its values out in full`);
  };
  const look = (one: { readonly anchor?: string; readonly tag?: string }): void => {
    if (one.anchor !== undefined) refuse('an anchor');
    if (one.tag !== undefined) refuse('a tag');
  };
  if (!isNode(node)) return;
  if (!isGroup) {
    // Other values of a map on the way may be shared: an edit does not reach them.
    if (isAlias(node)) refuse('an alias');
    else look(node);
    return;
  }
  visit(node, {
    Alias: () => refuse('an alias'),
    Collection: (_key, one) => look(one),
    Scalar: (_key, one) => look(one),
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && pair.key.value === '<<') refuse('a merge key');
    },
  });
}

/** A new key on the way would hide all of a map that a merge key provides. */
function refuseInheritedGroup(document: Document.Parsed, path: readonly string[]): void {
  let own: unknown = document.contents;
  for (const [depth, name] of path.entries()) {
    if (!isMap(own)) return;
    if (!own.has(name) && own.has('<<')) {
      const shownPath = path.slice(0, depth + 1);
      if (!mergedHas(document, shownPath)) return;
      throw new ValuesRefused(
        'SharedNode',
        `${shownPath.join('.')} is merged in by \`<<\`; write it out in the document itself`,
      );
    }
    own = own.get(name, true);
  }
}

function mergedHas(document: Document.Parsed, path: readonly string[]): boolean {
  const [merged] = parseAllDocuments(document.toString(), { ...parsing, merge: true });
  let value: unknown = merged?.toJS({ mapAsMap: true });
  for (const name of path) {
    if (!(value instanceof Map) || !value.has(name)) return false;
    value = value.get(name);
  }
  return true;
}
