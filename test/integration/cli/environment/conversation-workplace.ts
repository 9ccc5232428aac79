// A project with a scripted listing and a folder of its own, and `conversations export` over them.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type CliOptions, runInProcess } from '../../../support/cli-in-process.ts';
import type { CommandResult } from '../../../support/command.ts';
import { programFile } from '../../../support/program-file.ts';
import { key, rowAt, type ScriptedListing, type SentRow, startListing } from './scripted-listing.ts';

export const hour = 3_600_000;
export const now = Date.now();
/** Over ten days, each half hour. */
export const usualRows = Array.from({ length: 480 }, (_, index) =>
  rowAt(now - 480 * (hour / 2) + index * (hour / 2), index),
);

/** The same times, with answers of 2 KiB that no compression makes small. */
export const largeRows = usualRows.map((row, index) => {
  const noise = Array.from({ length: 512 }, (_, at) => ((index * 7919 + at * 104_729) % 65_521).toString(36));
  return { ...row, response: noise.join('') };
});

export interface Workplace {
  readonly folder: string;
  readonly listing: ScriptedListing;
  readonly env: Readonly<Record<string, string>>;
  /** Of a process of its own: the program, and what follows it. */
  args(...more: readonly string[]): readonly string[];
  /** In the process of the test. */
  run(...more: readonly string[]): Promise<CommandResult>;
  /** As `run`, and says what it does. */
  runLoud(options: CliOptions, ...more: readonly string[]): Promise<CommandResult>;
  /** With further variables. */
  runWith(more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CommandResult>;
  turns(): readonly Readonly<Record<string, unknown>>[];
}

export async function workplace(t: TestContext, rows: readonly SentRow[] = usualRows): Promise<Workplace> {
  const listing = await startListing(rows);
  t.after(() => listing.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-conversations-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { XDG_STATE_HOME: join(folder, 'home'), STATIC_EXPORT_API_KEY: key };
  const args = (...more: readonly string[]): readonly string[] => [
    ...[programFile('static-export'), 'conversations', 'export'],
    ...['--api-base-url', listing.url, '--project', 'docs', '--budget', '100000/h', '--quiet'],
    ...(more.includes('--to') ? [] : ['--to', join(folder, 'turns')]),
    ...more,
  ];
  const runWith: Workplace['runWith'] = (variables, ...more) =>
    runInProcess(args(...more).slice(1), { env: { ...env, ...variables } });
  const runLoud: Workplace['runLoud'] = (options, ...more) => {
    const words = args(...more)
      .slice(1)
      .filter((one) => one !== '--quiet');
    return runInProcess(words, { env, ...options });
  };
  const run: Workplace['run'] = (...more) => runWith({}, ...more);
  const turns = (): readonly Readonly<Record<string, unknown>>[] => {
    const parts = join(folder, 'turns');
    return readdirSync(parts).flatMap((name) =>
      readFileSync(join(parts, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line): Readonly<Record<string, unknown>> => JSON.parse(line)),
    );
  };
  return { folder, listing, env, args, run, runLoud, runWith, turns };
}

export const queriesOf = (turns: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  turns.map(({ query }) => String(query)).toSorted();
export const expectedQueries = (rows: readonly SentRow[], untilMs: number): readonly string[] =>
  rows
    .filter(({ timestamp }) => Date.parse(timestamp) < untilMs)
    .map(({ query }) => String(query))
    .toSorted();
