// Which modules a script imports, by a lexer of the language: what a string or a comment says is none. Never throws. Refuses to
// read a script that does not import by address, and one that is not a script: then it imports nothing.

import { parse } from 'es-module-lexer/minimal/js';
import { type AddressPosition, addReferences } from './reference.ts';

/** Whether there is anything to find: most scripts import nothing, or only from their own bundle. */
const importing = /\b(?:import|from)\s{0,64}(?:\(\s{0,64})?["'](?:https?:)?(?:\/\/|\/|\.{1,2}\/)/;

/** @param script one character for each byte, or decoded. @returns specifiers that are addresses, static and dynamic ones */
export function readModuleImports(script: string): readonly AddressPosition[] {
  if (!importing.test(script)) return [];
  const found: AddressPosition[] = [];
  addReferences(found, specifiers(script));
  return found;
}

function* specifiers(script: string): Generator<AddressPosition> {
  for (const { n: text, s, e, d } of parsed(script)) {
    if (text === undefined || !/^(?:https?:|\/|\.{1,2}\/)/i.test(text)) continue;
    const quote = d >= 0 ? 1 : 0;
    yield { text, at: s + quote, to: e - quote };
  }
}

function parsed(script: string): ReturnType<typeof parse>[0] {
  try {
    return parse(script)[0];
  } catch {
    return [];
  }
}
