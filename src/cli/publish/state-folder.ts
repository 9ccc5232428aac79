// What a run leaves for the next one in addition to the objects of its cluster (cli/folder): the last finished export, and what
// the destinations hold. Owns the state folder and its lock. Refuses a second run on one folder. Invariant: a state file is
// absent or whole. It holds no key and no link.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod/mini';
import { makeFolder } from '#platform/runtime/folder.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { writeWhole } from '../output/destination.ts';
import { type ExportedSite, exportedSiteSchema, siteKey, siteName } from './exported-site.ts';

const count = z.int().check(z.nonnegative());
const lastSchema = z.object({
  ...exportedSiteSchema.shape,
  jobId: z.string(),
  version: z.string(),
  digest: z.string(),
  pages: count,
});
const destinationSchema = z.object({
  /** Absolute. */
  path: z.string(),
  /** Names the content that was written there last; empty while it is written. */
  digest: z.string(),
  /** Marks of the paths of its files: `nameMarks`. While it is written, of the files before it too. */
  files: z.optional(z.string()),
  /** What lay there when that had ended, as one hash. */
  content: z.optional(z.string()),
});
const stateSchema = z.object({
  format: z.literal(1),
  site: z.optional(exportedSiteSchema),
  last: z.optional(lastSchema),
  destinations: z.optional(z.array(destinationSchema)),
});

export type LastExport = z.infer<typeof lastSchema>;
export type WrittenDestination = z.infer<typeof destinationSchema>;
export interface StoredState {
  /** What `export` exports or exported with this state. */
  readonly site?: ExportedSite | undefined;
  /** Its last finished export. */
  readonly last?: LastExport | undefined;
  /** What runs with this state wrote, and may replace. */
  readonly destinations?: readonly WrittenDestination[] | undefined;
}

export interface StateFolder {
  readonly path: string;
  /** As last written. */
  readonly state: StoredState;
  /** Resolves when it is on the disk. @throws {CliError} `StateUnusable` */
  write(state: StoredState): Promise<void>;
  close(): void;
}

/** Where the state of one site lies if the user names no folder. */
export function defaultStatePath(
  { baseUrl, ...site }: ExportedSite,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const home = env['XDG_STATE_HOME'] || join(env['HOME'] || '.', '.local/state');
  const name = createHash('sha256')
    .update(JSON.stringify([baseUrl, ...siteKey(site)]))
    .digest('hex')
    .slice(0, 16);
  return join(home, 'static-export', name);
}

/** The user named no folder. */
export const isDefaultState = (path: string): boolean =>
  /^[0-9a-f]{16}$/.test(basename(path)) && basename(dirname(path)) === 'static-export';

/** Most domains of one user that are searched. */
const mostStates = 256;

/** The export that wrote a destination with another default state, such as before its domain was changed. */
export async function findDefaultWriter(
  path: string,
  destination: string,
): Promise<{ readonly site: string; readonly host: string } | undefined> {
  if (!isDefaultState(path)) return undefined;
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.slice(0, mostStates)) {
    const other = await readState(join(folder, name, 'state.json')).catch(() => undefined);
    const found = other?.site ?? other?.last;
    const isWriter = other?.destinations?.some((one) => one.path === destination) === true;
    if (isWriter && found !== undefined && URL.canParse(found.baseUrl))
      return { site: siteName(found), host: new URL(found.baseUrl).host };
  }
  return undefined;
}

/**
 * @param named created if absent, for its owner alone
 * @throws {CliError} `StateBusy` (another run has it), `StateUnusable`
 */
export async function openStateFolder(named: string): Promise<StateFolder> {
  const path = resolve(named);
  try {
    await makeFolder(path, 0o700);
    const lock = await takeLock(join(path, 'lock'));
    try {
      const file = join(path, 'state.json');
      let state = await readState(file);
      return {
        path,
        get state() {
          return state;
        },
        write: async (next) => {
          const text = `${JSON.stringify({ format: 1, ...next }, undefined, 2)}\n`;
          await writeWhole(file, text, 0o600).catch((cause: unknown) => {
            throw unusable(cause);
          });
          state = next;
        },
        close: () => lock.close(),
      };
    } catch (error) {
      lock.close();
      throw error;
    }
  } catch (error) {
    throw error instanceof CliError ? error : unusable(error);
  }
}

/** The system releases SQLite's lock when a process ends, however it ends. */
async function takeLock(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path);
  try {
    // The journal stays in memory, because a killed run would leave its file.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;');
    return database;
  } catch (cause) {
    database.close();
    if (!(cause instanceof Error && /database is locked/.test(cause.message))) throw cause;
    const message = 'another run uses this state folder; wait for it, or name another folder with --state';
    throw new CliError('temporary', 'StateBusy', message, { cause });
  }
}

async function readState(path: string): Promise<StoredState> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return {};
  const read = stateSchema.safeParse(readJson(text));
  if (!read.success) {
    const message = `${path} is not a state of this program; remove it, and an unfinished export starts again`;
    throw new CliError('usage', 'StateInvalid', message);
  }
  const { site, last, destinations } = read.data;
  return { site, last, destinations };
}

function unusable(cause: unknown): CliError {
  const message = `the state folder cannot be used (${publishableCode(cause)}); name a folder that can be written with --state`;
  return new CliError('usage', 'StateUnusable', message, { cause });
}

/** Below the state folder, which may be a folder of the user's. */
export const workFolderName = '.static-export-work';
