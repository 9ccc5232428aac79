// The thread's side of answers: that bundles are opened one after the other, what a call across a swap gets, and what is reported.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { formatIndex } from '#bundle/store/index-document.ts';
import { indexName, packName } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { serveAgents } from '#server/mcp/mcp-serving.ts';
import type { AgentCall, AgentContent, AgentQuestion, AgentReport } from '#server/mcp/mcp-task.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';

async function stored(t: TestContext, pages: number): Promise<AgentContent> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-serving-'));
  t.after(() => rm(folder, { recursive: true }));
  const { index } = memoryBundle(
    Object.fromEntries(Array.from({ length: pages }, (_, at) => [`page-${at}.html`, 'x'])),
  );
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, packName), 'x'.repeat(pages));
  await writeFile(join(folder, indexName), formatIndex({ index, packBytes: pages }));
  return { folder, digest: index.digest, cpuPercent: 20 };
}

interface Tested {
  readonly tell: (question: AgentQuestion) => void;
  readonly reports: AgentReport[];
  readonly until: (isDone: () => boolean) => Promise<void>;
}

/** @param searchable of each site */
function tested(searchable: (digest: string) => Promise<number> = async () => 1): Tested {
  const reports: AgentReport[] = [];
  let tell: (question: AgentQuestion) => void = () => {};
  let heard = Promise.withResolvers<void>();
  serveAgents(
    {
      postMessage: (report) => {
        reports.push(report);
        heard.resolve();
        heard = Promise.withResolvers();
      },
      on: (_event, listener) => {
        tell = listener;
      },
    },
    ({ index: { digest } }) => ({
      answer: async ({ version = 'none' }) => ({
        ...{ status: 200, contentType: undefined, body: `${digest} ${version}` },
      }),
      searchable: searchable(digest),
      close: async () => {},
    }),
    systemClock,
  );
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await heard.promise;
  };
  return { tell: (question) => tell(question), reports, until };
}

const call: AgentCall = {
  ...{
    headers: [],
    body: new Uint8Array(),
    host: 'localhost',
    hosts: [],
    serverName: 'localhost/documentation',
  },
  ...{ basePath: '', version: 'v1' },
};

async function answerOf({ tell, reports, until }: Tested, digest: string): Promise<string> {
  const find = () => reports.find((report) => report.kind === 'answer');
  tell({ kind: 'call', id: 1, digest, call });
  await until(() => find() !== undefined);
  return find()?.reply.body ?? '';
}

const hasOpened = (reports: readonly AgentReport[], digest: string): boolean =>
  reports.some((report) => report.kind === 'opened' && report.digest === digest);

test('of two bundles that are opened close together, the later one answers', async (t) => {
  const large = await stored(t, 3000);
  const small = await stored(t, 1);
  const thread = tested();
  thread.tell({ kind: 'open', content: large, search: 'pages' });
  thread.tell({ kind: 'open', content: small, search: 'pages' });
  await thread.until(() => thread.reports.some(({ kind }) => kind === 'searchable'));
  assert.ok(hasOpened(thread.reports, small.digest));
  assert.ok(!hasOpened(thread.reports, large.digest));
  assert.equal(await answerOf(thread, small.digest), `${small.digest} v1`);
});

test('the index of a search rests as the share of a core demands', async (t) => {
  let now = 0;
  const rests: number[] = [];
  const clock = {
    ...systemClock,
    monotonic: () => now,
    after: async (ms: number) => {
      rests.push(ms);
    },
  };
  const content = await stored(t, 1);
  const rested = Promise.withResolvers<void>();
  const index = async (rest: () => Promise<void>): Promise<number> => {
    now += 100;
    await rest();
    rested.resolve();
    return 1;
  };
  serveAgents(
    {
      postMessage: () => {},
      on: (_event, listener) => listener({ kind: 'open', content, search: 'pages' }),
    },
    (_bundle, { rest }) => ({
      answer: () => assert.fail('no call was sent'),
      searchable: index(rest),
      close: async () => {},
    }),
    clock,
  );
  await rested.promise;
  assert.deepEqual(rests, [400]);
});

test('a call for a bundle that is closed is answered from the current one, without a version', async (t) => {
  const former = await stored(t, 1);
  const next = await stored(t, 2);
  const thread = tested();
  for (const content of [former, next]) {
    thread.tell({ kind: 'open', content, search: 'pages' });
    await thread.until(() => hasOpened(thread.reports, content.digest));
  }
  assert.equal(await answerOf(thread, former.digest), `${next.digest} none`);
});

test('the search of a bundle that was closed meanwhile is not reported', async (t) => {
  const former = await stored(t, 1);
  const next = await stored(t, 2);
  const made = Promise.withResolvers<number>();
  const thread = tested((digest) => (digest === former.digest ? made.promise : made.promise.then(() => 2)));
  for (const content of [former, next]) {
    thread.tell({ kind: 'open', content, search: 'pages' });
    await thread.until(() => hasOpened(thread.reports, content.digest));
  }
  made.resolve(1);
  await thread.until(() => thread.reports.some(({ kind }) => kind === 'searchable'));
  const searched = thread.reports.flatMap((report) => (report.kind === 'searchable' ? [report.digest] : []));
  assert.deepEqual(searched, [next.digest]);
});
