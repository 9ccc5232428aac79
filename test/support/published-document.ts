// A document that the command line printed, against its published schema. Each program that a test runs is checked, so
// that no command prints a kind or a field that users cannot look up. Refuses: other text, which passes.

import { parse } from 'yaml';
import type { Command } from '#cli/command.ts';

const beginning = /^(?:\{\s*"apiVersion": "|apiVersion: )cli\.staticexport\.dev\//;

/** By a name, so that a test of any program is not one that loads the work of every command. */
const definitions: string = '#bin/static-export-commands.ts';

/** @throws Error that names the fields */
export async function requirePublishedDocument(stdout: string): Promise<void> {
  if (!beginning.test(stdout)) return;
  const { commands }: { readonly commands: readonly Command[] } = await import(definitions);
  const { documentSchemasOf } = await import('#cli/output/document-schemas.ts');
  const document: { kind: string } = stdout.startsWith('{') ? JSON.parse(stdout) : parse(stdout);
  const schema = (await documentSchemasOf(commands)).get(document.kind);
  if (schema === undefined) throw new Error(`${document.kind} has no entry in the documents of a command`);
  const { error } = schema.safeParse(document);
  if (error !== undefined) throw new Error(`${document.kind}: ${error.message}`, { cause: stdout });
}
