// The catalog of Singer: a file that says which fields of a turn the user selects. Refuses one that selects no turns, because a
// run without any output looks like a project without turns.

import { CliError } from '#cli/cli-error.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { type Fields, readSelectedFields } from '../sinks/singer-catalog.ts';

const longestCatalog = 1024 * 1024;

/** @throws {CliError} `CatalogUnusable`, `CatalogInvalid`, `CatalogEmpty` */
export async function readCatalogFields(path: string): Promise<Fields> {
  const text = await readBounded(path, longestCatalog).catch((cause: unknown) => {
    const message = `--catalog cannot be read (${publishableCode(cause)}); check its path`;
    throw new CliError('usage', 'CatalogUnusable', message, { cause });
  });
  const fields = readSelectedFields(readJson(text));
  if (fields === undefined) {
    const message = '--catalog is not a catalog of Singer; name what --discover printed, with your selection';
    throw new CliError('usage', 'CatalogInvalid', message);
  }
  if (fields.size > 0) return fields;
  const message = '--catalog does not select the stream "turns"; select it, or do not run the tap';
  throw new CliError('usage', 'CatalogEmpty', message);
}
