// `get --watch`: the table, and then a row for each change until the user stops it. Polls, because a list needs no other
// permission than `get` has. Refuses: ending because the Kubernetes API server is away for a moment.

import { failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { TableBlock } from '../output/layout.ts';
import type { Block } from '../output/screen.ts';
import type { StaticExportAnswer } from './documents.ts';
import type { ExportSummary } from './summary.ts';

const pollMs = 2_000;

export interface Watched {
  /** In their order. */
  read(): Promise<readonly ExportSummary[]>;
  tableOf(items: readonly ExportSummary[]): TableBlock;
  /** Shown while there are none. */
  readonly none: Block;
}

/** Never resolves. @throws what the first reading throws; an error that no later reading may end; the signal's reason */
export async function watchExports(
  { read, tableOf, none }: Watched,
  { clock, progress, print }: Pick<CliContext, 'clock' | 'progress' | 'print'>,
  signal: AbortSignal,
): Promise<StaticExportAnswer<'StaticExportList'>> {
  const rowsOf = (items: readonly ExportSummary[]): ReadonlyMap<string, string> => {
    const { rows } = tableOf(items);
    return new Map(items.map((one, at) => [idOf(one), JSON.stringify(rows[at])]));
  };
  let items = await read();
  let shown = rowsOf(items);
  print(items.length === 0 ? none : tableOf(items));
  let obstacle: string | undefined;
  for (;;) {
    await clock.after(pollMs, signal);
    const found = await read().catch((error: unknown) => {
      signal.throwIfAborted();
      const { code, message, retryable } = failureOf(error);
      if (code === 'NotFound') return [];
      if (!retryable) throw error;
      if (message !== obstacle) progress.note(message, 'warning');
      obstacle = message;
      return undefined;
    });
    if (found === undefined) continue;
    obstacle = undefined;
    const now = rowsOf(found);
    for (const one of items) if (!now.has(idOf(one))) print(`${idOf(one)} was deleted.`);
    const only = found.flatMap((one, at) => (now.get(idOf(one)) === shown.get(idOf(one)) ? [] : [at]));
    if (only.length > 0) print(items.length === 0 ? tableOf(found) : { ...tableOf(found), only });
    [items, shown] = [found, now];
  }
}

const idOf = ({ namespace, name }: ExportSummary): string => `${namespace}/${name}`;
