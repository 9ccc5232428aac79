// The pusher in its thread: the result comes back whole, what ends the thread is a failure with a code, and one namespace
// does not keep the thread from another.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createGitPusher, type GitPusherThread } from '../../../src/services/git-pusher.ts';
import { type GitServer, startGitServer } from '../../support/gitops/git-server.ts';
import { editOf, login, noGit, outcomesOf, taskOf } from './git-tasks.ts';

const program = new URL('../../../src/bin/git-worker.ts', import.meta.url);
const values = 'staticExport:\n  version: "1"\n';
const { signal } = new AbortController();

suite('a push in a thread', { skip: noGit }, () => {
  let server: GitServer;
  let pusher: GitPusherThread;
  before(async () => {
    server = await startGitServer({ login });
    pusher = createGitPusher(program, systemClock);
  });
  after(async () => {
    await pusher.close();
    await server.close();
  });

  test('pushes, and reads the heads that it left', async () => {
    const repository = await server.createRepository('thread', { 'v.yaml': values });
    const task = taskOf(repository.url, [editOf('v.yaml', '2')]);
    const result = await pusher.push(task, 'docs', signal);
    assert.deepEqual(outcomesOf(result), ['written']);
    const heads = await pusher.readHeads(task, 'docs', signal);
    assert.deepEqual(heads, { outcome: 'heads', heads: result.outcome === 'done' && result.heads });
  });

  test('a server that hangs is Timeout, for its heads too, and a stopped task ends at once', async () => {
    const repository = await server.createRepository('hang', { 'v.yaml': values });
    server.onRequest = () => 'hang';
    const limits = { maxBytes: 1e6, deadlineMs: 1500 };
    const task = taskOf(repository.url, [editOf('v.yaml', '2')], { limits });
    const late = await pusher.push(task, 'docs', signal);
    assert.equal(late.outcome === 'failed' && late.code, 'Timeout');
    const lateHeads = await pusher.readHeads(task, 'docs', signal);
    assert.equal(lateHeads.outcome === 'failed' && lateHeads.code, 'Timeout');
    const stop = new AbortController();
    const stopped = pusher.push(taskOf(repository.url, [editOf('v.yaml', '2')]), 'docs', stop.signal);
    stop.abort(new Error('stopping'));
    await assert.rejects(stopped, /stopping/);
    server.onRequest = () => 'serve';
  });

  test('namespaces take turns behind a server that hangs', async () => {
    const [slow, quick] = await Promise.all([
      server.createRepository('slow', { 'v.yaml': values }),
      server.createRepository('quick', { 'v.yaml': values }),
    ]);
    server.onRequest = ({ repository }) => (repository === 'slow' ? 'hang' : 'serve');
    const limits = { maxBytes: 1e6, deadlineMs: 1000 };
    const ended: string[] = [];
    const hanging = [1, 2, 3].map(async () => {
      await pusher.push(taskOf(slow.url, [editOf('v.yaml', '2')], { limits }), 'slow', signal);
      ended.push('slow');
    });
    const result = await pusher.push(taskOf(quick.url, [editOf('v.yaml', '2')]), 'quick', signal);
    ended.push('quick');
    assert.deepEqual(outcomesOf(result), ['written']);
    await Promise.all(hanging);
    server.onRequest = () => 'serve';
    // The one that runs cannot be overtaken, and one more may have had its turn.
    assert.ok(ended.indexOf('quick') <= 2, ended.join(' '));
  });

  test('a program that is not there is Unexpected', async () => {
    const absent = createGitPusher(new URL('file:///none.mjs'), systemClock);
    const result = await absent.push(taskOf('http://127.0.0.1:9/x.git', []), 'docs', signal);
    assert.equal(result.outcome === 'failed' && result.code, 'Unexpected');
    await absent.close();
  });
});
