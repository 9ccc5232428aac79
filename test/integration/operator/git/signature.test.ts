// Signed commits, verified by git itself with the public key of the same pair.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { startGitServer } from '../../../support/gitops/git-server.ts';
import { maySkip } from '../../../support/may-skip.ts';
import { author, editOf, login, mustFail, noGit, push, taskOf } from './git-tasks.ts';

const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;
const skip = noGit || maySkip('gitops', !hasKeygen && 'ssh-keygen is not installed');

suite('a signed commit', { skip }, () => {
  test('git verifies it, and refuses it after one changed byte', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signing-'));
    const server = await startGitServer({ login });
    try {
      const signingKeyPem = await makeKey(join(folder, 'key'), ['-t', 'ed25519', '-N', '']);
      const publicKey = await readFile(join(folder, 'key.pub'), 'utf8');
      const allowed = join(folder, 'allowed');
      await writeFile(allowed, `${author.email} namespaces="git" ${publicKey}`);
      const repository = await server.createRepository('signed', { 'v.yaml': 'staticExport: {}\n' });
      const access = { ...login, signingKeyPem };
      const { commit = '' } = await push(taskOf(repository.url, [editOf('v.yaml', 'é 2')], { access }));
      const config = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`];
      const verified = await repository.git(...config, 'verify-commit', commit);
      assert.match(verified.stderr, /Good "git" signature for operator@example\.com with ED25519 key/);
      assert.equal(verified.code, 0, verified.stderr);
      assert.equal((await repository.git('fsck', '--strict')).code, 0);
      const text = (await repository.git('cat-file', 'commit', commit)).stdout;
      const file = join(folder, 'changed');
      await writeFile(file, text.replace('Update v.yaml', 'Update w.yaml'));
      const changed = (await repository.git('hash-object', '-t', 'commit', '-w', file)).stdout.trim();
      assert.notEqual((await repository.git(...config, 'verify-commit', changed)).code, 0);
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  });

  test('a key with a passphrase, of another type, or cut short is BadSigningKey, and is not quoted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signing-'));
    try {
      const keys = {
        passphrase: await makeKey(join(folder, 'locked'), ['-t', 'ed25519', '-N', 'passphrase']),
        'not an ed25519 key': await makeKey(join(folder, 'ecdsa'), ['-t', 'ecdsa', '-N', '']),
        damaged: (await makeKey(join(folder, 'cut'), ['-t', 'ed25519', '-N', ''])).replace(
          /^b3.{60}/m,
          'b3Bl',
        ),
      };
      for (const [words, signingKeyPem] of Object.entries(keys)) {
        const access = { ...login, signingKeyPem };
        const failure = await mustFail(
          taskOf('http://127.0.0.1:9/x.git', [editOf('v.yaml', '2')], { access }),
        );
        assert.equal(failure.code, 'BadSigningKey');
        assert.match(failure.message, new RegExp(words));
        for (const line of signingKeyPem.split('\n'))
          assert.ok(line === '' || !failure.message.includes(line));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

async function makeKey(file: string, options: readonly string[]): Promise<string> {
  const made = spawnSync('ssh-keygen', ['-q', '-C', 'test', '-f', file, ...options]);
  assert.equal(made.status, 0, made.stderr.toString());
  return await readFile(file, 'utf8');
}
