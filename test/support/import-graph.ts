// Which files a test file loads: a walk over the imports of sources, relative ones and those of a room of `src` by its
// subpath (`#room/…`). Imports of types alone load nothing.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const src = resolve(import.meta.dirname, '../../src');

const imported =
  /^\s*(?:import|export)\s(?!type\b)[^;'"]*?from\s+'([.#][^']+\.ts)'|^\s*import\s+'([.#][^']+\.ts)'|\bimport\('([.#][^']+\.ts)'\)/gm;

/**
 * @param except files whose own imports do not count, because they load them on demand
 * @returns absolute paths, the given files included
 */
export function filesLoadedBy(files: readonly string[], except: readonly string[] = []): ReadonlySet<string> {
  const found = new Set(except);
  const waiting = files.map((file) => resolve(file));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || !existsSync(file)) continue;
    found.add(file);
    for (const [, from, alone, later] of readFileSync(file, 'utf8').matchAll(imported))
      waiting.push(importedPath(file, from ?? alone ?? later ?? ''));
  }
  return found;
}

/** @returns the absolute path of what `file` imports as `specifier`: relative, or `#room/…` of `src` */
export const importedPath = (file: string, specifier: string): string =>
  specifier.startsWith('#') ? resolve(src, specifier.slice(1)) : resolve(dirname(file), specifier);
