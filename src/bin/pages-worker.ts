// Composition root of the thread that reads the pages of a bundle for `conversations gaps`. Started by src/conversations
// (page-hashes.ts). Reads nothing of the environment.

import { hashPages } from '#conversations/page-hashes-run.ts';
import { serveTasks } from '#platform/runtime/task.ts';

serveTasks(hashPages);
