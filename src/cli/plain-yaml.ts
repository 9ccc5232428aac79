// Reads YAML that people write as plain data: maps with text for keys, lists and scalars. Refuses aliases, which can
// repeat their node without bound, and a key that comes twice. Invariant: the time grows with the length of the text
// alone, and any text gives data or a `PlainYamlError`.

import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';

/** Far more than any settings or manifest need. */
const deepest = 64;

export class PlainYamlError extends Error {
  /** Stable: of the parser, or `ALIAS`, `DUPLICATE_KEY`, `KEY_NOT_TEXT`, `TOO_DEEP`, `UNREADABLE`. */
  readonly code: string;
  /** From 1. */
  readonly line: number;

  constructor(code: string, line: number, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
    this.line = line;
  }
}

/**
 * @returns a value for each document; none for an empty text
 * @throws {PlainYamlError}
 */
export function readPlainYaml(text: string): readonly unknown[] {
  const lineCounter = new LineCounter();
  const refuse = (code: string, offset = 0): never => {
    throw new PlainYamlError(code, Math.max(1, lineCounter.linePos(offset).line));
  };
  try {
    // The parser's own check compares each key with every other one.
    const options = { uniqueKeys: false, prettyErrors: false, logLevel: 'error', lineCounter } as const;
    const documents = parseAllDocuments(text, options);
    return documents.map((document) => {
      const [error] = document.errors;
      if (error !== undefined) refuse(error.code, error.pos[0]);
      requirePlain(document.contents, refuse);
      return document.toJS() as unknown;
    });
  } catch (cause) {
    if (cause instanceof PlainYamlError) throw cause;
    // A parser that meets more nesting than its stack holds, or a tag with another content than it needs.
    throw new PlainYamlError('UNREADABLE', 1, { cause });
  }
}

function requirePlain(root: unknown, refuse: (code: string, offset?: number) => never): void {
  const visit = (node: unknown, depth: number): void => {
    if (isAlias(node)) refuse('ALIAS', node.range?.[0]);
    // Of a list of pairs, which is no plain data.
    if (isPair(node)) refuse('KEY_NOT_TEXT');
    if (!isMap(node) && !isSeq(node)) return;
    if (depth >= deepest) refuse('TOO_DEEP', node.range?.[0]);
    if (isSeq(node)) for (const item of node.items) visit(item, depth + 1);
    if (!isMap(node)) return;
    const names = new Set<string>();
    for (const { key, value } of node.items) {
      visit(key, depth + 1);
      if (key !== null && !isScalar(key)) refuse('KEY_NOT_TEXT', node.range?.[0]);
      const name = isScalar(key) ? String(key.value ?? '') : '';
      if (names.has(name)) refuse('DUPLICATE_KEY', isScalar(key) ? key.range?.[0] : undefined);
      names.add(name);
      visit(value, depth + 1);
    }
  };
  visit(root, 0);
}
