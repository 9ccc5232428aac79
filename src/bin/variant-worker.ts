// Composition root of the thread that compresses a bundle's files. Started by site/variants/variant-keeper.ts. Runs at a
// low priority, so that serving comes first.

import { setPriority } from 'node:os';
import { systemClock } from '#platform/runtime/clock.ts';
import { serveTasks } from '#platform/runtime/task.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import type { VariantTask } from '#server/variants/variant-task.ts';

// On Linux this sets the calling thread alone, to a tenth of the weight of the others, so that it still progresses on a
// busy node. A system that refuses it compresses at the usual priority.
try {
  setPriority(10);
} catch {}

serveTasks((task: VariantTask) => prepareVariants(task, systemClock));
