// Short tasks one after the other, in one thread or process. Owns their turns, their time limit, and when the host ends.
// Refuses more waiting tasks of one owner than allowed. Invariant: owners take turns, a host whose task failed does no
// other task, and a host starts when the one before it has ended.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Clock } from './clock.ts';
import { FairQueue } from './fair-queue.ts';
import { askHost, type TaskErrorCode, type TaskHost } from './task.ts';

export interface TaskQueueOptions {
  /** @returns a host whose program calls {@link serveTasks}: {@link startTaskThread}, or `startTaskProcess` */
  readonly start: () => TaskHost;
  /** From the moment a task is sent until its answer; starting the host included. */
  readonly timeoutMs: number;
  /** CPU time of one task, for a verdict on its input that a loaded machine must not change. Default: no limit. */
  readonly maxCpuMs?: number;
  /** Tasks of one owner that may wait; more are refused, because their inputs take memory. */
  readonly maxWaitingPerOwner: number;
  /** A host without a task for so long ends and gives its memory back. 0: each task has a host of its own. */
  readonly idleMs: number;
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * One thread or process that does short tasks one after the other. It starts with the first task and ends when it was
 * idle. Owners take turns: the backlog of one delays another by one task at most.
 */
export class TaskQueue<Input, Output> {
  readonly #options: TaskQueueOptions;
  readonly #waiting = new FairQueue<true>();
  readonly #closing = new AbortController();
  #idle = new AbortController();
  #host: TaskHost | undefined;
  /** The end of the last host. */
  #ending: Promise<unknown> | undefined;
  #isBusy = false;

  constructor(options: TaskQueueOptions) {
    this.#options = options;
  }

  /** @throws as {@link runTask}; an abort takes the task out of the queue, or ends the host that does it */
  async run(input: Input, owner: string, signal?: AbortSignal): Promise<Output> {
    const { clock, timeoutMs } = this.#options;
    const ended = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    ended.throwIfAborted();
    if (this.#isBusy) await this.#takeTurn(owner, ended);
    this.#isBusy = true;
    this.#idle.abort();
    const late = new AbortController();
    const settled = new AbortController();
    clock.after(timeoutMs, settled.signal).then(
      () => late.abort(taskError('TaskTimeout', `the task took longer than ${timeoutMs / 1000} s`)),
      () => {},
    );
    try {
      this.#host ??= this.#start();
      this.#endAtCost(this.#host, late, settled.signal).catch(() => {});
      return await askHost(this.#host, input, { signal: AbortSignal.any([ended, late.signal]) });
    } catch (error) {
      void this.#end();
      throw error;
    } finally {
      settled.abort();
      if (this.#options.idleMs === 0) await this.#end();
      // The memory of two hosts would count twice.
      await this.#ending;
      this.#passTurn();
    }
  }

  /** Ends the host; what runs or waits fails with `TaskStopped`, and so does what comes later. */
  async close(): Promise<void> {
    this.#closing.abort(taskError('TaskStopped', 'the program is stopping'));
    await this.#end();
  }

  async #endAtCost(host: TaskHost, late: AbortController, settled: AbortSignal): Promise<void> {
    const { maxCpuMs, clock } = this.#options;
    if (maxCpuMs === undefined || host.cpuMs === undefined) return;
    const before = await host.cpuMs();
    for (let usedMs = 0; usedMs < maxCpuMs; usedMs = (await host.cpuMs()) - before) {
      await clock.after(Math.max(1, maxCpuMs - usedMs), settled);
    }
    late.abort(taskError('TaskTooCostly', `the task needed more than ${maxCpuMs / 1000} s of CPU time`));
  }

  async #takeTurn(owner: string, signal: AbortSignal): Promise<void> {
    const { maxWaitingPerOwner } = this.#options;
    if (this.#waiting.sizeOf(owner) >= maxWaitingPerOwner) throw queueFull(maxWaitingPerOwner);
    await this.#waiting.wait(owner, signal);
  }

  #passTurn(): void {
    if (this.#waiting.grantNext(() => true)) return;
    this.#isBusy = false;
    if (this.#host === undefined) return;
    this.#idle = new AbortController();
    this.#options.clock.after(this.#options.idleMs, this.#idle.signal).then(
      () => this.#end(),
      () => {},
    );
  }

  #start(): TaskHost {
    const host = this.#options.start();
    return host.on('exit', () => {
      if (host === this.#host) this.#host = undefined;
    });
  }

  async #end(): Promise<void> {
    this.#idle.abort();
    const host = this.#host;
    this.#host = undefined;
    if (host !== undefined) this.#ending = host.terminate();
    await this.#ending;
  }
}

const queueFull = (maxWaiting: number): PublishableError<TaskErrorCode> =>
  taskError('TaskQueueFull', `${maxWaiting} tasks of the same owner wait already`);

const taskError = (code: TaskErrorCode, message: string): PublishableError<TaskErrorCode> =>
  new PublishableError(code, message, { kind: 'retry' });
