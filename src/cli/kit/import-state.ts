// What was imported before: for each series of kits the highest sequence, and for each target its series. Owns the state
// file. Refuses an older kit, another kit with the same sequence, and a kit of another series than the target's: its
// sequences say nothing about the target. Invariant: the file is written before a target is, so that no later kit can be
// followed by an older one unnoticed.

import * as z from 'zod';
import type { KitErrorCode } from '#mirror/kit/kit-error.ts';
import type { KitHead } from '#mirror/kit/kit-reader.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { namedPath, notWritten, writeWhole } from '../output/destination.ts';

const stateShape = z.object({
  format: z.literal(1),
  series: z.record(z.string(), z.object({ sequence: z.int().min(1), kit: z.string() })),
  /** The series that a target holds. States of before have none. */
  targets: z.record(z.string(), z.string()).optional(),
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

/** The target of a state that lies next to it; a state that several targets share names them. */
export const onlyTarget = 'target';

/**
 * @param target as the state names it
 * @throws {KitError} `OtherSeries`
 */
export function requireSeries(state: ImportState, { document: { name } }: KitHead, target: string): void {
  const held = seriesOf(state, target);
  if (held === undefined || held === name) return;
  throw new PublishableError<KitErrorCode>(
    'OtherSeries',
    `the target holds kits of the series ${printable(held, 64)}, and the kit is one of ${name}`,
    {
      kind: 'refused',
      remedy: 'Import a kit of that series, choose another target, or add --allow-other-series.',
    },
  );
}

/** Before targets were remembered, a state with one series was that of one target. */
function seriesOf({ targets, series }: ImportState, target: string): string | undefined {
  if (targets !== undefined) return Object.hasOwn(targets, target) ? targets[target] : undefined;
  const [only, ...others] = Object.keys(series);
  return target === onlyTarget && others.length === 0 ? only : undefined;
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
  throw new PublishableError<KitErrorCode>(
    'KitOlder',
    `the kit ${name} has the sequence ${sequence}, and ${which} was imported before`,
    { kind: 'refused', remedy: 'Import a newer kit, or add --allow-older.' },
  );
}

/** @throws {CliError} `DestinationNotWritten` */
export async function writeImportState(
  path: string,
  state: ImportState,
  head: KitHead,
  target: string,
): Promise<void> {
  const { name, sequence } = head.document;
  const series = { ...state.series, [name]: { sequence, kit: head.documentDigest } };
  const targets = { ...state.targets, [target]: name };
  const text = `${JSON.stringify({ format: 1, series, targets }, undefined, 1)}\n`;
  await writeWhole(path, text, undefined).catch((cause: unknown) => {
    throw notWritten(namedPath('--state', path), cause);
  });
}
