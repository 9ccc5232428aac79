// Composition root of the thread that plans edits of values documents (src/targets/values-task.ts). Started by
// operator/values-planner.ts; answers one document after the other until it is ended.

import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../runtime/task-thread.ts';
import { runValuesTask } from '../targets/values-task.ts';

// A document may hold 130,000 syntax errors, whose stacks would take the thread to its limit of memory.
Error.stackTraceLimit = 0;

if (parentPort !== null) serveTasks(parentPort, runValuesTask);
