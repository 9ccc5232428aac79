// Composition root of the thread that plans edits of values documents (src/targets/values-task.ts). Started by
// operator/values-planner.ts; answers one document after the other until it is ended.

import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../runtime/task-thread.ts';
import { runValuesTask } from '../targets/values-task.ts';

if (parentPort !== null) serveTasks(parentPort, runValuesTask);
