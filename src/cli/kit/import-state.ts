// What was imported before, for each series of kits: the highest sequence. Owns the state file. Refuses an older kit, and
// another kit with the same sequence. Invariant: the file is written before a target is, so that no later kit can be
// followed by an older one unnoticed.

import * as z from 'zod';
import { KitError } from '../../mirror/kit/kit-error.ts';
import type { KitHead } from '../../mirror/kit/kit-reader.ts';
import { readBounded } from '../../runtime/bounded-file.ts';
import { readJson } from '../../wire/json-text.ts';
import { printable } from '../../wire/printable-text.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { namedPath, notWritten, writeWhole } from '../output/destination.ts';

const stateShape = z.object({
  format: z.literal(1),
  series: z.record(z.string(), z.object({ sequence: z.int().min(1), kit: z.string() })),
});
type ImportState = z.infer<typeof stateShape>;

const longestState = 1024 * 1024;

/** @throws {CliError} `StateUnreadable`, `StateDamaged` */
export async function readImportState(path: string): Promise<ImportState> {
  const text = await readBounded(path, longestState).catch((cause: unknown) => {
    const code = publishableCode(cause);
    if (code === 'ENOENT') return '{"format":1,"series":{}}';
    const message = `the state ${printable(path)} cannot be read (${code}); check its permissions`;
    throw new CliError('usage', 'StateUnreadable', message, { cause });
  });
  const parsed = stateShape.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  const message = `the state ${printable(path)} is damaged; remove it, and the next import starts a new one`;
  throw new CliError('usage', 'StateDamaged', message);
}

/** @throws {KitError} `KitOlder` */
export function requireNewer({ series }: ImportState, { document, documentDigest }: KitHead): void {
  const { name, sequence } = document;
  const known = Object.hasOwn(series, name) ? series[name] : undefined;
  if (known === undefined || sequence > known.sequence) return;
  // The same kit again, as after an import that failed.
  if (sequence === known.sequence && known.kit === documentDigest) return;
  const which =
    sequence === known.sequence ? 'another kit with the same sequence' : `sequence ${known.sequence}`;
  throw new KitError(
    'KitOlder',
    `the kit ${name} has the sequence ${sequence}, and ${which} was imported before`,
    'Import a newer kit, or add --allow-older.',
  );
}

/** @throws {CliError} `DestinationNotWritten` */
export async function writeImportState(path: string, state: ImportState, head: KitHead): Promise<void> {
  const { name, sequence } = head.document;
  const series = { ...state.series, [name]: { sequence, kit: head.documentDigest } };
  const text = `${JSON.stringify({ format: 1, series }, undefined, 1)}\n`;
  await writeWhole(path, text, undefined).catch((cause: unknown) => {
    throw notWritten(namedPath('--state', path), cause);
  });
}
