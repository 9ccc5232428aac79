// YAML of a document. A file of its own, loaded where it is used: the library takes a fifth of a command's start. Refuses
// to be the library itself: the build gives a dynamic import of a CommonJS package no names.

import { Document, Scalar, visit } from 'yaml';
import { wellFormedText } from '#platform/wire/json-text.ts';

/** No line is a command to the runner of a pipeline: no text is folded, and `##` is escaped. */
export function yamlOf(value: object): string {
  const document = new Document(value, wellFormedText, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value !== 'string' || !/##|\n|^::/.test(scalar.value)) return;
      scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document
    .toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity })
    .replaceAll('##', '#\\x23');
}
