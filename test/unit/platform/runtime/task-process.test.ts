// Tasks in a process: what crosses, and that memory, time, signals and the end of the starter end it, and it alone.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterEach, test } from 'node:test';
import { systemClock } from '#platform/runtime/clock.ts';
import { startTaskProcess } from '#platform/runtime/task-process.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { eventually } from '../../../support/eventually.ts';

interface Answer {
  readonly pid: number;
  readonly bytes: number;
  readonly isSignalled: boolean;
}

const program = new URL('./task-process-program.ts', import.meta.url);
const open: TaskQueue<unknown, Answer>[] = [];

function queue(limits: object = {}, file = program): TaskQueue<unknown, Answer> {
  const made = new TaskQueue<unknown, Answer>({
    start: () => startTaskProcess(file, { maxHeapMb: 64, maxMemoryMb: 160, ...limits }, systemClock),
    timeoutMs: 60_000,
    maxWaitingPerOwner: 4,
    idleMs: 60_000,
    clock: systemClock,
  });
  open.push(made);
  return made;
}

const codeOf = async (task: Promise<unknown>): Promise<string> =>
  task.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => (error instanceof PublishableError ? error.code : String(error)),
  );

/** A process that nobody waits for yet is a zombie: it has ended. */
const isGone = async (pid: number): Promise<true | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone');
  return stat === 'gone' || / Z /.test(stat) ? true : undefined;
};

afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
});

test('one process does all tasks of a queue, bytes cross whole, and it is gone when the queue is closed', async () => {
  const tasks = queue();
  const first = await tasks.run(new Uint8Array(3_000_000), 'a');
  const second = await tasks.run('who', 'b');
  assert.equal(first.bytes, 3_000_000);
  assert.equal(second.pid, first.pid);
  assert.notEqual(first.pid, process.pid);
  await tasks.close();
  assert.ok(await isGone(first.pid));
});

test('buffers above the limit, which no limit of a heap counts, end only the process', async () => {
  const tasks = queue();
  const before = process.memoryUsage.rss();
  await assert.rejects(tasks.run('hold', 'a'), {
    code: 'TaskOutOfMemory',
    message: 'the task needed more than 160 MB of memory',
  });
  assert.ok((await tasks.run('who', 'a')).pid > 0);
  assert.ok(process.memoryUsage.rss() - before < 100e6, 'the starter holds none of it');
});

test('a heap above its limit ends only the process', async () => {
  const tasks = queue({ maxHeapMb: 32, maxMemoryMb: 1000 });
  const codes = [codeOf(tasks.run('fill', 'a')), codeOf(tasks.run('exit', 'a'))];
  assert.deepEqual(await Promise.all(codes), ['TaskOutOfMemory', 'TaskFailed']);
  assert.ok((await tasks.run('who', 'a')).pid > 0);
});

test('a process that another program killed is no matter of memory', async () => {
  const tasks = queue();
  const { pid } = await tasks.run('who', 'a');
  const running = codeOf(tasks.run('turn', 'a'));
  process.kill(pid, 'SIGKILL');
  assert.equal(await running, 'TaskFailed');
});

test('an abort ends a process that never pauses, and the next task is done by another', async () => {
  const tasks = queue();
  const { pid } = await tasks.run('who', 'a');
  const stop = new AbortController();
  const running = tasks.run('turn', 'a', stop.signal);
  stop.abort(new Error('left'));
  await assert.rejects(running, { message: 'left' });
  assert.notEqual((await tasks.run('who', 'a')).pid, pid);
  await eventually('the process is gone', () => isGone(pid));
});

test('a signal to all processes of a terminal is for the starter to answer', async () => {
  const tasks = queue();
  const { pid, isSignalled } = await tasks.run('signal', 'a');
  assert.ok(isSignalled);
  assert.equal((await tasks.run('who', 'a')).pid, pid);
});

test('a process whose starter was killed ends', async () => {
  const starter = spawn(process.execPath, [new URL('./task-process-starter.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(starter.stdout, 'data');
  const pid = Number(String(line));
  assert.equal(await isGone(pid), undefined);
  starter.kill('SIGKILL');
  await eventually('the process is gone', () => isGone(pid));
});

test('a program that is not there, or an input that cannot be cloned, fails its task', async () => {
  assert.equal(await codeOf(queue({}, new URL('file:///none.mjs')).run(1, 'a')), 'TaskFailed');
  assert.equal(await codeOf(queue().run(() => {}, 'a')), 'TaskFailed');
});
