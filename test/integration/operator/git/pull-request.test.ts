// A push to a pull-request branch, against a real git server: made from the branch, kept while it waits for its merge,
// rebuilt only where nothing of others is lost.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { GitEdit, GitPushTask } from '#operator/git/push-task.ts';
import type { GitRepository } from '../../../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { author, editOf, login, mustFail, noGit, outcomesOf, push, taskOf } from './git-tasks.ts';

const branch = 'static-export/docs';
const values = 'staticExport:\n  version: "1"\n';

suite('a push to a pull-request branch', { skip: noGit }, () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ login });
  });
  after(() => server.close());

  const taskFor = (
    repository: GitRepository,
    edits: readonly GitEdit[],
    overrides: Partial<GitPushTask> = {},
  ): GitPushTask => taskOf(repository.url, edits, { pullRequestBranch: branch, ...overrides });
  const headOf = async (repository: GitRepository, of = branch): Promise<string> =>
    (await repository.log(of, '%H'))[0] ?? '';
  const files = { 'v.yaml': values, 'w.yaml': values, 'other.yaml': 'a: 1\n' };

  test('the branch is made from the base, waits for its merge, and grows on top', async () => {
    const repository = await server.createRepository('grow', files);
    const base = await headOf(repository, 'main');
    const first = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    assert.deepEqual([outcomesOf(first), first.head], [['written'], await headOf(repository)]);
    assert.deepEqual(first.heads, { branch: base, pullRequestBranch: first.head });
    assert.ok(!(await repository.log(branch, '%B')).join().includes('skip'));
    const again = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    assert.deepEqual(
      [outcomesOf(again), again.commit, again.head],
      [['awaiting-merge'], undefined, first.head],
    );
    const next = await push(taskFor(repository, [editOf('v.yaml', '3')], { skipsCi: true }));
    assert.deepEqual(outcomesOf(next), ['written']);
    assert.equal((await repository.log(branch, '%P'))[0], first.head);
    assert.ok((await repository.log(branch, '%B')).includes('[skip ci]'));
    assert.equal(await headOf(repository, 'main'), base);
  });

  test('a base that holds the version gets no branch', async () => {
    const repository = await server.createRepository('held', files);
    const result = await push(taskFor(repository, [editOf('v.yaml', '1')]));
    assert.deepEqual([outcomesOf(result), result.head], [['unchanged'], await headOf(repository, 'main')]);
    assert.notEqual((await repository.git('rev-parse', '--verify', `refs/heads/${branch}`)).code, 0);
  });

  test('on a base that moved, a branch of this author alone is rebuilt', async () => {
    const repository = await server.createRepository('rebuild', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    const base = await repository.commit({ 'other.yaml': 'a: 2\n' });
    const edits = [editOf('v.yaml', '2'), editOf('w.yaml', '3')];
    const result = await push(taskFor(repository, edits));
    assert.deepEqual(outcomesOf(result), ['awaiting-merge', 'written']);
    assert.equal((await repository.log(branch, '%P'))[0], base);
    assert.match((await repository.read('v.yaml', branch)) ?? '', /"2"/);
    assert.match((await repository.read('w.yaml', branch)) ?? '', /"3"/);
    assert.equal(await repository.read('other.yaml', branch), 'a: 2\n');
  });

  test('edits of another task on the branch are kept: it is not rebuilt without them', async () => {
    const repository = await server.createRepository('two-tasks', files);
    const first = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    await repository.commit({ 'other.yaml': 'a: 2\n' });
    assert.deepEqual(outcomesOf(await push(taskFor(repository, [editOf('w.yaml', '3')]))), ['written']);
    assert.equal((await repository.log(branch, '%P'))[0], first.head);
    assert.match((await repository.read('v.yaml', branch)) ?? '', /"2"/);
  });

  test('commits of others are never dropped', async () => {
    const repository = await server.createRepository('foreign', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    const foreign = await repository.commit({ 'other.yaml': 'reviewed: true\n' }, { branch });
    await repository.commit({ 'w.yaml': `${values}x: 1\n` });
    assert.deepEqual(outcomesOf(await push(taskFor(repository, [editOf('v.yaml', '3')]))), ['written']);
    assert.equal((await repository.log(branch, '%P'))[0], foreign);
    assert.equal(await repository.read('other.yaml', branch), 'reviewed: true\n');
  });

  test('a file that commits of others removed there is ForeignCommits', async () => {
    const repository = await server.createRepository('removed', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    const foreign = await repository.commit({ 'w.yaml': undefined }, { branch });
    const result = await push(taskFor(repository, [editOf('w.yaml', '3')]));
    assert.deepEqual([outcomesOf(result), result.head], [['refused ForeignCommits'], foreign]);
  });

  test('a file that the base got later is edited by rebuilding the branch', async () => {
    const repository = await server.createRepository('later', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    const base = await repository.commit({ 'new.yaml': values });
    const edits = [editOf('v.yaml', '2'), editOf('new.yaml', '2')];
    assert.deepEqual(outcomesOf(await push(taskFor(repository, edits))), ['awaiting-merge', 'written']);
    assert.equal((await repository.log(branch, '%P'))[0], base);
  });

  for (const way of ['fast-forward', 'merge commit', 'squash'] as const) {
    test(`after a merge by ${way}, the next version starts from the base`, async () => {
      const repository = await server.createRepository(`merged-${way.replace(' ', '-')}`, files);
      const first = await push(taskFor(repository, [editOf('v.yaml', '2')]));
      await merge(repository, way, first.head);
      assert.deepEqual(outcomesOf(await push(taskFor(repository, [editOf('v.yaml', '2')]))), ['unchanged']);
      const base = await headOf(repository, 'main');
      const lastWritten = { version: '2' };
      const edit = editOf('v.yaml', '3', { lastWritten });
      assert.deepEqual(outcomesOf(await push(taskFor(repository, [edit]))), ['written']);
      assert.equal((await repository.log(branch, '%P'))[0], base);
    });
  }

  async function merge(repository: GitRepository, way: string, head: string): Promise<void> {
    if (way === 'squash') {
      await repository.commit({ 'v.yaml': values.replace('1', '2') }, { message: 'Update v.yaml (#1)' });
      return;
    }
    const base = await headOf(repository, 'main');
    const person = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    const merged = await repository.git(
      ...person,
      'commit-tree',
      '-p',
      base,
      '-p',
      head,
      '-m',
      'merge',
      `${head}^{tree}`,
    );
    const to = way === 'fast-forward' ? head : merged.stdout.trim();
    assert.equal((await repository.git('update-ref', 'refs/heads/main', to)).code, 0);
  }

  test('a branch that was deleted without a merge is not made again for the same version', async () => {
    const repository = await server.createRepository('closed', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    await repository.git('branch', '-D', branch);
    const lastWritten = { version: '2' };
    assert.deepEqual(outcomesOf(await push(taskFor(repository, [editOf('v.yaml', '2', { lastWritten })]))), [
      'reverted',
    ]);
    assert.notEqual((await repository.git('rev-parse', '--verify', `refs/heads/${branch}`)).code, 0);
    const next = editOf('v.yaml', '3', { lastWritten });
    assert.deepEqual(outcomesOf(await push(taskFor(repository, [next]))), ['written']);
  });

  for (const moment of ['refs-to-push', 'push'] as const) {
    test(`a commit that others push to the branch before the request ${moment} of a forced push is kept`, async () => {
      const repository = await server.createRepository(`lease-${moment}`, files);
      await push(taskFor(repository, [editOf('v.yaml', '2')]));
      await repository.commit({ 'other.yaml': 'a: 2\n' });
      let raced = 0;
      server.onRequest = async ({ kind }) => {
        if (kind === moment && raced === 0) {
          raced += 1;
          await repository.commit({ 'other.yaml': 'reviewed: true\n' }, { branch });
        }
        return 'serve' as const;
      };
      const result = await push(taskFor(repository, [editOf('v.yaml', '3')]));
      server.onRequest = () => 'serve';
      assert.deepEqual([outcomesOf(result), raced], [['written'], 1]);
      assert.equal(await repository.read('other.yaml', branch), 'reviewed: true\n');
      assert.match((await repository.read('v.yaml', branch)) ?? '', /"3"/);
    });
  }

  test('a host that declines forced pushes gets a commit on top', async () => {
    const repository = await server.createRepository('no-force', files);
    const first = await push(taskFor(repository, [editOf('v.yaml', '2')]));
    await repository.git('config', 'receive.denyNonFastForwards', 'true');
    await repository.commit({ 'other.yaml': 'a: 2\n' });
    assert.deepEqual(outcomesOf(await push(taskFor(repository, [editOf('v.yaml', '3')]))), ['written']);
    assert.equal((await repository.log(branch, '%P'))[0], first.head);
  });

  test('a protected pull-request branch is ProtectedBranch', async () => {
    const repository = await server.createRepository('protected', files);
    await repository.protect(branch);
    assert.equal((await mustFail(taskFor(repository, [editOf('v.yaml', '2')]))).code, 'ProtectedBranch');
  });

  test('a commit whose committer is another person is not ours', async () => {
    const repository = await server.createRepository('committer', files);
    await push(taskFor(repository, [editOf('v.yaml', '2')]));
    const head = await headOf(repository);
    const person = ['-c', 'user.name=Reviewer', '-c', 'user.email=reviewer@example.com'];
    const tree = (await repository.git(...person, 'rev-parse', `${head}^{tree}`)).stdout.trim();
    const amended = await repository.git(
      ...person,
      '-c',
      `author.name=${author.name}`,
      '-c',
      `author.email=${author.email}`,
      'commit-tree',
      '-p',
      'main',
      '-m',
      'amended',
      tree,
    );
    await repository.git('update-ref', `refs/heads/${branch}`, amended.stdout.trim());
    await repository.commit({ 'other.yaml': 'a: 2\n' });
    await push(taskFor(repository, [editOf('v.yaml', '3')]));
    assert.equal((await repository.log(branch, '%P'))[0], amended.stdout.trim());
  });
});
