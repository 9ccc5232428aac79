// Writes what the command line prints and reads as JSON Schema, from the schemas in src/cli. `--check` writes nothing and
// fails on a difference, so that what users validate with is what the tests check.

import { readFile, writeFile } from 'node:fs/promises';
import { commands } from '#bin/static-export-commands.ts';
import { documentSchemasOf, documentsAsJsonSchema } from '#cli/output/document-schemas.ts';

const files: readonly (readonly [name: string, schema: () => Promise<object>])[] = [
  ['cli-output.schema.json', async () => documentsAsJsonSchema(await documentSchemasOf(commands))],
];

const isCheck = process.argv.includes('--check');
for (const [name, schema] of files) {
  const file = new URL(`./${name}`, import.meta.url);
  const wanted = `${JSON.stringify(await schema(), undefined, 2)}\n`;
  if (!isCheck) {
    await writeFile(file, wanted);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted) {
    process.stderr.write(`${file.pathname} differs from the sources; run "npm run generate"\n`);
    process.exitCode = 1;
  }
}
