// Keeps the store of conversations equal to its file: read at the start, and again when a listing finds the
// file changed. Invariant: a changed file that cannot be used leaves the old rows as they were.

import type { Logger } from '../runtime/logger.ts';
import { readConversationFile } from './conversation-file.ts';
import type { ConversationStore } from './store/conversations.ts';
import { stampOf } from './watched-file.ts';

export interface ConversationSource {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
}

/**
 * @param source `undefined`: no conversations at all
 * @returns brings the store up to date; never rejects
 * @throws {ConversationFileError} from the first reading
 */
export async function feedConversations(
  store: ConversationStore,
  source: ConversationSource | undefined,
  logger: Logger,
): Promise<() => Promise<void>> {
  if (source === undefined) {
    store.replaceAll([]);
    return () => Promise.resolve();
  }
  let seen = '';
  const load = async (): Promise<void> => {
    const stamp = stampOf(source.path);
    if (stamp === seen) return;
    seen = stamp;
    const count = store.replaceAll(await readConversationFile(source.path, source.defaultProject));
    logger.info({ conversations: count }, 'conversations were read');
  };
  await load();
  let loading = Promise.resolve();
  return () => {
    loading = loading.then(load).catch((error: unknown) => {
      logger.warn({ error }, 'the conversations file has changed and is not usable; the old rows stay');
    });
    return loading;
  };
}
