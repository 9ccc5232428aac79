// Tasks in worker threads: how each ends, what crosses of reports and errors, and of a queue the order of its owners.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { afterEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { runTask, startAhead, startTaskThread, type TaskHost } from '#platform/runtime/task.ts';
import { TaskQueue, type TaskQueueOptions } from '#platform/runtime/task-queue.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const program = new URL('./task-program.ts', import.meta.url);
const limits = { maxOldGenerationSizeMb: 32 };
const usual: TaskQueueOptions = {
  start: () => startTaskThread(program, limits),
  timeoutMs: 60_000,
  maxWaitingPerOwner: 4,
  idleMs: 60_000,
  clock: systemClock,
};
const open: TaskQueue<unknown, unknown>[] = [];

function queue(options: Partial<TaskQueueOptions> = {}): TaskQueue<unknown, unknown> {
  const made = new TaskQueue<unknown, unknown>({ ...usual, ...options });
  open.push(made);
  return made;
}

const codeOf = async (task: Promise<unknown>): Promise<string> =>
  task.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => (error instanceof PublishableError ? error.code : String(error)),
  );

afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
});

const absent = new URL('./no-such-program.ts', import.meta.url);

/** The program of a thread that is not one of `serveTasks`. */
const foreign = (body: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads'; ${body}`)}`,
  );

test('one task has a thread of its own', async () => {
  assert.notEqual(await runTask<string, number>(program, 'thread'), await runTask(program, 'thread'));
});

test('a thread that was started ahead does the next task without limits, and no other', async () => {
  const ended = startAhead(program, systemClock);
  const limited = await runTask<string, number>(program, 'thread', { limits });
  const first = await runTask<string, number>(program, 'thread');
  const second = await runTask<string, number>(program, 'thread');
  await ended;
  assert.ok(first < limited && limited < second, `${first}, ${limited}, ${second}`);
});

test('a thread that was started ahead and never taken ends', async () => {
  const waits: number[] = [];
  const clock = {
    after: (ms: number) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
  const before = await runTask<string, number>(program, 'thread');
  await startAhead(program, clock);
  const after = await runTask<string, number>(program, 'thread');
  assert.deepEqual(waits, [10_000]);
  assert.equal(after, before + 2, 'the task has another thread');
});

test('where no task will come, the thread that was started ahead is waited for no longer', async () => {
  const needless = new AbortController();
  // A wait that only its signal ends.
  const after: Clock['after'] = (_ms, signal) =>
    once(signal ?? assert.fail(), 'abort').then(() => assert.fail());
  const ended = startAhead(program, { after }, needless.signal);
  needless.abort();
  await ended;
});

test('a thread that ended before it was taken is not taken', async () => {
  const gone = foreign('process.exit(1)');
  await startAhead(gone, systemClock);
  assert.equal(await codeOf(runTask(gone, 'anything')), 'TaskFailed');
});

test('reports arrive in order, and a thread that awaits them waits for a slow reader', async () => {
  const read: string[] = [];
  const onReport = async (at: number): Promise<void> => {
    read.push(`${at} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    read.push(`${at} ends`);
  };
  assert.equal(await runTask(program, 'report', { onReport }), 'reported');
  assert.deepEqual(
    read,
    [1, 2, 3].flatMap((at) => [`${at} begins`, `${at} ends`]),
  );
  const failing = runTask(program, 'report', { onReport: () => Promise.reject(new Error('reader broke')) });
  await assert.rejects(failing, { message: 'reader broke' });
});

test('an error crosses with its code, publishable message, kind and the codes of its causes', async () => {
  await assert.rejects(runTask(program, 'refuse'), (error: unknown) => {
    assert.ok(error instanceof PublishableError && error.cause instanceof Error);
    const { code, message, cause } = error;
    assert.deepEqual(
      [code, message, 'kind' in error && error.kind, cause.message],
      ['TooDeep', 'too deep', 'refused', 'unexpected ENOSPC'],
    );
    return true;
  });
});

test('an abort ends a thread that never pauses, with the reason of the signal', async () => {
  const stop = new AbortController();
  const ended = runTask(program, 'turn', { signal: stop.signal });
  stop.abort(new Error('stopping'));
  await assert.rejects(ended, { message: 'stopping' });
  await assert.rejects(runTask(program, 1, { signal: stop.signal }), { message: 'stopping' });
});

test('a thread that ends, breaks or sends anything else fails its task', async () => {
  for (const body of [
    '',
    'process.exit(0);',
    'throw new Error("broken");',
    'parentPort.postMessage("?");',
    'parentPort.postMessage(undefined);',
  ])
    assert.equal(await codeOf(runTask(foreign(body), 1)), 'TaskFailed', body);
  await assert.rejects(runTask(program, 'fill', { limits }), {
    code: 'TaskOutOfMemory',
    message: 'the task needed more than 32 MB of memory',
  });
});

test('a thread that ends right after its result does not fail the task', async () => {
  for (const end of ['', 'process.exit();']) {
    const done = runTask(foreign(`parentPort.postMessage({ type: 'done', output: 7 }); ${end}`), 1);
    await new Promise(setImmediate);
    // Holds this thread, so that the result and the end are both there when it looks again.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    assert.equal(await done, 7);
  }
});

test('tasks are answered in turn by one thread', async () => {
  const tasks = queue();
  const [first, , second] = await Promise.all([
    tasks.run('thread', 'a'),
    tasks.run({ of: 'a' }, 'a'),
    tasks.run('thread', 'a'),
  ]);
  assert.equal(first, second);
  assert.deepEqual(await tasks.run({ text: 'x' }, 'a'), { answered: { text: 'x' } });
});

test('owners take turns, however many tasks of one owner wait', async () => {
  const tasks = queue();
  const done: string[] = [];
  const run = (owner: string, name: string) => tasks.run(name, owner).then(() => done.push(name));
  await Promise.all([
    run('a', 'a1'),
    run('a', 'a2'),
    run('a', 'a3'),
    run('b', 'b1'),
    run('c', 'c1'),
    run('b', 'b2'),
  ]);
  assert.deepEqual(done, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('an owner with too many waiting tasks is refused, and another owner is not', async () => {
  const tasks = queue({ maxWaitingPerOwner: 2 });
  const codes = ['a', 'a', 'a', 'a', 'b'].map((owner, at) => codeOf(tasks.run(at, owner)));
  assert.deepEqual(await Promise.all(codes), [
    'answered {"answered":0}',
    'answered {"answered":1}',
    'answered {"answered":2}',
    'TaskQueueFull',
    'answered {"answered":4}',
  ]);
});

test('a task above its time limit ends with its thread, and another thread does the next task', async () => {
  // The test ends the time limit, so that a slow machine does not change the result.
  let ring = (): void => {};
  const clock = {
    after: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        ring = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const tasks = queue({ clock });
  const before = await tasks.run('thread', 'a');
  const slow = codeOf(tasks.run('turn', 'a'));
  const next = tasks.run('thread', 'a');
  ring();
  assert.equal(await slow, 'TaskTimeout');
  assert.notEqual(await next, before);
});

test('a limit of CPU time ends a task that works, and not one that waits longer', async () => {
  const tasks = queue({ maxCpuMs: 400 });
  await tasks.run('thread', 'a');
  const codes = [await codeOf(tasks.run('wait', 'a')), await codeOf(tasks.run('turn', 'a'))];
  assert.deepEqual(codes, ['answered "waited"', 'TaskTooCostly']);
});

test('a task above its memory limit ends only its thread', async () => {
  const tasks = queue();
  const codes = [codeOf(tasks.run('fill', 'a')), codeOf(tasks.run(1, 'a'))];
  assert.deepEqual(await Promise.all(codes), ['TaskOutOfMemory', 'answered {"answered":1}']);
});

test('a thread that throws or ends fails its task, without the text of the error', async () => {
  const tasks = queue();
  await assert.rejects(tasks.run('throw', 'a'), { name: 'RangeError', message: 'unexpected RangeError' });
  assert.equal(await codeOf(tasks.run('exit', 'a')), 'TaskFailed');
  assert.equal(await codeOf(tasks.run(2, 'a')), 'answered {"answered":2}');
});

test('a program that cannot be loaded, or an input that cannot be cloned, fails its task', async () => {
  const missing = queue({ start: () => startTaskThread(absent, limits) });
  assert.equal(await codeOf(missing.run(1, 'a')), 'TaskFailed');
  const tasks = queue();
  assert.equal(await codeOf(tasks.run(() => {}, 'a')), 'TaskFailed');
});

test('an aborted task leaves the queue, or ends the thread that does it, and the next task is done', async () => {
  const tasks = queue();
  const running = new AbortController();
  const waiting = new AbortController();
  const first = tasks.run('turn', 'a', running.signal);
  const second = tasks.run(2, 'a', waiting.signal);
  waiting.abort(new Error('left'));
  running.abort(new Error('left too'));
  await assert.rejects(second, { message: 'left' });
  await assert.rejects(first, { message: 'left too' });
  assert.equal(await codeOf(tasks.run(3, 'a')), 'answered {"answered":3}');
  await assert.rejects(tasks.run(4, 'a', AbortSignal.abort(new Error('before'))), { message: 'before' });
});

test('an idle thread ends, and the next task starts another thread', async () => {
  const rings: (() => void)[] = [];
  const clock = {
    after: (ms: number) => new Promise<void>((resolve) => (ms === 5 ? rings.push(resolve) : undefined)),
  };
  const tasks = queue({ clock, idleMs: 5 });
  const before = await tasks.run('thread', 'a');
  await new Promise((resolve) => setImmediate(resolve));
  for (const ring of rings) ring();
  await new Promise((resolve) => setImmediate(resolve));
  assert.notEqual(await tasks.run('thread', 'a'), before);
});

test('without an idle time each task has a host of its own', async () => {
  const tasks = queue({ idleMs: 0 });
  const threads = await Promise.all([
    tasks.run('thread', 'a'),
    tasks.run('thread', 'a'),
    tasks.run('thread', 'b'),
  ]);
  assert.equal(new Set(threads).size, 3);
});

test('a host starts when the one before it has ended, also after a failure', async () => {
  let running = 0;
  const atStart: number[] = [];
  const start = (): TaskHost => {
    atStart.push(running);
    running += 1;
    const host = Object.assign(new EventEmitter(), {
      postMessage: () => void setImmediate(() => host.emit('error', new Error('failed'))),
      terminate: async () => {
        await setTimeout(5);
        running -= 1;
      },
    });
    return host;
  };
  const tasks = queue({ idleMs: 0, start });
  await Promise.all(['a', 'a', 'b'].map((owner) => codeOf(tasks.run(1, owner))));
  assert.deepEqual(atStart, [0, 0, 0]);
});

test('a closed queue fails running, waiting and later tasks', async () => {
  const tasks = queue();
  const codes = [codeOf(tasks.run('turn', 'a')), codeOf(tasks.run(1, 'b'))];
  await tasks.close();
  codes.push(codeOf(tasks.run(2, 'a')));
  assert.deepEqual(await Promise.all(codes), ['TaskStopped', 'TaskStopped', 'TaskStopped']);
});
