// Composition root of the thread that plans edits of values documents. Started by services/target-planner.ts;
// plans one document after another until it is stopped.

import { planSentTask } from '#operator/services/target-planner.ts';
import { serveTasks } from '#platform/runtime/task.ts';

// A document may hold 130,000 syntax errors, whose stacks would take the thread to its limit of memory.
Error.stackTraceLimit = 0;

serveTasks(planSentTask);
