// Keeps the store of conversations equal to its file: reads it at the start, and again when a listing finds the file
// changed. Invariant: a changed file that cannot be used leaves the old rows as they were.

import type { ProgramContext } from '../runtime/program.ts';
import { readConversationFile } from './conversation-file.ts';
import type { ConversationStore } from './store/conversations.ts';
import { readFileState } from './watched-file.ts';

export interface ConversationSource {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
}

export interface ConversationFeed {
  /**
   * Brings the store up to date; never rejects. Waits for a small file. Loads a large one in the background, and
   * answers come from the old rows until it is complete.
   */
  refresh(): Promise<void>;
  /** Stops a load in progress; afterwards the store may be closed. */
  stop(): Promise<void>;
}

/** A file of this size is loaded within some tens of milliseconds. */
const waitedForBytes = 256 * 1024;

/**
 * @param source `undefined`: no conversations at all
 * @returns once the file is loaded, whatever its size
 * @throws {ConversationFileError} from the first reading
 */
export async function feedConversations(
  store: ConversationStore,
  source: ConversationSource | undefined,
  { clock, logger }: Pick<ProgramContext, 'clock' | 'logger'>,
): Promise<ConversationFeed> {
  const stopping = new AbortController();
  const pause = (): Promise<void> => clock.after(0, stopping.signal);
  if (source === undefined) return { refresh: () => Promise.resolve(), stop: () => Promise.resolve() };
  const { path, defaultProject } = source;
  let seen = '';
  const load = async (): Promise<void> => {
    const { stamp } = readFileState(path);
    if (stamp === seen) return;
    seen = stamp;
    const count = await store.replaceAll(readConversationFile(path, defaultProject), pause);
    logger.info({ conversations: count }, 'conversations were read');
  };
  await load();
  let loading = Promise.resolve();
  return {
    refresh: async () => {
      const { stamp, sizeBytes } = readFileState(path);
      if (stamp !== seen) {
        loading = loading.then(load).catch((error: unknown) => {
          if (stopping.signal.aborted) return;
          logger.warn({ error }, 'the conversations file has changed and is not usable; the old rows stay');
        });
      }
      if (sizeBytes <= waitedForBytes) await loading;
    },
    stop: () => {
      stopping.abort();
      return loading;
    },
  };
}
