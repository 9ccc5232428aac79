// One worker thread that does short tasks in turn: work whose cost a tenant, a vendor or a site decides, and which
// the main thread therefore never does itself. The thread starts with the first task and ends when it has been idle.
// Refuses: a task beyond its time or memory (the thread is ended, the next task has a new one); and one owner's
// backlog before another owner's task: owners take turns.
// Invariant: every task settles once, with the worker's answer, a TaskError or the reason of its signal.

import { type MessagePort, Worker } from 'node:worker_threads';
import { PublishableError } from '../wire/publishable-error.ts';
import type { Clock } from './clock.ts';

export interface TaskThreadOptions {
  /** The program of the thread: it calls {@link serveTasks}. */
  readonly program: URL;
  /** From the moment a task is sent until its answer; starting the thread included. */
  readonly timeoutMs: number;
  /** Objects and strings of the thread. */
  readonly maxHeapMb: number;
  /** Tasks of one owner that may wait; more are refused, because their inputs take memory. */
  readonly maxWaitingPerOwner: number;
  /** A thread without a task for so long ends and gives its memory back. */
  readonly idleMs: number;
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * `TaskTimeout`, `TaskOutOfMemory`, `TaskFailed` (the program threw, or could not be started), `TaskQueueFull` or
 * `TaskStopped`.
 */
export class TaskError extends PublishableError {}

/** The runtime's own choice grows to 48 MB, which an idle thread keeps. */
const maxYoungGenerationSizeMb = 12;

interface Task {
  readonly input: unknown;
  readonly settle: (outcome: { readonly value: unknown } | { readonly error: unknown }) => void;
}

export class TaskThread {
  readonly #options: TaskThreadOptions;
  /** Waiting tasks by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<Task>>();
  #worker: Worker | undefined;
  #running: Task | undefined;
  /** Ends the wait for the running task's time, or for the idle time. */
  #timer = new AbortController();
  #isClosed = false;

  constructor(options: TaskThreadOptions) {
    this.#options = options;
  }

  /** Tasks that wait for the thread; the running one is not among them. */
  get waiting(): number {
    let count = 0;
    for (const tasks of this.#waiting.values()) count += tasks.size;
    return count;
  }

  /**
   * @param input a structured clone of it is what the program gets
   * @param owner on whose behalf: owners take turns, whatever each of them has waiting
   * @param signal leaves the queue; a task that runs already runs on, and its answer is dropped
   * @throws {TaskError}; the signal's reason
   */
  run(input: unknown, owner: string, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#isClosed) return reject(stopped());
      const tasks = this.#waiting.get(owner) ?? new Set();
      const { maxWaitingPerOwner } = this.#options;
      if (tasks.size >= maxWaitingPerOwner) return reject(queueFull(maxWaitingPerOwner));
      const task: Task = {
        input,
        settle: (outcome) => {
          signal?.removeEventListener('abort', leave);
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      };
      const leave = (): void => {
        this.#drop(owner, task);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      tasks.add(task);
      this.#waiting.set(owner, tasks);
      this.#runNext();
    });
  }

  /** Ends the thread; what runs or waits fails with `TaskStopped`, and so does what comes later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const tasks = [...this.#waiting.values()].flatMap((waiting) => [...waiting]);
    this.#waiting.clear();
    const worker = this.#release();
    this.#finish({ error: stopped() });
    for (const task of tasks) task.settle({ error: stopped() });
    await worker?.terminate();
  }

  #runNext(): void {
    if (this.#running !== undefined || this.#isClosed) return;
    const task = this.#takeNext();
    if (task === undefined) {
      this.#startTimer(this.#options.idleMs, () => void this.#release()?.terminate());
      return;
    }
    this.#running = task;
    const { timeoutMs } = this.#options;
    this.#startTimer(timeoutMs, () => {
      this.#fail(new TaskError('TaskTimeout', `the task took longer than ${timeoutMs / 1000} s`));
    });
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(task.input);
    } catch (cause) {
      this.#fail(failed(cause));
    }
  }

  #takeNext(): Task | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [owner, tasks] = next;
    const [task] = tasks;
    this.#waiting.delete(owner);
    if (task !== undefined) tasks.delete(task);
    if (tasks.size > 0) this.#waiting.set(owner, tasks);
    return task;
  }

  #drop(owner: string, task: Task): void {
    const tasks = this.#waiting.get(owner);
    tasks?.delete(task);
    if (tasks?.size === 0) this.#waiting.delete(owner);
  }

  #start(): Worker {
    const { program, maxHeapMb } = this.#options;
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb },
    });
    // An idle thread keeps no process alive.
    worker.unref();
    worker.on('message', (message: unknown) => {
      if (worker === this.#worker) this.#hear(message);
    });
    worker.on('error', (cause) => {
      if (worker === this.#worker)
        this.#fail(isOutOfMemory(cause) ? outOfMemory(maxHeapMb, cause) : failed(cause));
    });
    worker.on('exit', () => {
      if (worker === this.#worker) this.#fail(failed(undefined));
    });
    return worker;
  }

  #hear(message: unknown): void {
    if (typeof message === 'object' && message !== null && 'value' in message) {
      this.#finish({ value: message.value });
    } else {
      this.#finish({ error: failed(undefined) });
    }
    this.#runNext();
  }

  /** The thread is ended, because it is of no more use; the next task starts another. */
  #fail(error: TaskError): void {
    void this.#release()?.terminate();
    this.#finish({ error });
    this.#runNext();
  }

  #finish(outcome: Parameters<Task['settle']>[0]): void {
    const task = this.#running;
    this.#running = undefined;
    task?.settle(outcome);
  }

  #release(): Worker | undefined {
    this.#timer.abort();
    const worker = this.#worker;
    this.#worker = undefined;
    return worker;
  }

  #startTimer(ms: number, ring: () => void): void {
    this.#timer.abort();
    if (ms === Number.POSITIVE_INFINITY) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#options.clock.after(ms, timer.signal).then(ring, () => {});
  }
}

/**
 * The thread's side: answers each message with what `work` returns for it, one after the other. To be called by the
 * program of a {@link TaskThread}.
 *
 * @param work throws for defects only: its task fails, and the thread ends
 */
export function serveTasks(port: MessagePort, work: (input: unknown) => unknown): void {
  port.on('message', (input: unknown) => port.postMessage({ value: work(input) }));
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

const stopped = (): TaskError => new TaskError('TaskStopped', 'the program is stopping');

const queueFull = (maxWaiting: number): TaskError =>
  new TaskError('TaskQueueFull', `${maxWaiting} tasks of the same owner wait already; try again later`);

const failed = (cause: unknown): TaskError =>
  new TaskError('TaskFailed', 'the worker thread ended unexpectedly', { cause });

const outOfMemory = (maxHeapMb: number, cause: unknown): TaskError =>
  new TaskError('TaskOutOfMemory', `the task needed more than ${maxHeapMb} MB of memory`, { cause });
