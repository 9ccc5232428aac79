// The pusher in its process: the result comes back whole, what ends the process is a failure with a code, and one namespace
// does not keep the process from another.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createGitPusher, type GitPusherProcess, gitSettings } from '#operator/services/git-pusher.ts';
import { createGitTargets } from '#operator/services/git-targets.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { eventually } from '../../../support/eventually.ts';
import { type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { workerFile } from '../../../support/program-file.ts';
import { author, editOf, login, noGit, outcomesOf, taskOf } from './git-tasks.ts';

const values = 'staticExport:\n  version: "1"\n';
const { signal } = new AbortController();

suite('a push in a process', { skip: noGit }, () => {
  let server: GitServer;
  let pusher: GitPusherProcess;
  before(async () => {
    server = await startGitServer({ login });
    pusher = createGitPusher(workerFile('git'), systemClock);
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
    assert.deepEqual(heads, result.heads);
  });

  test('a server that hangs is Timeout, for its heads too, and a stopped task ends at once', async () => {
    const repository = await server.createRepository('hang', { 'v.yaml': values });
    server.onRequest = () => 'hang';
    const limits = { maxBytes: 1e6, deadlineMs: 500 };
    const task = taskOf(repository.url, [editOf('v.yaml', '2')], { limits });
    await assert.rejects(pusher.push(task, 'docs', signal), { code: 'Timeout' });
    await assert.rejects(pusher.readHeads(task, 'docs', signal), { code: 'Timeout' });
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
    const limits = { maxBytes: 1e6, deadlineMs: 500 };
    const ended: string[] = [];
    const hanging = [1, 2, 3].map(async () => {
      const task = taskOf(slow.url, [editOf('v.yaml', '2')], { limits });
      await assert.rejects(pusher.push(task, 'slow', signal), { code: 'Timeout' });
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

  test('a hundred repositories of one namespace each get an answer of their own', async () => {
    const failures: string[] = [];
    const stop = new AbortController();
    const targets = createGitTargets({
      // The window of ten seconds lasts a tenth of one.
      clock: { ...systemClock, after: (ms, ended) => systemClock.after(ms / 100, ended) },
      random: systemRandom,
      pusher,
      settings: () => Promise.resolve(gitSettings(false, undefined)),
      allowedHosts: ['127.0.0.1'],
      readSecret: async (key) => ({
        metadata: {
          ...key,
          uid: 'u',
          resourceVersion: '1',
          annotations: {},
          labels: {},
          ownerReferences: [],
        },
        data: { token: Buffer.from('token') },
      }),
      wake: ({ name }) => {
        const finding = find(Number(name));
        failures[Number(name)] = finding.kind === 'failed' ? finding.code : finding.kind;
      },
      observe: () => {},
      signal: stop.signal,
    });
    const find = (at: number) => {
      const target: WantedGitTarget = {
        ...{
          type: 'Git',
          targetName: 'fleet',
          isDryRun: false,
          writesVersion: true,
          writesDigest: false,
          writesRef: false,
        },
        ...{ object: `Git/${at}`, url: `https://127.0.0.1/${at}.git`, branch: 'main', path: 'v.yaml' },
        ...{
          pullRequestBranch: undefined,
          keyPath: ['staticExport'],
          secretName: 'git',
          author,
          message: 'm',
        },
      };
      const wish = { target, wanted: { version: '2', digest: undefined }, isWritten: false };
      return targets.find({ namespace: 'docs', name: `${at}` }, 'fleet', wish, false);
    };
    const all = Array.from({ length: 100 }, (_none, at) => at);
    try {
      for (const at of all) assert.equal(find(at).kind, 'pending');
      // A hundred processes in turn, each of which starts Node.
      await eventually(
        'an answer for each',
        async () => (all.every((at) => failures[at] !== undefined) ? true : undefined),
        { timeoutMs: 240_000 },
      );
      assert.deepEqual([...new Set(failures)], ['AddressNotAllowed']);
    } finally {
      stop.abort();
    }
  });

  test('a program that is not there is Unexpected', async () => {
    const absent = createGitPusher(new URL('file:///none.mjs'), systemClock);
    const pushed = absent.push(taskOf('http://127.0.0.1:9/x.git', []), 'docs', signal);
    await assert.rejects(pushed, { code: 'Unexpected' });
    await absent.close();
  });
});
