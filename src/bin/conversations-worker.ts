// Composition root of the thread that indexes the file of conversations. Started by src/export-service
// (conversations/feed.ts). Reads nothing of the environment.

import { indexConversations } from '#export-service/conversations/index-task.ts';
import { serveTasks } from '#platform/runtime/task.ts';

serveTasks(indexConversations);
