// The edit of a YAML document of another owner, pure: in a ConfigMap, a Secret or a git repository. The keys of its
// `staticExport` group, or of a group at another path, name the published version and, if the spec says so, the link.
// Refuses: rewriting a document. Text is spliced by source offsets, so that every byte outside these values stays. The
// result is parsed again before it is returned. No message quotes the document.

import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isScalar,
  Lexer,
  LineCounter,
  parseAllDocuments,
  parseDocument,
  Scalar,
  visit,
} from 'yaml';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import {
  findGroup,
  type GroupPlace,
  isEmptyScalar,
  parsing,
  type ValuesRefusal,
  ValuesRefused,
} from './values-group.ts';
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
  /** Of the copy in the mirror. Absent: this key is not changed. */
  readonly ref?: string;
  /** Absent: this key is not changed. */
  readonly bundleUrl?: Link;
}

export type ValuesPlan =
  | { readonly outcome: 'in-sync' }
  /** `text` may hold the link. `keys` change, in the order in which they are written. `held` is the version before. */
  | {
      readonly outcome: 'edit';
      readonly text: string;
      readonly keys: readonly LeafName[];
      readonly held?: string;
    }
  | { readonly outcome: 'refused'; readonly code: ValuesRefusal; readonly message: string };

/** Characters. Values are rarely longer than a tenth of it. */
const maxLength = 256 * 1024;
/** Lexical tokens: 256 KiB of ordinary values have about 120,000; the parser takes 1 KB of memory for each. */
const maxTokens = 150_000;
/** Markers of a document's start. More than one is refused anyway, and parsing thousands takes seconds. */
const maxMarkers = 100;
/** Anchors, aliases and tags: the parser's time grows with the square of their number. */
const maxSharedNodes = 1000;

const staticExport: readonly string[] = ['staticExport'];

/**
 * Plans the edit that gives `enabled|version|digest|ref|bundleUrl` of a group in a YAML document the wanted values.
 * Comments, order, quoting, line endings, anchors elsewhere and the trailing newline are kept byte for byte. Never
 * throws. Planning again on the edited text gives `in-sync`.
 *
 * @param path names of the maps from the root to the group, at least one; made where they are absent
 */
export function planValuesEdit(
  text: string,
  wanted: WantedValues,
  path: readonly string[] = staticExport,
): ValuesPlan {
  try {
    return plan(text, wantedLeaves(wanted), path);
  } catch (error) {
    if (error instanceof ValuesRefused)
      return { outcome: 'refused', code: error.code, message: error.message };
    // The parser's own limits (depth, alias count). Its messages may quote the text.
    return { outcome: 'refused', code: 'InvalidYaml', message: 'the document is too complex to be edited' };
  }
}

function plan(text: string, leaves: readonly Leaf[], path: readonly string[]): ValuesPlan {
  refuseLargeText(text);
  const document = readDocument(text);
  const place = findGroup(document, path);
  const { group } = place;
  const shownPath = path.join('.');
  const stale =
    group === undefined
      ? []
      : leaves.map((leaf) => [leaf.name, spliceStaleLeaf(group, leaf, shownPath)] as const);
  const splices = stale.flatMap(([, splice]) => splice);
  const missing = group === undefined ? leaves : leaves.filter(({ name }) => !group.has(name));
  if (splices.length === 0 && missing.length === 0) return { outcome: 'in-sync' };
  const changed = new Set([
    ...stale.flatMap(([name, splice]) => (splice.length === 0 ? [] : [name])),
    ...missing.map(({ name }) => name),
  ]);
  const keys = leafNames.filter((name) => changed.has(name));
  const version = group?.get('version');
  const held = typeof version === 'string' ? { held: printable(version, 63) } : {};
  const candidates: readonly (readonly Splice[])[] =
    group === undefined || group.items.length === 0
      ? spliceNewGroup(text, document, place, missing)
      : [insertLeaves(text, place, group, missing)];
  for (const inserted of candidates.length === 0 ? [[]] : candidates) {
    const edited = spliceText(text, [...splices, ...inserted]);
    if (edited !== undefined && isFaithful(document, edited, leaves, path))
      return { outcome: 'edit', text: edited, keys, ...held };
  }
  throw new ValuesRefused(
    'Uneditable',
    `${shownPath} cannot be edited in place; write it as a plain block of one \`name: value\` per line`,
  );
}

/** Bounds the parser's input. The lexer itself is linear, and stops at the first exceeded bound. */
function refuseLargeText(text: string): void {
  const refuse = (what: string): never => {
    throw new ValuesRefused(
      'TooLarge',
      `the document ${what}; keep the site's values in a document of their own`,
    );
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
  throw new ValuesRefused('MultipleDocuments', 'the text holds several YAML documents; keep values in one');
}

/** In the order in which they are written. */
function wantedLeaves(wanted: WantedValues): readonly Leaf[] {
  const { enabled, version, digest, ref } = wanted;
  const values = { enabled, bundleUrl: wanted.bundleUrl?.reveal(), version, digest, ref };
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
    throw new ValuesRefused(
      'InvalidYaml',
      `the document is not valid YAML (${error?.code ?? 'UNREADABLE'}${line === undefined ? '' : ` in line ${line}`}); correct it first`,
    );
  }
  refuseDuplicates(document);
  if (document.contents !== null && !isMap(document.contents) && !isEmptyScalar(document.contents)) {
    throw new ValuesRefused('NotAMap', 'the document is not a map of values');
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
          throw new ValuesRefused(
            'InvalidYaml',
            'the document has a key twice (DUPLICATE_KEY); correct it first',
          );
        }
        seen.add(key.value);
      }
    },
  });
}

function spliceStaleLeaf(
  group: NonNullable<GroupPlace['group']>,
  leaf: Leaf,
  shownPath: string,
): readonly Splice[] {
  const pair = group.items.find(({ key }) => isScalar(key) && key.value === leaf.name);
  if (pair === undefined) return [];
  const node = pair.value;
  const name = `${shownPath}.${leaf.name}`;
  if (node !== null && !isScalar(node)) {
    throw new ValuesRefused('NotAMap', `${name} is not a single value; make it one`);
  }
  if (node?.type === Scalar.BLOCK_FOLDED || node?.type === Scalar.BLOCK_LITERAL) {
    throw new ValuesRefused('Uneditable', `${name} is a block of text; write it in one line`);
  }
  if (node !== null && holds(node, leaf.value)) return [];
  const splice = spliceLeaf(pair, leaf);
  if (splice === undefined) {
    throw new ValuesRefused('Uneditable', `${name} has no value to replace; write \`name: value\``);
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
function isFaithful(
  before: Document.Parsed,
  edited: string,
  leaves: readonly Leaf[],
  path: readonly string[],
): boolean {
  const documents = parseAllDocuments(edited, parsing);
  const [after] = documents;
  if (after === undefined || documents.length !== 1 || after.errors.length > 0) return false;
  const { group } = findGroup(after, path);
  const areLeavesHeld = leaves.every(({ name, value }) => {
    const node = group?.get(name, true);
    return isScalar(node) && holds(node, value);
  });
  return (
    areLeavesHeld &&
    isDeepStrictEqual(meaningOutside(after, leaves, path), meaningOutside(before, leaves, path))
  );
}

/** Everything except these keys: for each map on the path its other keys in order, and then those of the group. */
function meaningOutside(
  document: Document.Parsed,
  leaves: readonly Leaf[],
  path: readonly string[],
): readonly unknown[] {
  const names = new Set<unknown>(leaves.map(({ name }) => name));
  let value: unknown = document.toJS({ mapAsMap: true });
  const outside = path.map((name) => {
    const map: ReadonlyMap<unknown, unknown> = value instanceof Map ? value : new Map();
    value = map.get(name);
    return [...map].filter(([key]) => key !== name);
  });
  const inside = value instanceof Map ? [...value].filter(([key]) => !names.has(key)) : [];
  return [outside, inside];
}
