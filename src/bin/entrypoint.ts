// The image's entrypoint: the first argument names a program in this folder; the program gets the rest.
// Refuses any other name, and lists the programs. Workers are not programs.

import '#platform/runtime/supported-node.ts';
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const extension = extname(import.meta.filename);
const programs = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(extension))
  .map((name) => basename(name, extension))
  .filter((name) => !name.endsWith('-worker') && name !== basename(import.meta.filename, extension));

const [node = '', , program = '', ...args] = process.argv;
if (programs.includes(program)) {
  const file = join(import.meta.dirname, `${program}${extension}`);
  // The program reads its arguments as if it had been started directly.
  process.argv = [node, file, ...args];
  await import(pathToFileURL(file).href);
} else {
  const isAsking = program === '--help' || program === '-h';
  const wrong = program === '' ? 'Name a program' : `There is no program "${program}" here`;
  const list = `Programs: ${programs.join(', ')}. Each explains itself with --help.\n`;
  (isAsking ? process.stdout : process.stderr).write(isAsking ? list : `${wrong}. ${list}`);
  process.exitCode = isAsking ? 0 : 2;
}
