// The state of Singer: a file with the STATE that the target printed last. Refuses a file of another project or program, because
// its windows would hide turns.

import { CliError } from '#cli/cli-error.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { isRecord, readJson } from '#platform/wire/json-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import type { Bookmark } from '../sink.ts';
import { type ConversationState, openState } from '../state.ts';
import { firstStepMs, longestStepMs, shortestStepMs } from '../windows.ts';

const longestState = 1024 * 1024;

/** @returns a state that ends with the process. @throws {CliError} `StateUnusable`, `StateInvalid`, `StateMismatch` */
export async function openSingerState({
  state: path,
  project,
}: {
  readonly state: string | undefined;
  readonly project: string;
}): Promise<ConversationState> {
  const bookmark = path === undefined ? undefined : await readBookmark(path, project);
  const state = await openState(undefined, { '--project': project });
  if (bookmark === undefined) return state;
  const { windows, stepMs = firstStepMs, cycle } = bookmark;
  // A state of another program may name a step of a millisecond, which would spend the budget.
  state.closeWindow(windows, Math.min(longestStepMs, Math.max(shortestStepMs, stepMs)));
  if (cycle !== undefined) state.beginCycle(cycle);
  return state;
}

async function readBookmark(path: string, project: string): Promise<Bookmark | undefined> {
  const { readSingerState } = await import('../sinks/singer-sink.ts');
  const text = await readBounded(path, longestState).catch((cause: unknown) => {
    throw unreadable(cause);
  });
  // Targets print a STATE for each window, one a line; the last one counts.
  const last = readJson(text?.trim().split('\n').at(-1)) ?? readJson(text);
  // Without a target, it is still the message of the tap.
  const value = isRecord(last) && last['type'] === 'STATE' ? last['value'] : last;
  if (isRecord(value) && Object.keys(value).length === 0) return undefined;
  const read = readSingerState(value);
  if (read === undefined) {
    const problem = text?.trim() === '' ? 'is empty' : 'is not a STATE of this tap';
    const message = `--state ${problem}; name the file with the last STATE of the target, or leave it out to read everything again`;
    throw new CliError('usage', 'StateInvalid', message);
  }
  if (read.project === project) return read;
  throw new CliError('usage', 'StateMismatch', '--state is of another --project; name that project’s file');
}

/** A run that took a missing file for a first one would read everything again for each misspelt path. */
function unreadable(cause: unknown): CliError {
  const code = publishableCode(cause);
  const message =
    code === 'ENOENT'
      ? '--state does not exist; leave it out for the first run, or correct its path'
      : `--state cannot be read (${code}); check its path and permissions`;
  return new CliError('usage', 'StateUnusable', message, { cause });
}
