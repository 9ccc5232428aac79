// Writes a file of a search: JSON as the text of one call, in a classic script that is named by its content, and reads it back. Refuses to
// run such a file. Invariant: the same JSON gives the same bytes.

import { hash } from 'node:crypto';
import { searchFilePath } from './search-format.ts';

export interface NamedFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Digits of a hash that name a file. */
const nameLength = 16;

/** @returns what writes the files that are named by their content */
export function createFileWriter(): (content: object) => NamedFile {
  return (content) => {
    const json = JSON.stringify(content);
    const name = hash('sha256', json, 'hex').slice(0, nameLength);
    return { name, path: searchFilePath(name), bytes: searchScript(name, json) };
  };
}

/** A call that hands the text over. */
export function searchScript(name: string, json: string): Uint8Array {
  const literal = json.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return Buffer.from(`sxSearch('${name}','${literal}')\n`);
}

/** The text that a file hands over, for programs that run no scripts. @returns `undefined` for a file of another form */
export function readSearchScript(script: string): string | undefined {
  const from = script.indexOf(",'");
  const to = script.lastIndexOf("')");
  if (!script.startsWith("sxSearch('") || from < 0 || to < from + 2) return undefined;
  return script.slice(from + 2, to).replace(/\\([\\'])/g, '$1');
}
