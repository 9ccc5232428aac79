// Removes old turns from a destination and from the state, and keeps them from coming back. Owns which destinations can be
// pruned: those with a part for each day, and tables. Refuses days that are not over. Invariant: the state knows the limit
// before a file is removed, so that a killed run is continued by the next one.

import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { placeKind, type SinkFormat } from './sinks/open-sink.ts';
import { partialName } from './sinks/partition-store.ts';
import type { ConversationState } from './state.ts';

export interface PruneRequest {
  readonly state: ConversationState;
  readonly format: SinkFormat;
  readonly to: string;
  readonly project: string;
  /** Epoch ms; turns of the day that holds it stay. */
  readonly before: number;
}

export interface PruneCounts {
  /** Turns that the state has forgotten. */
  readonly turns: number;
  /** Parts that were removed. */
  readonly parts: number;
}

const dayMs = 86_400_000;
/** The day of a part, by its format. */
const partNames: Readonly<Partial<Record<SinkFormat, RegExp>>> = {
  ndjson: /^turns-(\d{4}-\d\d-\d\d)\.ndjson$/,
  csv: /^turns-(\d{4}-\d\d-\d\d)\.csv$/,
  parquet: /^day=(\d{4}-\d\d-\d\d)$/,
};

/** @returns what is wrong with pruning this destination */
export function checkPrunable(format: SinkFormat, to: string): string | undefined {
  const isTable = format === 'sqlite';
  const isFile = /\.(?:ndjson|jsonl|csv)$/i.test(to) && format !== 'parquet';
  if (placeKind(to) === 'path' && (isTable || (partNames[format] !== undefined && !isFile))) return undefined;
  return 'only a folder with a part for each day, and SQLite, can be pruned; remove turns elsewhere with the means of that place';
}

/** The start of the day in UTC that holds an instant. */
export const dayStart = (epochMs: number): number => Math.floor(epochMs / dayMs) * dayMs;

/** @throws {PublishableError} `PruneNotPossible` @throws the file system's error */
export async function pruneTurns({ state, format, to, project, before }: PruneRequest): Promise<PruneCounts> {
  const wrong = checkPrunable(format, to);
  if (wrong !== undefined) throw new PublishableError('PruneNotPossible', wrong);
  const limit = dayStart(before);
  const turns = state.prune(limit);
  const path = resolve(to);
  const isTable = format === 'sqlite';
  const parts = isTable
    ? await pruneTable(path, project, limit)
    : await pruneParts(path, format, state, limit);
  return { turns, parts };
}

async function pruneTable(path: string, project: string, limit: number): Promise<number> {
  const { openTurnsDatabase } = await import('./sinks/sqlite-sink.ts');
  const database = await openTurnsDatabase(path);
  try {
    const before = new Date(limit).toISOString();
    database.prepare('DELETE FROM turns WHERE project = ? AND timestamp < ?').run(project, before);
    // What was removed must not stay in free pages of the file.
    database.exec('VACUUM');
    return 0;
  } finally {
    database.close();
  }
}

/** Parts that this state wrote, and no others. */
async function pruneParts(
  folder: string,
  format: SinkFormat,
  state: ConversationState,
  limit: number,
): Promise<number> {
  const names = await readdir(folder);
  let removed = 0;
  for (const name of names) {
    const day = partNames[format]?.exec(name)?.[1];
    const part = format === 'parquet' ? `${name}/turns.parquet` : name;
    if (day === undefined || state.partSize(part) === undefined) continue;
    if (Date.parse(day) >= limit) continue;
    await rm(join(folder, part), { force: true });
    // What a killed run was writing.
    if (format === 'parquet') await rm(join(folder, name, partialName), { force: true });
    // A folder with files of others stays.
    if (format === 'parquet') await rmdir(dirname(join(folder, part))).catch(() => {});
    removed += 1;
  }
  await syncFolder(folder);
  return removed;
}
