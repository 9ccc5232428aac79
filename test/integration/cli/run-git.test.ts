// `static-export run` with git targets: a commit in a real repository over HTTPS, its credentials from files, and what a run
// says where the push fails. Credentials are in no output and no file of the state.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import type { CommandResult } from '../../support/command.ts';
import type { GitRepository } from '../../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../../support/gitops/git-server.ts';
import { createAuthority } from '../../support/pki.ts';
import { declareSecret, seeText } from '../../support/secret-watch.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { pages } from './environment/export-workplace.ts';
import { type RunWorkplace, runWorkplace } from './environment/run-workplace.ts';

const password = declareSecret('the token', 'glpat-Hx72nQ9sVb41');
const values = '# ours\nreplicas: 2\nstaticExport:\n  enabled: true # for now\n  version: none\n';

let server: GitServer;
let caPem: string;
let host: string;

before(async () => {
  const authority = await createAuthority();
  caPem = authority.certificatePem;
  const tls = await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] });
  server = await startGitServer({ login: { username: 'git', password }, tls });
  host = new URL(server.origin).host;
});
after(() => server?.close());

interface GitWorkplace extends Pick<RunWorkplace, 'folder' | 'vendor' | 'to'> {
  readonly repository: GitRepository;
  /** With the credentials and the host. */
  readonly push: (...more: readonly string[]) => Promise<CommandResult>;
  readonly run: RunWorkplace['run'];
}

async function gitWorkplace(t: TestContext, name: string, git = ''): Promise<GitWorkplace> {
  const repository = await server.createRepository(name, { 'docs.yaml': values });
  const target = `{ url: "${repository.url}", path: docs.yaml, secretRef: { name: fleet }${git} }`;
  const spec = `  targets:\n    - { name: fleet, type: Git, git: ${target} }\n`;
  const { folder, vendor, to, run } = await runWorkplace(t, spec);
  const secret = join(folder, 'fleet');
  mkdirSync(secret);
  writeFileSync(join(secret, 'token'), `${password}\n`);
  writeFileSync(join(secret, 'ca.crt'), caPem);
  const searched = async (...more: readonly string[]): Promise<CommandResult> => {
    const result = await run('--secret', `fleet=${secret}`, ...more);
    const files = readdirSync(join(folder, 'state'), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, 'state', file))
      // The output Secret, which has the link.
      .filter((file) => statSync(file).isFile() && !/objects\/Secret/.test(file))
      .map((file) => readFileSync(file, 'latin1'));
    for (const text of files) seeText('a file of the state', text);
    return result;
  };
  const push = (...more: readonly string[]) => searched('--allowed-git-hosts', host, ...more);
  return { folder, vendor, to, repository, run, push };
}

const versionIn = (text: string | undefined): string => parse(text ?? '').staticExport.version;

// Each commit waits ten seconds for others.
describe('git targets', { concurrency: 5 }, () => {
  test('a version is pushed as one commit, and the run waits for it; the next run finds it and pushes nothing', async (t) => {
    const { repository, push, vendor } = await gitWorkplace(t, 'pushed');
    const first = await push();
    assert.equal(first.code, 0, first.stderr);
    const { version, targets } = JSON.parse(first.stdout);
    const text = await repository.read('docs.yaml');
    assert.equal(versionIn(text), version);
    assert.match(text ?? '', /^# ours\n.*enabled: true # for now\n/s);
    const [head = '', ...older] = await repository.log('main', '%H %s');
    assert.match(head, new RegExp(`^[0-9a-f]{40} docs: publish default/docs ${version}$`));
    assert.equal(older.length, 1);
    const [target] = targets;
    assert.deepEqual([target.name, target.synced, target.reason], ['fleet', true, 'Synced']);
    assert.equal(target.message, `commit ${head.slice(0, 12)}`);
    assert.match(first.stderr, /^Writing to git$/m);

    const second = await push();
    assert.deepEqual([second.code, JSON.parse(second.stdout).version], [0, version]);
    assert.equal((await repository.log()).length, 2);
    vendor.archive = gzipSync(tarOf({ ...pages, 'index.html': 'new' }));
    const third = await push('--request');
    assert.equal(versionIn(await repository.read('docs.yaml')), JSON.parse(third.stdout).version);
    assert.equal((await repository.log()).length, 3);
  });

  test('a change by another client is found by the next run, which does not write it again: exit 9', async (t) => {
    const { repository, push } = await gitWorkplace(t, 'contested');
    assert.equal((await push()).code, 0);
    await repository.commit({ 'docs.yaml': values.replace('none', 'mine') });
    for (const attempt of ['found', 'remembered']) {
      const { code, stdout } = await push();
      const error = JSON.parse(stdout);
      assert.deepEqual([code, error.code], [9, 'Contested'], attempt);
      assert.match(error.message, /^git target fleet was not written: /);
    }
    assert.equal(versionIn(await repository.read('docs.yaml')), 'mine');
  });

  test('a push that fails: exit 9 with the message, the version and what was written; a later run pushes', async (t) => {
    const { folder, to, repository, push, vendor } = await gitWorkplace(t, 'refused');
    await repository.protect('main');
    const { code, stdout, stderr } = await push();
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [9, 'ProtectedBranch'], stderr);
    assert.match(error.message, /^git target fleet was not written: .*protected branch: refs\/heads\/main/);
    assert.deepEqual(error.written, [`--publish dir=${to}`]);
    assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
    assert.deepEqual(error.next, ['Run the same command again to write what is missing.']);
    assert.doesNotMatch(stderr, /the operator|of the chart|retrying/);
    rmSync(join(repository.folder, 'hooks/update'));
    const again = await push();
    assert.equal(again.code, 0, again.stderr);
    assert.equal(versionIn(await repository.read('docs.yaml')), error.version);
    assert.equal(vendor.jobs.size, 1);
    assert.ok(readdirSync(folder).includes('state'));
  });

  test('a pull-request branch is pushed, and its merge is not waited for', async (t) => {
    const { repository, push } = await gitWorkplace(t, 'reviewed', ', pullRequestBranch: docs/next');
    const { code, stdout, stderr } = await push();
    assert.equal(code, 0, stderr);
    const { version, targets } = JSON.parse(stdout);
    assert.deepEqual([targets[0].synced, targets[0].reason], [false, 'AwaitingMerge']);
    assert.equal(versionIn(await repository.read('docs.yaml', 'docs/next')), version);
    assert.equal(versionIn(await repository.read('docs.yaml')), 'none');
  });

  test('a host that is not allowed, and a missing Secret, are found before a job is started', async (t) => {
    const { run, folder, vendor } = await gitWorkplace(t, 'early');
    const cases = [
      [
        await run('--secret', `fleet=${join(folder, 'fleet')}`),
        'HostNotAllowed',
        /Add 127\.0\.0\.1:\d+ if it may/,
      ],
      [await run('--allowed-git-hosts', host), 'CredentialsMissing', /or add --secret fleet=PATH$/],
      [
        await run('--allowed-git-hosts', 'http://127.0.0.1'),
        'WrongUsage',
        /entry 1 must be HOST or HOST:PORT/,
      ],
    ] as const;
    for (const [result, code, words] of cases) {
      assert.equal(result.code, 2, result.stderr);
      const error = JSON.parse(result.stdout);
      assert.equal(error.code, code);
      assert.match(error.message, words);
    }
    assert.equal(vendor.jobs.size, 0);
  });
});
