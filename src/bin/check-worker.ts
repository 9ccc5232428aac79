// Composition root of the thread that checks a stored bundle (src/bundle/store/checking.ts). A program of its own, because a
// start from disk waits for it: as a part of bundle-worker.ts it took a tenth of a second longer to load.

import { runCheck } from '#bundle/store/checking.ts';
import { serveTasks } from '#platform/runtime/task.ts';

serveTasks(runCheck);
