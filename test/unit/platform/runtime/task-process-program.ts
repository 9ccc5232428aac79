// The process of task-process.test.ts. Its input decides: it answers with its number and flags, fills its heap or its
// buffers, never pauses, starts a process of its own kind, or ends.

import process from 'node:process';
import { serveTasks } from '#platform/runtime/task.ts';
import { processPort } from '#platform/runtime/task-process.ts';

serveTasks<unknown, unknown>((input) => {
  if (input === 'turn') for (;;);
  if (input === 'exit') process.exit(3);
  if (input === 'fill') {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => at + 0.5));
  }
  if (input === 'hold') {
    const kept: Buffer[] = [];
    for (;;) kept.push(Buffer.alloc(1024 * 1024, 1));
  }
  return {
    pid: process.pid,
    bytes: input instanceof Uint8Array ? input.byteLength : 0,
    isSignalled: input === 'signal' && process.kill(process.pid, 'SIGTERM'),
  };
}, processPort(process));
