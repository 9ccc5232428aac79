// Writes the reference of all commands, from the commands themselves. `--check` writes nothing and fails on a difference.
// Man pages are built with the package, because nothing in the repository reads them.

import { readFile, writeFile } from 'node:fs/promises';
import { commands } from '#bin/static-export-commands.ts';
import { referenceOf } from './command-reference.ts';
import { markdownReference } from './markdown-reference.ts';

const file = new URL('../src/cli/commands.md', import.meta.url);
const wanted = markdownReference(commands.map(referenceOf));
if (!process.argv.includes('--check')) {
  await writeFile(file, wanted);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted) {
  process.stderr.write(`${file.pathname} differs from the commands; run "npm run generate"\n`);
  process.exitCode = 1;
}
