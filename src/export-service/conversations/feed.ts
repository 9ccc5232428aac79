// Keeps the listed conversations equal to their file: has it indexed at the start, and again when a listing finds the file
// changed. The thread reads the file; this side compares its size and time only. Invariant: a changed file that cannot be
// used leaves the listed rows as they were.

import type { ProgramContext } from '#platform/runtime/program.ts';
import { startTaskThread } from '#platform/runtime/task.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';
import { readFileState } from '../watched-file.ts';
import type { IndexTask } from './index-task.ts';
import type { ConversationStore } from './store.ts';

export interface ConversationFile {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
  /** `src/bin/conversations-worker.ts`, or where the build put it. */
  readonly program: URL;
}

export interface ConversationFeed {
  /**
   * Brings the store up to date; never rejects. Waits a second at most: a longer load goes on in the background, and
   * answers come from the old rows until it is complete.
   */
  refresh(): Promise<void>;
  /** Stops a load in progress; afterwards the store may be closed. */
  stop(): Promise<void>;
}

/** A thousand turns are indexed within some milliseconds, a million within a minute or two. */
const waitedForMs = 1000;
/** For lines of 256 KiB, one at a time. SQLite's cache is not part of it. */
const limits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** A file that takes longer is on a device that never ends. */
const timeoutMs = 3_600_000;
const idleMs = 10_000;

/**
 * @param source `undefined`: no conversations at all
 * @returns once the file is indexed, whatever its size
 * @throws {PublishableError} from the first reading
 */
export async function feedConversations(
  store: ConversationStore,
  source: ConversationFile | undefined,
  { clock, logger }: Pick<ProgramContext, 'clock' | 'logger'>,
): Promise<ConversationFeed> {
  if (source === undefined) return { refresh: () => Promise.resolve(), stop: () => Promise.resolve() };
  const { program, ...file } = source;
  const queue = new TaskQueue<IndexTask, number>({
    start: () => startTaskThread(program, limits),
    timeoutMs,
    maxWaitingPerOwner: 1,
    idleMs,
    clock,
  });
  const stopping = new AbortController();
  let seen = '';
  /** Present while a load runs: resolves at its end, or after the time that a listing waits for it. */
  let waited: Promise<void> | undefined;
  let loading = Promise.resolve();

  const load = async (stamp: string): Promise<void> => {
    const isFirst = seen === '';
    seen = stamp;
    const indexPath = store.nextPath();
    const conversations = await queue.run({ ...file, mayGrow: !isFirst, indexPath }, 'feed');
    await store.use(indexPath);
    logger[isFirst ? 'info' : 'debug']({ conversations }, 'conversations were read');
  };
  const begin = (stamp: string): void => {
    const settled = new AbortController();
    loading = load(stamp)
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        logger.warn({ error }, 'the conversations file has changed and is not usable; the old rows stay');
      })
      .finally(() => {
        waited = undefined;
        settled.abort();
      });
    waited = Promise.race([loading, clock.after(waitedForMs, settled.signal).catch(() => {})]);
  };

  try {
    await load(readFileState(file.path).stamp);
  } catch (error) {
    await queue.close();
    throw error;
  }
  return {
    refresh: async () => {
      // A load that runs already may have passed the end of the file before it grew.
      await waited;
      const { stamp } = readFileState(file.path);
      if (waited === undefined && stamp !== seen) begin(stamp);
      await waited;
    },
    stop: async () => {
      stopping.abort();
      await queue.close();
      await loading;
    },
  };
}
