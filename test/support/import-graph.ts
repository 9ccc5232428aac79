// Which files a test file loads: a walk over the relative imports of sources. Imports of types alone load nothing.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const imported =
  /^\s*(?:import|export)\s(?!type\b)[^;'"]*?from\s+'(\.[^']+\.ts)'|^\s*import\s+'(\.[^']+\.ts)'|\bimport\('(\.[^']+\.ts)'\)/gm;

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
      waiting.push(resolve(dirname(file), from ?? alone ?? later ?? ''));
  }
  return found;
}
