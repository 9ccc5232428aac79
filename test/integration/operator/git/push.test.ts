// A push to the branch itself, against a real git server: one commit, the smallest diff, nothing where nothing changes, and
// no lost update beside another client.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { readHeads } from '#operator/git/push-run.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { type GitReply, type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { author, context, editOf, login, noGit, outcomesOf, push, secret, taskOf } from './git-tasks.ts';

const values = '# values\nstaticExport:\n  version: "1" # pinned\nreplicas: 2\n';

suite('a push to the branch', { skip: noGit }, () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ login });
  });
  after(() => server.close());

  test('an edit becomes one commit whose diff is one line', async () => {
    const repository = await server.createRepository('one', {
      'site/values.yaml': values,
      'other.yaml': 'a: 1\n',
    });
    const result = await push(taskOf(repository.url, [editOf('site/values.yaml', '2026.11.1')]));
    assert.deepEqual(outcomesOf(result), ['written']);
    assert.equal(await repository.read('site/values.yaml'), values.replace('"1"', '"2026.11.1"'));
    const { stdout } = await repository.git(
      'show',
      '--numstat',
      '--format=%H%n%an <%ae>%n%cn <%ce>%n%B',
      'main',
    );
    assert.equal(
      stdout,
      [
        result.commit,
        `${author.name} <${author.email}>`,
        `${author.name} <${author.email}>`,
        'Update site/values.yaml',
        '',
        'docs/site/values.yaml: 2026.11.1',
        '',
        '[skip ci]',
        '',
        '',
        'skip-checks: true',
        '',
        '',
        '1\t1\tsite/values.yaml',
        '',
      ].join('\n'),
    );
    assert.equal((await repository.git('fsck', '--strict')).code, 0);
  });

  test('a file that holds the keys already gets no commit', async () => {
    const repository = await server.createRepository('held', { 'v.yaml': values });
    const result = await push(taskOf(repository.url, [editOf('v.yaml', '1')]));
    assert.deepEqual(outcomesOf(result), ['unchanged']);
    assert.equal(result.commit, undefined);
    assert.equal(result.head, (await repository.log('main', '%H'))[0]);
    assert.equal((await repository.log()).length, 1);
  });

  test('many edits become one commit, and a refused edit does not keep the others back', async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`sites/${at}.yaml`, values]));
    const repository = await server.createRepository('many', { ...files, 'bad.yaml': 'a: &x\n\tb' });
    const edits = [...Object.keys(files), 'bad.yaml', 'none.yaml'].map((path) => editOf(path, '2'));
    const result = await push(taskOf(repository.url, edits, { skipsCi: false }));
    assert.deepEqual(outcomesOf(result), [
      ...Object.keys(files).map(() => 'written'),
      'refused InvalidYaml',
      'refused FileNotFound',
    ]);
    const [subject, ...rest] = await repository.log('main', '%B');
    assert.equal(subject, 'Update 20 static exports');
    assert.ok(rest.includes('docs/sites/7.yaml: 2'));
    assert.ok(!rest.some((line) => line.includes('skip')));
    assert.equal((await repository.log()).length, 2);
  });

  test('edits of one file are made one after the other, and another key path is kept apart', async () => {
    const text = 'spec:\r\n  values:\r\n    a: {version: "1"}\r\n';
    const repository = await server.createRepository('paths', { 'r.yaml': text });
    const edits = [
      editOf('r.yaml', '2', { id: 'a', keyPath: ['spec', 'values', 'a'] }),
      editOf('r.yaml', '3', { id: 'b', keyPath: ['spec', 'values', 'b'] }),
      editOf('r.yaml', '4', { id: 'c', keyPath: ['spec', 'values', 'a'] }),
    ];
    const result = await push(taskOf(repository.url, edits));
    assert.deepEqual(outcomesOf(result), ['written', 'written', 'refused ConflictingEdits']);
    const wanted = 'spec:\r\n  values:\r\n    a: {version: "2"}\r\n    b:\r\n      version: "3"\r\n';
    assert.equal(await repository.read('r.yaml'), wanted);
  });

  test('a dry run says which keys would change, and pushes nothing', async () => {
    const repository = await server.createRepository('dry', { 'v.yaml': values });
    const edit = editOf('v.yaml', '2', { isDryRun: true, wanted: { version: '2', digest: 'd' } });
    const result = await push(taskOf(repository.url, [edit]));
    assert.deepEqual(result.edits, [{ id: 'v.yaml', outcome: 'planned', keys: ['version', 'digest'] }]);
    assert.equal((await repository.log()).length, 1);
  });

  test('what another client reverted is not written again, until another version is wanted', async () => {
    const repository = await server.createRepository('reverted', { 'v.yaml': values });
    const lastWritten = { version: '2' };
    const again = editOf('v.yaml', '2', { lastWritten });
    const reverted = await push(taskOf(repository.url, [again]));
    assert.deepEqual(outcomesOf(reverted), ['reverted']);
    const [edit] = reverted.edits;
    assert.match(edit?.outcome === 'reverted' ? edit.message : '', /spec\.pin.* put version 2 into the file/);
    assert.equal((await repository.log()).length, 1);
    const next = editOf('v.yaml', '3', { lastWritten });
    assert.deepEqual(outcomesOf(await push(taskOf(repository.url, [next]))), ['written']);
  });

  test('a commit that arrives between fetch and push is kept, and the edit is made on top of it', async () => {
    const repository = await server.createRepository('race', { 'v.yaml': values, 'other.yaml': 'a: 1\n' });
    let races = 0;
    server.onRequest = async ({ kind }): Promise<GitReply> => {
      // Once before the remote's refs are read, and once after: the client's lease, and the server's.
      if ((kind === 'refs-to-push' && races === 0) || (kind === 'push' && races === 1)) {
        races += 1;
        await repository.commit({ 'other.yaml': `a: ${races + 1}\n` });
      }
      return 'serve';
    };
    const result = await push(taskOf(repository.url, [editOf('v.yaml', '2')]));
    server.onRequest = () => 'serve';
    assert.deepEqual([outcomesOf(result), races], [['written'], 2]);
    assert.equal(await repository.read('other.yaml'), 'a: 3\n');
    assert.match((await repository.read('v.yaml')) ?? '', /version: "2"/);
    assert.equal((await repository.log()).length, 4);
  });

  test('edits and a client that pushes at the same moments lose no update of each other', async () => {
    const repository = await server.createRepository('busy', { 'v.yaml': values, 'count.yaml': 'n: 0\n' });
    const [edits, count] = [8, 12];
    let pushes = 0;
    let pushing = Promise.resolve('');
    server.onRequest = ({ kind }): GitReply => {
      if (kind === 'push' && pushes < count) {
        pushes += 1;
        const number = pushes;
        // Not awaited: git's two programs race for the branch.
        pushing = pushing.then(() =>
          repository.commit({ 'count.yaml': `n: ${number}\n` }, { message: `count ${number}` }),
        );
      }
      return 'serve';
    };
    for (let version = 2; version < edits + 2; version += 1) {
      const task = taskOf(repository.url, [editOf('v.yaml', `${version}`)]);
      // A task gives up after its attempts; its caller sends it again.
      const isPushed = (): Promise<boolean> =>
        push(task).then(
          () => true,
          (error: unknown) => {
            assert.equal(publishableCode(error), 'Contended');
            return false;
          },
        );
      while (!(await isPushed()));
    }
    server.onRequest = () => 'serve';
    await pushing;
    assert.ok(pushes >= edits, `${pushes} pushes`);
    const subjects = await repository.log();
    const wanted = Array.from({ length: pushes }, (_, at) => `count ${at + 1}`);
    assert.deepEqual(subjects.filter((one) => one.startsWith('count')).reverse(), wanted);
    assert.equal(subjects.filter((one) => one === 'Update v.yaml').length, edits);
    assert.equal(await repository.read('count.yaml'), `n: ${pushes}\n`);
    assert.match((await repository.read('v.yaml')) ?? '', new RegExp(`version: "${edits + 1}"`));
  });

  test('500 edits in nested folders become one commit that git finds valid', async () => {
    const paths = Array.from({ length: 500 }, (_, at) => `sites/${at % 3}/${at % 7}/docs-${at}.yaml`);
    const files = Object.fromEntries(paths.map((path) => [path, values]));
    const repository = await server.createRepository('nested', { ...files, 'sites/1.yaml': values });
    const result = await push(
      taskOf(
        repository.url,
        paths.map((path) => editOf(path, '2')),
      ),
    );
    assert.deepEqual(new Set(outcomesOf(result)), new Set(['written']));
    const { stdout } = await repository.git('diff', '--shortstat', 'main~1', 'main');
    assert.equal(stdout.trim(), '500 files changed, 500 insertions(+), 500 deletions(-)');
    assert.equal((await repository.git('fsck', '--strict')).code, 0);
  });

  test('a token is the password of the user git, or of the user that is named', async () => {
    const names = ['git', 'x-token-auth'];
    const hosted = await startGitServer({
      login: names.map((username) => ({ username, password: secret })),
    });
    try {
      const repository = await hosted.createRepository('token', { 'v.yaml': values });
      const accesses = [{ token: secret }, { username: 'x-token-auth', token: secret, password: 'old' }];
      for (const [at, access] of accesses.entries()) {
        const task = taskOf(repository.url, [editOf('v.yaml', `${at + 2}`)], { access });
        assert.deepEqual(outcomesOf(await push(task)), ['written']);
      }
    } finally {
      await hosted.close();
    }
  });

  test('the heads are read without a fetch', async () => {
    const repository = await server.createRepository('heads', { 'v.yaml': values });
    await repository.commit({ 'v.yaml': 'a: 1\n' }, { branch: 'docs/next' });
    const task = taskOf(repository.url, [], { pullRequestBranch: 'docs/next' });
    const from = server.requests.length;
    const result = await readHeads(task, context);
    const [branch = ''] = await repository.log('main', '%H');
    const [pullRequestBranch = ''] = await repository.log('docs/next', '%H');
    assert.deepEqual(result, { branch, pullRequestBranch });
    // The transfer of protocol version 2 that lists refs is a POST to the same service.
    assert.equal(server.requests.slice(from).filter(({ kind }) => kind.includes('push')).length, 0);
  });
});
