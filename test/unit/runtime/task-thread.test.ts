// Tasks in a thread of their own: what each comes to, whose turn it is, and that a bad one costs nobody else anything.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { systemClock } from '../../../src/runtime/clock.ts';
import { TaskError, TaskThread, type TaskThreadOptions } from '../../../src/runtime/task-thread.ts';

const program = new URL('./task-program.ts', import.meta.url);
const usual: TaskThreadOptions = {
  program,
  timeoutMs: 60_000,
  maxHeapMb: 32,
  maxWaitingPerOwner: 4,
  idleMs: 60_000,
  clock: systemClock,
};
const open: TaskThread[] = [];

function thread(options: Partial<TaskThreadOptions> = {}): TaskThread {
  const made = new TaskThread({ ...usual, ...options });
  open.push(made);
  return made;
}

const codeOf = async (task: Promise<unknown>): Promise<string> =>
  task.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => (error instanceof TaskError ? error.code : String(error)),
  );

afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
});

test('tasks are answered in turn by one thread', async () => {
  const tasks = thread();
  const [first, , second] = await Promise.all([
    tasks.run('thread', 'a'),
    tasks.run({ of: 'a' }, 'a'),
    tasks.run('thread', 'a'),
  ]);
  assert.equal(first, second);
  assert.deepEqual(await tasks.run({ text: 'x' }, 'a'), { answered: { text: 'x' } });
});

test('owners take turns, whatever one of them has waiting', async () => {
  const tasks = thread();
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

test('an owner who has too many waiting is refused, and another is not', async () => {
  const tasks = thread({ maxWaitingPerOwner: 2 });
  const codes = ['a', 'a', 'a', 'a', 'b'].map((owner, at) => codeOf(tasks.run(at, owner)));
  assert.deepEqual(await Promise.all(codes), [
    'answered {"answered":0}',
    'answered {"answered":1}',
    'answered {"answered":2}',
    'TaskQueueFull',
    'answered {"answered":4}',
  ]);
});

test('a task beyond its time ends with its thread, and the next one is answered by another', async () => {
  // The clock rings when it is told to, so that a slow machine changes nothing.
  let ring = (): void => {};
  const clock = {
    after: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        ring = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const tasks = thread({ clock });
  const before = await tasks.run('thread', 'a');
  const slow = codeOf(tasks.run('turn', 'a'));
  const next = tasks.run('thread', 'a');
  ring();
  assert.equal(await slow, 'TaskTimeout');
  assert.notEqual(await next, before);
});

test('a task beyond its memory ends with its thread alone', async () => {
  const tasks = thread();
  const codes = [codeOf(tasks.run('fill', 'a')), codeOf(tasks.run(1, 'a'))];
  assert.deepEqual(await Promise.all(codes), ['TaskOutOfMemory', 'answered {"answered":1}']);
});

test('a program that throws, or ends, fails its task and says nothing of the text', async () => {
  const tasks = thread();
  await assert.rejects(tasks.run('throw', 'a'), {
    code: 'TaskFailed',
    message: 'the worker thread ended unexpectedly',
  });
  assert.equal(await codeOf(tasks.run('exit', 'a')), 'TaskFailed');
  assert.equal(await codeOf(tasks.run(2, 'a')), 'answered {"answered":2}');
});

test('a program that cannot be loaded, and an input that cannot be sent, fail their tasks', async () => {
  const missing = thread({ program: new URL('./no-such-program.ts', import.meta.url) });
  assert.equal(await codeOf(missing.run(1, 'a')), 'TaskFailed');
  const tasks = thread();
  assert.equal(await codeOf(tasks.run(() => {}, 'a')), 'TaskFailed');
});

test('an aborted task leaves the queue, and one that runs already gives its turn back when it ends', async () => {
  const tasks = thread();
  const running = new AbortController();
  const waiting = new AbortController();
  const first = tasks.run('thread', 'a', running.signal);
  const second = tasks.run(2, 'a', waiting.signal);
  assert.equal(tasks.waiting, 1);
  waiting.abort(new Error('left'));
  running.abort(new Error('left too'));
  await assert.rejects(second, { message: 'left' });
  await assert.rejects(first, { message: 'left too' });
  assert.equal(tasks.waiting, 0);
  assert.equal(await codeOf(tasks.run(3, 'a')), 'answered {"answered":3}');
  await assert.rejects(tasks.run(4, 'a', AbortSignal.abort(new Error('before'))), { message: 'before' });
});

test('an idle thread ends and the next task starts another', async () => {
  const rings: (() => void)[] = [];
  const clock = {
    after: (ms: number) => new Promise<void>((resolve) => (ms === 5 ? rings.push(resolve) : undefined)),
  };
  const tasks = thread({ clock, idleMs: 5 });
  const before = await tasks.run('thread', 'a');
  await new Promise((resolve) => setImmediate(resolve));
  for (const ring of rings) ring();
  await new Promise((resolve) => setImmediate(resolve));
  assert.notEqual(await tasks.run('thread', 'a'), before);
});

test('a closed thread fails what runs, what waits and what comes later', async () => {
  const tasks = thread();
  const codes = [codeOf(tasks.run('turn', 'a')), codeOf(tasks.run(1, 'b'))];
  await tasks.close();
  codes.push(codeOf(tasks.run(2, 'a')));
  assert.deepEqual(await Promise.all(codes), ['TaskStopped', 'TaskStopped', 'TaskStopped']);
});
