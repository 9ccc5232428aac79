// The last step of a build: programs whose text is ASCII. V8 keeps a program's text as long as it runs, with two bytes for
// each character if one of them needs it. The bundler escapes all text but that of regular expressions. Refuses nothing:
// an escape has the same meaning in a string, a template and a regular expression.
//
//   node .ci/ascii-programs.ts FOLDER [FOLDER …]     rewrites the .mjs files that have other characters

import { isAscii } from 'node:buffer';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const other = /[^\0-\x7f]/g;

for (const folder of process.argv.slice(2)) {
  for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.mjs'))) {
    const file = join(folder, name);
    const bytes = readFileSync(file);
    if (isAscii(bytes)) continue;
    // Without the flag `u`, so that a pair of surrogates becomes two escapes.
    const text = bytes
      .toString('utf8')
      .replace(other, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    writeFileSync(file, text);
  }
}
