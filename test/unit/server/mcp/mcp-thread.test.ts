// The thread that answers agents, as the port sees it: what is waited for, what a hanging or ended thread costs, and that it is started
// again, without a search where it ended while it made one.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { silentLogger } from '#platform/runtime/logger.ts';
import type { TaskHost } from '#platform/runtime/task.ts';
import { encodeError, PublishableError } from '#platform/wire/publishable-error.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import type { AgentCall, AgentQuestion, AgentReply, AgentReport } from '#server/mcp/mcp-task.ts';
import {
  createMcpThread,
  longestCallMs,
  type McpThread,
  type McpThreadOptions,
  mostCalls,
} from '#server/mcp/mcp-thread.ts';
import { storedBundle } from '../fixtures.ts';
import { type ManualClock, manualClock, settle } from '../manual-clock.ts';

class FakeThread extends EventEmitter implements TaskHost {
  readonly questions: AgentQuestion[] = [];
  isEnded = false;
  postMessage(question: AgentQuestion | object | string): void {
    if (typeof question === 'object' && 'kind' in question) this.questions.push(question);
  }
  async terminate(): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    this.emit('exit');
  }
  say(report: AgentReport): void {
    this.emit('message', report);
  }
  /** The ids of the calls that came. */
  calls(): readonly number[] {
    return this.questions.flatMap((question) => (question.kind === 'call' ? [question.id] : []));
  }
}

interface Tested {
  readonly clock: ManualClock;
  readonly threads: FakeThread[];
  readonly thread: McpThread;
  readonly ask: (signal?: AbortSignal) => Promise<AgentReply>;
}

function tested(logger: McpThreadOptions['logger'] = silentLogger): Tested {
  const clock = manualClock(0);
  const threads: FakeThread[] = [];
  const start = (): TaskHost => {
    const thread = new FakeThread();
    threads.push(thread);
    return thread;
  };
  const thread = createMcpThread({ start, store: '/store', cpuPercent: 50, clock, logger });
  const callOf = (digest: string): AgentCall => ({
    ...{
      headers: [],
      body: new Uint8Array(),
      host: 'localhost',
      hosts: [],
      serverName: 'localhost/documentation',
    },
    ...{ basePath: '', version: digest.slice(0, 4) },
  });
  return {
    clock,
    threads,
    thread,
    ask: (signal = new AbortController().signal) => thread.call(callOf, signal),
  };
}

const bundleOf = (text: string, committed?: Promise<unknown>): LiveBundle =>
  goLive(storedBundle({ 'index.html': text }), undefined, committed);

const reply: AgentReply = { status: 200, contentType: 'application/json', body: '{}' };

/** With a bundle that is open. */
async function opened(
  logger?: McpThreadOptions['logger'],
): Promise<Tested & { readonly digest: string; readonly first: FakeThread }> {
  const all = tested(logger);
  const bundle = bundleOf('one');
  all.thread.useBundle(bundle);
  await settle();
  const [first = assert.fail('no thread')] = all.threads;
  first.say({ kind: 'opened', digest: bundle.digest });
  return { ...all, digest: bundle.digest, first };
}

test('a bundle is opened once it is stored, and a call that came before is answered then', async () => {
  const { threads, thread, ask } = tested();
  const stored = Promise.withResolvers<void>();
  const bundle = bundleOf('one', stored.promise);
  thread.useBundle(bundle);
  const asked = ask();
  await settle();
  assert.equal(threads.length, 0);
  stored.resolve();
  await settle();
  const [first = assert.fail('no thread')] = threads;
  assert.deepEqual(first.questions, [
    {
      kind: 'open',
      content: { folder: `/store/bundles/${bundle.digest}`, digest: bundle.digest, cpuPercent: 50 },
      search: 'pages',
    },
  ]);
  first.say({ kind: 'opened', digest: bundle.digest });
  await settle();
  const [id = assert.fail('no call')] = first.calls();
  first.say({ kind: 'answer', id, reply });
  assert.equal(await asked, reply);
});

test('the state follows the bundle that answers: listed at first, then searched, or never', async () => {
  const { thread, first, digest } = await opened();
  assert.deepEqual(tested().thread.state(), { state: 'opening', searchedPages: 0 });
  assert.deepEqual(thread.state(), { state: 'making', searchedPages: 0 });
  first.say({ kind: 'searchable', digest: 'of another bundle', pages: 7 });
  assert.equal(thread.state().state, 'making');
  first.say({ kind: 'searchable', digest, pages: 7 });
  assert.deepEqual(thread.state(), { state: 'ready', searchedPages: 7 });
  first.say({ kind: 'failed', digest, error: encodeError(new PublishableError('SearchTooLarge', 'x')) });
  assert.equal(thread.state().state, 'unsearchable');
  await first.terminate();
  assert.equal(thread.state().state, 'opening');
});

test('a call without a bundle is refused after five seconds', async () => {
  const { clock, ask } = tested();
  const asked = assert.rejects(ask(), { code: 'McpNotReady' });
  await clock.pass(5_000);
  await asked;
});

test('a swap is answered from the former bundle until the thread has opened the next', async () => {
  const { thread, first, ask, digest } = await opened();
  const next = bundleOf('two');
  thread.useBundle(next);
  void ask();
  await settle();
  first.say({ kind: 'opened', digest: next.digest });
  void ask();
  await settle();
  const asked = first.questions.flatMap((question) => (question.kind === 'call' ? [question.digest] : []));
  assert.deepEqual(asked, [digest, next.digest]);
});

test('more calls at once than allowed are refused, and one that ends makes room', async () => {
  const { first, ask } = await opened();
  const calls = Array.from({ length: mostCalls }, () => ask());
  await settle();
  await assert.rejects(ask(), { code: 'McpBusy' });
  const [id = assert.fail()] = first.calls();
  first.say({ kind: 'answer', id, reply });
  await calls[0];
  void ask();
  await settle();
  assert.equal(first.calls().length, mostCalls + 1);
});

test('a call that takes too long ends the thread, and the next thread opens the bundle again', async () => {
  const { clock, threads, first, ask } = await opened();
  const hanging = assert.rejects(ask(), { code: 'McpTooLate' });
  const other = assert.rejects(ask(), { code: /McpTooLate|McpNotReady/ });
  await settle();
  await clock.pass(longestCallMs);
  await hanging;
  await other;
  assert.ok(first.isEnded);
  await clock.pass(1000);
  assert.equal(threads[1]?.questions[0]?.kind, 'open');
});

test('a caller who leaves is reported to the thread', async () => {
  const { first, ask } = await opened();
  const leaving = new AbortController();
  void ask(leaving.signal);
  await settle();
  leaving.abort();
  assert.deepEqual(first.questions.at(-1), { kind: 'leave', id: first.calls()[0] });
});

test('a thread that ends is started again, later after each failure', async () => {
  const { clock, threads, first } = await opened();
  await first.terminate();
  const starts: number[] = [];
  for (let second = 0; second < 20; second += 1) {
    const before = threads.length;
    await clock.pass(1000);
    if (threads.length > before) {
      starts.push(second + 1);
      await threads.at(-1)?.terminate();
    }
  }
  assert.deepEqual(starts, [1, 3, 7, 15]);
});

test('a bundle at whose search the thread ended is opened without a search', async () => {
  const { clock, threads, first, digest } = await opened();
  await first.terminate();
  await clock.pass(1000);
  const [question] = threads[1]?.questions ?? [];
  assert.ok(question?.kind === 'open' && question.content.digest === digest);
  assert.equal(question.search, 'none');
});

test('a call that ended the thread leaves the bundle its search', async () => {
  const { clock, threads, ask } = await opened();
  const hanging = assert.rejects(ask(), { code: 'McpTooLate' });
  await settle();
  await clock.pass(longestCallMs);
  await hanging;
  await clock.pass(1000);
  const [question] = threads[1]?.questions ?? [];
  assert.ok(question?.kind === 'open' && question.search === 'pages');
});

test('where the server makes a search for readers, agents wait for its files, also in the next thread', async () => {
  const { clock, threads, thread } = tested();
  const made = Promise.withResolvers<boolean>();
  const bundle = bundleOf('one');
  const { digest } = bundle;
  thread.useBundle(bundle, made.promise);
  await settle();
  const [first = assert.fail('no thread')] = threads;
  const searches = ({ questions }: FakeThread) =>
    questions.map((question) => (question.kind === 'open' ? question.search : question));
  assert.deepEqual(searches(first), ['made-files']);
  // The thread made nothing yet, so that its end says nothing about the search.
  await first.terminate();
  await clock.pass(1000);
  const [, second = assert.fail('no thread')] = threads;
  made.resolve(true);
  await settle();
  assert.deepEqual(searches(first), ['made-files']);
  assert.deepEqual(searches(second), ['made-files', { kind: 'made', digest, isMade: true }]);
  await second.terminate();
  await clock.pass(3000);
  assert.deepEqual(threads[2] && searches(threads[2]), ['none']);
});

test('files of a search that are given up for another base path are not reported', async () => {
  const { threads, thread } = tested();
  const bundle = bundleOf('one');
  const [before, after] = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
  for (const { promise } of [before, after]) {
    thread.useBundle(bundle, promise);
    await settle();
  }
  before.resolve(false);
  await settle();
  after.resolve(true);
  await settle();
  const reported = threads[0]?.questions.filter(({ kind }) => kind === 'made');
  assert.deepEqual(reported, [{ kind: 'made', digest: bundle.digest, isMade: true }]);
});

test('a search that is too large is not put down to the volume', async () => {
  const said: string[] = [];
  const { first, digest } = await opened({
    info: () => {},
    warn: (_fields: object, sentence: string) => void said.push(sentence),
  });
  for (const code of ['SearchTooLarge', 'BundleGone']) {
    first.say({ kind: 'failed', digest, error: encodeError(new PublishableError(code, 'no')) });
  }
  assert.match(said[0] ?? '', /^the search of the site is too large/);
  assert.match(said[1] ?? '', /volume/);
});

test('a thread that ends after the search was made makes it again', async () => {
  const { clock, threads, first, digest } = await opened();
  first.say({ kind: 'searchable', digest, pages: 1 });
  await first.terminate();
  await clock.pass(1000);
  const [question] = threads[1]?.questions ?? [];
  assert.ok(question?.kind === 'open' && question.search === 'pages');
});

test('after a stop no thread is started again', async () => {
  const { clock, threads, thread, first } = await opened();
  await thread.stop();
  assert.ok(first.isEnded);
  await clock.pass(3_600_000);
  assert.equal(threads.length, 1);
});
