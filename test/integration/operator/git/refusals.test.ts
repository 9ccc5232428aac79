// What is refused for one edit, and what fails a whole task, against a real git server: each with its code, a message with
// a remedy and no credential, and nothing pushed.

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { readHeads } from '#operator/git/push-run.ts';
import type { GitFailureCode, GitPushTask } from '#operator/git/push-task.ts';
import { mustRun } from '../../../support/command.ts';
import type { GitRepository } from '../../../support/gitops/git-repository.ts';
import { type GitReply, type GitServer, startGitServer } from '../../../support/gitops/git-server.ts';
import { createAuthority } from '../../../support/pki.ts';
import { context, editOf, login, mustFail, noGit, outcomesOf, push, secret, taskOf } from './git-tasks.ts';

const values = 'staticExport:\n  version: "1"\n';

const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;

suite('a push that is refused', { skip: noGit }, () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ login });
  });
  after(() => server.close());

  test('each kind of path and of file is refused for its edit alone', async () => {
    const head = '0123456789012345678901234567890123456789';
    const repository = await server.createRepository('files', {
      'good.yaml': values,
      'folder/a.yaml': values,
      'link.yaml': { mode: '120000', content: 'good.yaml' },
      linked: { mode: '120000', content: 'folder' },
      module: { mode: '160000', commit: head },
      'lfs.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
      'large.yaml': `a: "${'x'.repeat(1_100_000)}"\n`,
      'long.yaml': `a: "${'x'.repeat(300_000)}"\n`,
      'tabs.yaml': 'staticExport:\n\tversion: 1\n',
      'twice.yaml': 'a: 1\na: 2\n',
      'documents.yaml': 'a: 1\n---\nb: 2\n',
      'list.yaml': '- staticExport\n',
      'shared.yaml': 'a: &a {version: "1"}\nstaticExport: *a\n',
    });
    const wanted = {
      'good.yaml': 'written',
      folder: 'refused NotAFile',
      'folder/none.yaml': 'refused FileNotFound',
      'good.yaml/a.yaml': 'refused FileNotFound',
      'link.yaml': 'refused SymbolicLink',
      'linked/a.yaml': 'refused SymbolicLink',
      module: 'refused Submodule',
      'module/a.yaml': 'refused Submodule',
      'lfs.yaml': 'refused LfsPointer',
      'large.yaml': 'refused TooLarge',
      'long.yaml': 'refused TooLarge',
      'tabs.yaml': 'refused InvalidYaml',
      'twice.yaml': 'refused InvalidYaml',
      'documents.yaml': 'refused MultipleDocuments',
      'list.yaml': 'refused NotAMap',
      'shared.yaml': 'refused SharedNode',
      '/good.yaml': 'refused PathOutsideRepository',
      '../good.yaml': 'refused PathOutsideRepository',
      'folder/../good.yaml': 'refused PathOutsideRepository',
      '.git/config': 'refused PathOutsideRepository',
      '': 'refused PathOutsideRepository',
    };
    const result = await push(
      taskOf(
        repository.url,
        Object.keys(wanted).map((path) => editOf(path, '2')),
      ),
    );
    assert.deepEqual(
      Object.fromEntries(Object.keys(wanted).map((path, at) => [path, outcomesOf(result)[at]])),
      wanted,
    );
    const { stdout } = await repository.git('diff', '--name-only', 'main~1', 'main');
    assert.equal(stdout, 'good.yaml\n');
  });

  test('a file that is not UTF-8 is refused', async () => {
    const repository = await server.createRepository('latin', { 'v.yaml': values });
    const file = join(repository.folder, 'latin.yaml');
    await writeFile(file, Buffer.from('name: caf\xe9\n', 'latin1'));
    const git = async (...args: readonly string[]) => (await repository.git(...args)).stdout.trim();
    const blob = await git('hash-object', '-w', file);
    await git('update-index', '--add', '--cacheinfo', `100644,${blob},latin.yaml`);
    const person = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    const commit = await git(...person, 'commit-tree', '-p', 'main', '-m', 'latin', await git('write-tree'));
    await git('update-ref', 'refs/heads/main', commit);
    const result = await push(taskOf(repository.url, [editOf('latin.yaml', '2')]));
    assert.deepEqual([outcomesOf(result), result.head], [['refused NotUtf8'], commit]);
  });

  const failures: readonly {
    readonly name: string;
    readonly code: GitFailureCode;
    readonly isTemporary?: boolean;
    readonly message: RegExp;
    readonly task?: Partial<GitPushTask>;
    readonly onRequest?: GitServer['onRequest'];
  }[] = [
    {
      name: 'a wrong password',
      code: 'Unauthorized',
      message: /returned 401\. Check/,
      task: { access: { username: 'bot', password: `${secret}-old` } },
    },
    { name: 'no credentials', code: 'Unauthorized', message: /401/, task: { access: {} } },
    ...[403, 404].map((status) => ({
      name: `status ${status}`,
      code: 'Unauthorized' as const,
      message: new RegExp(`returned ${status}.* read the repository`),
      onRequest: () => ({ status }),
    })),
    {
      name: 'a token that may read only',
      code: 'Unauthorized',
      message: /403.*write to the repository/,
      onRequest: ({ kind }) => (kind === 'refs-to-push' ? { status: 403 } : 'serve'),
    },
    {
      name: 'status 503',
      code: 'Unreachable',
      isTemporary: true,
      message: /503\.$/,
      onRequest: () => ({ status: 503 }),
    },
    {
      name: 'status 429',
      code: 'Unreachable',
      isTemporary: true,
      message: /429\.$/,
      onRequest: () => ({ status: 429 }),
    },
    {
      name: 'a page',
      code: 'NotAGitServer',
      message: /content type/,
      onRequest: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' }),
    },
    {
      name: 'a cut connection',
      code: 'Unreachable',
      isTemporary: true,
      message: /broke off/,
      onRequest: () => 'cut',
    },
    {
      name: 'a cut push',
      code: 'Unreachable',
      isTemporary: true,
      message: /broke off/,
      onRequest: ({ kind }) => (kind === 'push' ? 'cut' : 'serve'),
    },
    {
      name: 'a fetch that ends early',
      code: 'Unreachable',
      isTemporary: true,
      message: /no commit|damaged/,
      onRequest: ({ kind }) =>
        kind === 'fetch'
          ? {
              status: 200,
              headers: { 'content-type': 'application/x-git-upload-pack-result' },
              body: '0008NAK\n',
            }
          : 'serve',
    },
    {
      name: 'a pack that is cut',
      code: 'Unreachable',
      isTemporary: true,
      message: /damaged pack/,
      onRequest: ({ kind }) =>
        kind === 'fetch'
          ? {
              status: 200,
              headers: { 'content-type': 'application/x-git-upload-pack-result' },
              body: `0008NAK\n${packet(`\u0001PACK\0\0\0\u0002\0\0\0\u0001${'x'.repeat(50)}`)}0000`,
            }
          : 'serve',
    },
    {
      name: 'an answer that never ends',
      code: 'Timeout',
      isTemporary: true,
      message: /in time \(0\.5 s\)/,
      task: { limits: { maxBytes: 1e6, deadlineMs: 500 } },
      onRequest: ({ kind }) =>
        kind === 'fetch'
          ? {
              status: 200,
              headers: { 'content-type': 'application/x-git-upload-pack-result', 'content-length': '100000' },
              body: '0008NAK\n',
            }
          : 'serve',
    },
    {
      name: 'a failure that the server reports in the answer',
      code: 'Unreachable',
      isTemporary: true,
      message: /no commit/,
      onRequest: ({ kind }) =>
        kind === 'fetch'
          ? {
              status: 200,
              headers: { 'content-type': 'application/x-git-upload-pack-result' },
              body: `${packet(`\u0003no: ${secret}\n`)}0000`,
            }
          : 'serve',
    },
    {
      name: 'a server that hangs',
      code: 'Timeout',
      isTemporary: true,
      message: /in time \(0\.5 s\)/,
      task: { limits: { maxBytes: 1e6, deadlineMs: 500 } },
      onRequest: () => 'hang',
    },
    {
      name: 'a redirect to another host',
      code: 'RedirectRefused',
      message: /to another host/,
      onRequest: () => ({
        status: 302,
        headers: { location: 'https://example.com/x.git/info/refs?service=git-upload-pack' },
      }),
    },
    {
      name: 'a redirect to a sign-in page',
      code: 'RedirectRefused',
      message: /to a page, such as a sign-in/,
      onRequest: () => ({ status: 302, headers: { location: '/users/sign_in' } }),
    },
    {
      name: 'a redirect of the push',
      code: 'RedirectRefused',
      message: /redirected/,
      onRequest: ({ kind, path }) =>
        kind === 'push' ? { status: 307, headers: { location: path } } : 'serve',
    },
    {
      name: 'endless redirects',
      code: 'RedirectRefused',
      message: /more often/,
      onRequest: ({ path }): GitReply => ({ status: 302, headers: { location: path } }),
    },
    {
      name: 'a branch that is absent',
      code: 'BranchNotFound',
      message: /no branch gone/,
      task: { branch: 'gone' },
    },
    {
      name: 'a branch that is not a name',
      code: 'InvalidTask',
      message: /not valid in git/,
      task: { branch: 'a..b' },
    },
    { name: 'no edits', code: 'InvalidTask', message: /1 to 500 edits/, task: { edits: [] } },
    {
      name: 'plain HTTP',
      code: 'InvalidUrl',
      message: /https:\/\/HOST\/PATH/,
      task: { isHttpAllowed: false },
    },
    {
      name: 'a private address',
      code: 'AddressNotAllowed',
      message: /private/,
      task: { allowPrivateAddresses: false },
    },
    {
      name: 'a host that is not allowed',
      code: 'HostNotAllowed',
      message: /--allowed-git-hosts/,
      task: { allowedHosts: ['github.com'] },
    },
    {
      name: 'a repository over the limit',
      code: 'RepositoryTooLarge',
      message: /larger than 0\.0\d+ MiB/,
      task: { limits: { maxBytes: 1024, deadlineMs: 120_000 } },
    },
    {
      name: 'a signing key that is none',
      code: 'BadSigningKey',
      message: /not an OpenSSH private key/,
      task: { access: { ...login, signingKeyPem: secret } },
    },
    {
      name: 'a CA certificate that is none',
      code: 'InvalidCaCertificate',
      message: /no certificate in PEM/,
      task: { access: { ...login, caPem: secret } },
    },
  ];
  /** Of all failures, because none of them changes it. */
  let repository: GitRepository | undefined;
  for (const { name, code, isTemporary = false, message, task, onRequest } of failures) {
    test(`${name} is ${code}`, async () => {
      repository ??= await server.createRepository('failures', {
        'v.yaml': values,
        'noise.yaml': `a: ${'0123456789abcdef'.repeat(400)}\n`,
      });
      if (onRequest !== undefined) server.onRequest = onRequest;
      const result = await mustFail(taskOf(repository.url, [editOf('v.yaml', '2')], task));
      server.onRequest = () => 'serve';
      assert.deepEqual([result.code, result.isTemporary], [code, isTemporary], result.message);
      assert.match(result.message, message);
      assert.ok(!result.message.includes(secret));
      assert.equal((await repository.log()).length, 1);
    });
  }

  test('user information and a query of the URL are refused and not repeated', async () => {
    const repository = await server.createRepository('userinfo', { 'v.yaml': values });
    for (const url of [
      repository.url.replace('//', `//bot:${secret}@`),
      `${repository.url}?token=${secret}`,
    ]) {
      const result = await mustFail(taskOf(url, [editOf('v.yaml', '2')], { access: {} }));
      assert.equal(result.code, 'InvalidUrl');
      assert.ok(!result.message.includes(secret));
    }
  });

  test('a redirect on the same origin is followed, and the push uses the new address', async () => {
    const repository = await server.createRepository('moved', { 'v.yaml': values });
    server.onRequest = ({ kind, repository: name }) =>
      name === 'old' && kind.startsWith('refs')
        ? {
            status: 301,
            headers: {
              location: `/moved.git/info/refs?service=git-${kind === 'refs-to-push' ? 'receive' : 'upload'}-pack`,
            },
          }
        : 'serve';
    const url = repository.url.replace('moved', 'old');
    const result = await push(taskOf(url, [editOf('v.yaml', '2')]));
    server.onRequest = () => 'serve';
    assert.deepEqual(outcomesOf(result), ['written']);
  });

  test('a small pack that inflates to a large file is RepositoryTooLarge', async () => {
    const files = { 'v.yaml': values, 'zeros.bin': '0'.repeat(17 * 1024 * 1024) };
    const repository = await server.createRepository('inflates', files);
    const limits = { maxBytes: 100_000, deadlineMs: 120_000 };
    const result = await mustFail(taskOf(repository.url, [editOf('v.yaml', '2')], { limits }));
    assert.equal(result.code, 'RepositoryTooLarge');
    assert.match(result.message, /file larger than 16 MiB/);
  });

  test('a repository of SHA-256 objects is UnsupportedRepository', async () => {
    const repository = await server.createRepository('sha256');
    await rm(repository.folder, { recursive: true });
    await mustRun([
      'git',
      'init',
      '--quiet',
      '--bare',
      '--initial-branch=main',
      '--object-format=sha256',
      repository.folder,
    ]);
    await repository.git('config', 'http.receivepack', 'true');
    await repository.commit({ 'v.yaml': values });
    for (const pullRequestBranch of [undefined, 'docs']) {
      const overrides = pullRequestBranch === undefined ? {} : { pullRequestBranch };
      const result = await mustFail(taskOf(repository.url, [editOf('v.yaml', '2')], overrides));
      assert.equal(result.code, 'UnsupportedRepository', result.message);
    }
  });

  test('an empty repository is EmptyRepository', async () => {
    const repository = await server.createRepository('empty');
    const result = await mustFail(taskOf(repository.url, [editOf('v.yaml', '2')]));
    assert.equal(result.code, 'EmptyRepository');
    await assert.rejects(readHeads(taskOf(repository.url, []), context), { code: 'EmptyRepository' });
  });

  test('a protected branch is ProtectedBranch, with the reason of the host', async () => {
    const repository = await server.createRepository('protected', { 'v.yaml': values });
    await repository.protect('main');
    const result = await mustFail(taskOf(repository.url, [editOf('v.yaml', '2')]));
    assert.deepEqual([result.code, result.isTemporary], ['ProtectedBranch', false]);
    assert.match(result.message, /protected branch: refs\/heads\/main.*set a pull-request branch/);
    assert.equal((await repository.log()).length, 1);
  });

  test('a certificate of an unknown CA is CertificateNotTrusted, and trusted with its CA certificate', async () => {
    const authority = await createAuthority();
    const tls = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
    const secure = await startGitServer({ login, tls });
    try {
      const repository = await secure.createRepository('tls', { 'v.yaml': values });
      const task = taskOf(repository.url, [editOf('v.yaml', '2')], { isHttpAllowed: false });
      const result = await mustFail(task);
      assert.equal(result.code, 'CertificateNotTrusted');
      assert.equal(secure.requests.length, 0);
      const trusting = { ...task, access: { ...login, caPem: authority.certificatePem } };
      assert.deepEqual(outcomesOf(await push(trusting)), ['written']);
    } finally {
      await secure.close();
    }
  });

  test('a server that does not listen is Unreachable', async () => {
    const result = await mustFail(taskOf('http://127.0.0.1:9/x.git', [editOf('v.yaml', '2')]));
    assert.deepEqual([result.code, result.isTemporary], ['Unreachable', true]);
  });
});
