// What an import map names: modules, and their hashes in its member `integrity`, by address. Never throws, and looks at nothing
// else of the map. Refuses folders of modules: which of them a page loads is not in the map. The texts may be no hashes: the
// caller checks them.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import type { Span } from './next-stream.ts';
import type { IntegrityPosition } from './reference.ts';

const targets = z.record(z.string(), z.unknown()).catch({});
const importMap = z.object({
  imports: targets.optional(),
  scopes: z.record(z.string(), targets).catch({}).optional(),
});
/** An import map is some kilobytes; its objects take ten times as much memory as its text. */
const maxMapLength = 256 * 1024;

export interface ImportMapAddresses {
  /** Modules that it maps names to. */
  readonly modules: readonly string[];
  /** Folders of modules, and what only the modules of one scope get: a copy lies in another folder than its scope. */
  readonly folders: readonly string[];
}

/** @param script text of an inline script, of any type. @returns addresses as written */
export function readImportMap(script: string): ImportMapAddresses {
  const isMap =
    script.length <= maxMapLength && /^\s{0,64}\{/.test(script) && /"(?:imports|scopes)"/.test(script);
  const { imports = {}, scopes = {} } =
    (isMap ? importMap.safeParse(readJson(script)).data : undefined) ?? {};
  const texts = Object.values(imports).filter((to) => typeof to === 'string');
  const scoped = Object.entries(scopes).flatMap(([scope, map]) => [scope, ...Object.values(map)]);
  return {
    modules: texts.filter((to) => !to.endsWith('/')),
    folders: [...texts.filter((to) => to.endsWith('/')), ...scoped.filter((to) => typeof to === 'string')],
  };
}

/** @param source one character for each byte @param map where the map stands in it */
export function* readImportMapIntegrity(source: string, { from, to }: Span): Generator<IntegrityPosition> {
  const map = source.slice(from, to);
  const member = /\s*"((?:[^"\\]|\\.)*)"\s*:\s*"([^"]*)"\s*,?/y;
  for (const opening of map.matchAll(/"integrity"\s*:\s*\{/g)) {
    member.lastIndex = opening.index + opening[0].length;
    for (let found = member.exec(map); found !== null; found = member.exec(map)) {
      const [whole, key = '', hashes = ''] = found;
      const hashesAt = found.index + whole.lastIndexOf(`"${hashes}"`) + 1;
      yield {
        address: Buffer.from(key.replaceAll('\\/', '/'), 'latin1').toString(),
        addressAt: from + found.index + whole.indexOf('"') + 1,
        hashes: { from: from + hashesAt, to: from + hashesAt + hashes.length },
      };
    }
  }
}
