// Work in a worker thread, for input from a tenant, vendor or site that is expensive to process. The main thread reads
// only small messages. Owns the thread: its start, its memory limit and its end; task-queue.ts has a queue of tasks, and
// task-process.ts a process in place of a thread. The program calls `serveTasks`. Starter and program are of one build and share types, so nothing is
// parsed here. Refuses nothing. Invariant: a task settles once, with its result, the PublishableError that it threw, one
// of this file or its signal's reason. A host whose task failed or was aborted does no other task.

import type { EventEmitter } from 'node:events';
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads';
import {
  decodeError,
  encodeError,
  PublishableError,
  publishableCode,
  type SentError,
} from '#platform/wire/publishable-error.ts';
import { type Clock, hasWaited } from './clock.ts';

const taskErrorCodes = [
  'TaskFailed', // the thread ended unexpectedly, or could not be started
  'TaskOutOfMemory',
  'TaskTooCostly', // this and the following: of a `TaskQueue`
  'TaskTimeout',
  'TaskQueueFull',
  'TaskStopped',
] as const;
export type TaskErrorCode = (typeof taskErrorCodes)[number];

/** What happened to the host of the task; `undefined` for an error of the work itself. */
export function taskErrorCode(error: unknown): TaskErrorCode | undefined {
  if (!(error instanceof PublishableError)) return undefined;
  return taskErrorCodes.find((code) => code === error.code);
}

export interface TaskOptions<Report> {
  /** Of the thread's objects and strings. Default: the runtime's own limits. */
  readonly limits?: ResourceLimits;
  /** Ends the thread in the middle of whatever it does. */
  readonly signal?: AbortSignal | undefined;
  /** The thread's `report` resolves when this has: a slow reader holds back a thread that waits for it. */
  readonly onReport?: (report: Report) => void | Promise<void>;
}

/** Sends a report to the starter; resolves when the starter has taken it. */
export type SendReport<Report> = (report: Report) => Promise<void>;

type Answer<Output, Report> =
  | { readonly type: 'done'; readonly output: Output }
  | { readonly type: 'failed'; readonly error: SentError }
  | { readonly type: 'report'; readonly report: Report };

/** The starter's messages: one input for each task, and `taken` for each report. */
type Question<Input> = { readonly input: Input } | 'taken';

/** What does tasks, as its starter sees it: a thread, or a process. Emits `message`, `error` and `exit`. */
export interface TaskHost extends EventEmitter {
  /** Of its memory. Absent: the runtime's own. */
  readonly limitMb?: number | undefined;
  /** The CPU time that it has used so far, which load on the machine does not lengthen. A thread says it. */
  cpuMs?(): Promise<number>;
  postMessage(message: object | string): void;
  terminate(): Promise<unknown>;
}

/** The starter, as the program sees it. Its messages are what `TaskQueue` and {@link runTask} send. */
export interface TaskPort<Input> {
  postMessage(message: object): void;
  on(event: 'message', listener: (question: Question<Input>) => void): unknown;
}

/**
 * Does one task in a thread of its own, which is gone when the promise settles.
 *
 * @param program calls {@link serveTasks}
 * @param input the thread gets a structured clone of it
 * @throws {PublishableError} of the work, or of its host with a {@link TaskErrorCode}; the signal's reason; what `onReport` throws
 */
export async function runTask<Input, Output, Report = never>(
  program: URL,
  input: Input,
  options: TaskOptions<Report> = {},
): Promise<Output> {
  options.signal?.throwIfAborted();
  const thread = startThread(program, options.limits);
  try {
    return await askHost(thread, input, options);
  } finally {
    await thread.terminate();
  }
}

/**
 * The program's side: does each task that comes. An error that it throws reaches the starter with its code, its
 * message and kind, and those of its causes.
 * @param port of a process; a thread has its own
 */
export function serveTasks<Input, Output, Report = never>(
  work: (input: Input, report: SendReport<Report>) => Output | Promise<Output>,
  port: TaskPort<Input> | null = parentPort,
): void {
  const untaken: (() => void)[] = [];
  const send = (answer: Answer<Output, Report>): void => port?.postMessage(answer);
  const report = (sent: Report): Promise<void> => {
    send({ type: 'report', report: sent });
    return new Promise((resolve) => untaken.push(resolve));
  };
  const answer = async (input: Input): Promise<void> => {
    try {
      send({ type: 'done', output: await work(input, report) });
    } catch (error) {
      send({ type: 'failed', error: encodeError(error) });
    }
  };
  port?.on('message', (question: Question<Input>) => {
    if (question === 'taken') untaken.shift()?.();
    else void answer(question.input);
  });
}

/** Started before there was a task for them, by program. */
const ahead = new Map<string, { readonly thread: Worker; readonly taken: AbortController }>();
/** A thread that no task has taken for so long is not needed. */
const unusedMs = 10_000;

/**
 * Starts a thread for the next task of this program that sets no limits. Resolves when it is taken or has ended. Until
 * then the process stays, unless the signal says that no task will come.
 */
export async function startAhead(
  program: URL,
  clock: Pick<Clock, 'after'>,
  signal?: AbortSignal,
): Promise<void> {
  const thread = startThread(program);
  const taken = new AbortController();
  thread.unref();
  ahead.set(program.href, { thread, taken });
  thread.once('exit', () => taken.abort());
  const isUnused = await hasWaited(clock, unusedMs, AbortSignal.any([taken.signal, signal ?? taken.signal]));
  if (ahead.get(program.href)?.thread === thread) ahead.delete(program.href);
  if (isUnused) await thread.terminate();
}

/** @returns a thread that no task was sent to yet */
function takeAhead(program: URL): Worker | undefined {
  const found = ahead.get(program.href);
  ahead.delete(program.href);
  found?.taken.abort();
  found?.thread.ref();
  return found?.thread;
}

/** Of a queue, which runs no program that was started ahead. */
export const startTaskThread = (program: URL, limits: ResourceLimits): TaskHost =>
  startThread(program, limits);

function startThread(program: URL, resourceLimits: ResourceLimits = {}): Worker {
  try {
    const started = Object.keys(resourceLimits).length === 0 ? takeAhead(program) : undefined;
    if (started !== undefined) return started;
    const thread = new Worker(program, { resourceLimits });
    // Without a listener, an error between two tasks of a queue's thread would end the program.
    thread.on('error', () => {});
    return Object.assign(thread, {
      limitMb: resourceLimits.maxOldGenerationSizeMb,
      cpuMs: () => cpuMsOf(thread),
    });
  } catch (cause) {
    throw broken(cause);
  }
}

/** @returns 0 where the thread does not run yet, or no longer */
async function cpuMsOf(thread: Worker): Promise<number> {
  const { user, system } = await thread.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1000;
}

/** Sends one task to a host, and waits for its answer. @throws as {@link runTask} */
export async function askHost<Input, Output, Report>(
  host: TaskHost,
  input: Input,
  { signal, onReport }: Pick<TaskOptions<Report>, 'signal' | 'onReport'>,
): Promise<Output> {
  const { promise, resolve, reject } = Promise.withResolvers<Output>();
  const take = async (report: Report): Promise<void> => {
    await onReport?.(report);
    host.postMessage('taken' satisfies Question<Input>);
  };
  // Settles at once, because the host's end may be reported right after its last message.
  const onMessage = (answer: Answer<Output, Report> | undefined): void => {
    if (answer?.type === 'done') resolve(answer.output);
    else if (answer?.type === 'failed') reject(decodeError(answer.error));
    else if (answer?.type === 'report') take(answer.report).catch(reject);
    else reject(broken(undefined));
  };
  const onError = (cause: unknown): void => {
    const isOutOfMemory = publishableCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY';
    if (cause instanceof PublishableError) reject(cause);
    else reject(isOutOfMemory ? outOfMemory(host.limitMb, cause) : broken(cause));
  };
  const onExit = (): void => reject(broken(undefined));
  const onAbort = (): void => reject(signal?.reason);
  host.on('message', onMessage).on('error', onError).on('exit', onExit);
  signal?.addEventListener('abort', onAbort);
  try {
    signal?.throwIfAborted();
    post(host, { input });
    return await promise;
  } finally {
    host.off('message', onMessage).off('error', onError).off('exit', onExit);
    signal?.removeEventListener('abort', onAbort);
  }
}

function post<Input>(host: TaskHost, question: Question<Input>): void {
  try {
    host.postMessage(question);
  } catch (cause) {
    throw broken(cause);
  }
}

const broken = (cause: unknown): PublishableError<TaskErrorCode> =>
  new PublishableError('TaskFailed', 'the worker ended unexpectedly', { kind: 'retry', cause });

export const outOfMemory = (limitMb: number | undefined, cause?: unknown): PublishableError<TaskErrorCode> =>
  new PublishableError(
    'TaskOutOfMemory',
    `the task needed more than ${limitMb ?? 'the available'} MB of memory`,
    { cause },
  );
