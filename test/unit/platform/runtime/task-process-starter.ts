// A starter that is killed while its process waits: prints the process's number once it has answered.

import process from 'node:process';
import { systemClock } from '#platform/runtime/clock.ts';
import { startTaskProcess } from '#platform/runtime/task-process.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';

const program = new URL('./task-process-program.ts', import.meta.url);
const tasks = new TaskQueue<unknown, { readonly pid: number }>({
  start: () => startTaskProcess(program, { maxHeapMb: 32, maxMemoryMb: 96 }, systemClock),
  timeoutMs: 60_000,
  maxWaitingPerOwner: 4,
  idleMs: 60_000,
  clock: systemClock,
});
process.stdout.write(`${(await tasks.run('who', 'a')).pid}\n`);
