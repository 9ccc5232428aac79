// The thread of task.test.ts. Its input decides: it answers, reports, throws, loops forever, fills its heap or ends.

import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { serveTasks } from '#platform/runtime/task.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

serveTasks<unknown, unknown, number>(async (input, report) => {
  if (input === 'throw') throw new RangeError('secret text');
  if (input === 'refuse') {
    const cause = Object.assign(new Error('secret text'), { code: 'ENOSPC' });
    throw new PublishableError('TooDeep', 'too deep', { kind: 'refused', cause });
  }
  if (input === 'turn') for (;;);
  if (input === 'wait') {
    // Longer than the limit of CPU time that its test sets.
    await setTimeout(800);
    return 'waited';
  }
  if (input === 'exit') process.exit(3);
  if (input === 'thread') return threadId;
  if (input === 'report') {
    for (const at of [1, 2, 3]) await report(at);
    return 'reported';
  }
  if (input === 'fill') {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => at + 0.5));
  }
  return { answered: input };
});
