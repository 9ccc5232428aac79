// Endpoint 1: the conversations of a project, a page at a time. A project that the store does not know is a 404; a
// known one without matching conversations is an empty page.

import express, { type Router } from 'express';
import { ApiRefusal } from '../api-refusal.ts';
import { readListingQuery } from '../conversations/listing-query.ts';
import type { ConversationStore } from '../conversations/store.ts';
import { answerOnly } from './answers.ts';
import type { ApiHandler } from './auth-check.ts';

export interface ConversationRoutesOptions {
  readonly conversations: ConversationStore;
  /** Known even while it has no conversations. */
  readonly defaultProject: string;
  /** Brings the store up to date with its file. */
  readonly refresh: () => Promise<void>;
}

/** Below `/v1/analytics`. */
export function conversationRoutes(options: ConversationRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });
  router.route('/:projectId/assistant').get(listConversations(options)).all(answerOnly('GET', 'HEAD'));
  return router;
}

function listConversations(options: ConversationRoutesOptions): ApiHandler<{ projectId: string }> {
  return async (request, response) => {
    const { projectId } = request.params;
    const [, search = ''] = request.originalUrl.split('?', 2);
    const query = readListingQuery(new URLSearchParams(search));
    await options.refresh();
    if (projectId !== options.defaultProject && !options.conversations.hasProject(projectId)) {
      throw new ApiRefusal(404, 'no such project');
    }
    const { documents, nextCursor } = options.conversations.page(projectId, query);
    // Put together from what is stored: to parse and write large documents again would keep others waiting.
    const rest = JSON.stringify({ nextCursor, hasMore: nextCursor !== null }).slice(1);
    response.type('application/json').send(`{"conversations":[${documents.join(',')}],${rest}`);
  };
}
