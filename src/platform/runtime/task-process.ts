// Tasks in a process of its own, for input that may take memory which no thread's limit counts: buffers belong to the
// whole process. Owns the start of the process, its limits and its end. Refuses nothing. Invariant: a process above its
// limit is killed within one look, and its starter stays; a process whose starter is gone ends.

import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Clock, hasWaited } from './clock.ts';
import { outOfMemory, type TaskHost, type TaskPort } from './task.ts';

export interface ProcessLimits {
  /** Of V8's old generation. */
  readonly maxHeapMb: number;
  /** Of all memory that is its own (`RssAnon` in proc(5)): heap, buffers, and what libraries in C take. */
  readonly maxMemoryMb: number;
}

/** A process that fills its memory as fast as it can takes some tens of megabytes between two looks. */
const lookMs = 20;

/** @param program calls `serveTasks` with {@link processPort} */
export function startTaskProcess(
  program: URL,
  { maxHeapMb, maxMemoryMb }: ProcessLimits,
  clock: Pick<Clock, 'after'>,
): TaskHost {
  const child = fork(program, {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${maxHeapMb}`],
    // V8 says at length that its heap is full; the task's error says it in one line.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = new AbortController();
  const { promise: gone, resolve: noteEnd } = Promise.withResolvers<void>();
  const end = (): void => {
    ended.abort();
    noteEnd();
  };
  let isTooLarge = false;
  child.on('error', () => (child.pid === undefined ? end() : undefined));
  child.on('exit', (_code, signal) => {
    end();
    // V8 aborts where its heap is full.
    if (isTooLarge || signal === 'SIGABRT') child.emit('error', outOfMemory(maxMemoryMb));
  });
  const watch = async (pid: number): Promise<void> => {
    while (await hasWaited(clock, lookMs, ended.signal)) {
      if (ownMemoryMb(pid) <= maxMemoryMb) continue;
      isTooLarge = true;
      child.kill('SIGKILL');
    }
  };
  if (child.pid !== undefined) void watch(child.pid);
  return Object.assign(child, {
    postMessage: (message: object | string): void => void child.send(message),
    terminate: async (): Promise<void> => {
      child.kill('SIGKILL');
      await gone;
    },
  });
}

/** @returns 0 where the system has no such file: then the heap's limit is the only one */
function ownMemoryMb(pid: number): number {
  try {
    // Not through the pool of threads, where it would wait for disks. The kernel has the figures at hand.
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The process's side of the messages. Signals are the starter's: a terminal sends them to both. */
export function processPort<Input>(process: NodeJS.Process): TaskPort<Input> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.on('disconnect', () => process.exit());
  try {
    // proc(5): a kernel without memory takes this process first. Not in a pod, whose container Kubernetes ends as a whole.
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Another system, or a process that may not.
  }
  const port = new EventEmitter();
  process.on('message', (message) => port.emit('message', message));
  return Object.assign(port, { postMessage: (message: object): void => void process.send?.(message) });
}
