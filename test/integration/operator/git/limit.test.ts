// The limit of a repository's size, against a real git server: it is that of one commit, whatever other clients push
// meanwhile and however long the history is.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { GitEdit, GitPushTask } from '#operator/git/push-task.ts';
import { mustRun } from '../../../support/command.ts';
import type { GitRepository } from '../../../support/gitops/git-repository.ts';
import { type GitReply, type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { noise } from '../../../support/noise.ts';
import { editOf, login, mustFail, noGit, outcomesOf, push, taskOf } from './git-tasks.ts';

const branch = 'static-export/docs';
const values = 'staticExport:\n  version: "1"\n';
/** Packed bytes of the repository's files, which do not compress further than to half of their hexadecimal text. */
const packedBytes = 280_000;
const maxBytes = packedBytes / 0.7;

suite('the limit of a repository', { skip: noGit }, () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ login });
  });
  after(() => server.close());

  let texts = 0;
  const noiseText = (bytes: number): string => {
    texts += 1;
    return noise(bytes, `text ${texts}`).toString('hex');
  };
  /** As many commits on `main`, each with other bytes in the file. One program makes them all. */
  const grow = async (repository: GitRepository, commits: number, path: string, bytes: number) => {
    const input = Array.from({ length: commits }, (_none, at) => {
      const from = at === 0 ? 'from refs/heads/main^0\n' : '';
      const text = noiseText(bytes);
      return `commit refs/heads/main\ncommitter Other <other@example.com> now\ndata 4\nmore\n${from}M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
    }).join('');
    await mustRun(['git', '-C', repository.folder, 'fast-import', '--quiet', '--date-format=now'], { input });
  };
  /** @param commits after the first one; each changes 4 KB of another file */
  const createLarge = async (name: string, commits: number): Promise<GitRepository> => {
    const parts = Object.fromEntries(
      Array.from({ length: 10 }, (_none, at) => [`parts/${at}.txt`, noiseText(packedBytes / 10)]),
    );
    const repository = await server.createRepository(name, { 'v.yaml': values, ...parts });
    await grow(repository, commits, 'log.txt', 4_000);
    return repository;
  };
  const taskFor = (
    repository: GitRepository,
    edits: readonly GitEdit[],
    overrides: Partial<GitPushTask> = {},
  ): GitPushTask =>
    taskOf(repository.url, edits, { limits: { maxBytes, deadlineMs: 120_000 }, ...overrides });
  /** Runs once, when the client has fetched and is about to push. */
  const beforePush = (work: () => Promise<unknown>): void => {
    let isDone = false;
    server.onRequest = async ({ kind }): Promise<GitReply> => {
      if (kind === 'refs-to-push' && !isDone) {
        isDone = true;
        await work();
      }
      return 'serve';
    };
  };
  const parentOf = async (repository: GitRepository, of: string): Promise<string | undefined> =>
    (await repository.log(of, '%P'))[0];

  test('another client that pushes first costs no second download', async () => {
    const repository = await createLarge('race', 3);
    beforePush(() => repository.commit({ 'other.yaml': 'a: 1\n' }));
    const result = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    server.onRequest = () => 'serve';
    assert.deepEqual(outcomesOf(result), ['written']);
    assert.equal(await repository.read('other.yaml'), 'a: 1\n');
    assert.match((await repository.read('v.yaml')) ?? '', /"2"/);
  });

  test('another client that replaces the branch between fetch and push is no failure', async () => {
    const repository = await createLarge('replaced', 0);
    const other = await createLarge('replacement', 70);
    beforePush(() => repository.git('fetch', '--force', other.folder, '+main:main'));
    const result = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    server.onRequest = () => 'serve';
    assert.deepEqual(outcomesOf(result), ['written']);
    assert.equal(await parentOf(repository, 'main'), (await other.log('main', '%H'))[0]);
    assert.equal((await repository.git('fsck', '--strict')).code, 0);
  });

  for (const commits of [0, 70]) {
    test(`a pull-request branch gets a second version after ${commits + 1} commits`, async () => {
      const repository = await createLarge(`review-${commits}`, commits);
      const sent: number[] = [];
      server.onRequest = ({ kind, headers }) => {
        if (kind === 'push') sent.push(Number(headers['content-length']));
        return 'serve';
      };
      for (const version of ['2', '3']) {
        const task = taskFor(repository, [editOf('v.yaml', version)], { pullRequestBranch: branch });
        assert.deepEqual(outcomesOf(await push(task)), ['written']);
      }
      server.onRequest = () => 'serve';
      assert.equal((await repository.log(branch)).length, commits + 3);
      assert.match((await repository.read('v.yaml', branch)) ?? '', /"3"/);
      assert.ok(Math.max(...sent) < 2_000, `pushes of ${sent.join(' and ')} bytes`);
      assert.equal((await repository.git('fsck', '--strict')).code, 0);
    });
  }

  test('a race for a pull-request branch and its base costs no second download', async () => {
    const repository = await createLarge('review-race', 20);
    const taskOfVersion = (version: string): GitPushTask =>
      taskFor(repository, [editOf('v.yaml', version)], { pullRequestBranch: branch });
    await push(taskOfVersion('2'));
    beforePush(async () => {
      await repository.commit({ 'other.yaml': 'a: 1\n' });
      await repository.commit({ 'note.yaml': 'b: 1\n' }, { branch });
    });
    assert.deepEqual(outcomesOf(await push(taskOfVersion('3'))), ['written']);
    server.onRequest = () => 'serve';
    assert.equal(await repository.read('note.yaml', branch), 'b: 1\n');
    // One that loses to the pull-request branch alone, so that the base has nothing new.
    beforePush(() => repository.commit({ 'note.yaml': 'b: 2\n' }, { branch }));
    assert.deepEqual(outcomesOf(await push(taskOfVersion('4'))), ['written']);
    server.onRequest = () => 'serve';
    assert.equal(await repository.read('note.yaml', branch), 'b: 2\n');
  });

  test('a history larger than the limit is left out, and the pull-request branch still grows', async () => {
    const repository = await createLarge('history', 0);
    await grow(repository, 5, 'parts/0.txt', packedBytes / 10);
    for (const version of ['2', '3', '4']) {
      const task = taskFor(repository, [editOf('v.yaml', version)], { pullRequestBranch: branch });
      assert.deepEqual(outcomesOf(await push(task)), ['written']);
    }
    assert.equal((await repository.log(branch)).length, 9);
  });

  test('a pull-request branch whose start is no longer fetched gets a commit on top', async () => {
    const repository = await createLarge('far', 0);
    const taskOfVersion = (version: string): GitPushTask =>
      taskFor(repository, [editOf('v.yaml', version)], { pullRequestBranch: branch });
    const { head } = await push(taskOfVersion('2'));
    await grow(repository, 60, 'log.txt', 1_000);
    const result = await push(taskOfVersion('3'));
    assert.deepEqual(outcomesOf(result), ['written']);
    assert.equal(await parentOf(repository, branch), head);
    const again = await push(taskOfVersion('3'));
    assert.deepEqual([outcomesOf(again), again.head], [['awaiting-merge'], result.head]);
  });

  test('a repository that is larger is refused, in rounded numbers', async () => {
    const repository = await createLarge('larger', 0);
    const limits = { maxBytes: packedBytes / 1.3, deadlineMs: 120_000 };
    const refused = await mustFail(taskFor(repository, [editOf('v.yaml', '2')], { limits }));
    assert.equal(refused.code, 'RepositoryTooLarge');
    assert.match(refused.message, /^The repository is larger than 0\.\d{3} MiB\. Use a smaller repository/);
  });
});
