// The thread of task-thread.test.ts: answers, throws, turns for ever, fills its heap or ends, as it is asked.

import process from 'node:process';
import { parentPort, threadId } from 'node:worker_threads';
import { serveTasks } from '../../../src/runtime/task-thread.ts';

if (parentPort !== null) {
  serveTasks(parentPort, (input) => {
    if (input === 'throw') throw new RangeError('secret text');
    if (input === 'turn') for (;;);
    if (input === 'exit') process.exit(3);
    if (input === 'thread') return threadId;
    if (input === 'fill') {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => at + 0.5));
    }
    return { answered: input };
  });
}
