// Where an import map has the hashes of the modules that scripts import: in its member `integrity`, by address. Never throws,
// and looks at nothing else of the map. The texts may be no hashes: the caller checks them.

import type { Span } from './next-stream.ts';
import type { IntegrityPosition } from './reference.ts';

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
