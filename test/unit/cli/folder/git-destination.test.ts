// What a run knows of its git targets: when they are done, and which of them failed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchGitTargets } from '#cli/folder/git-destination.ts';
import type { GitFinding, GitWish } from '#operator/loop/ports.ts';
import { applyDefaults } from '#operator/staticexport/wanted.ts';

const owner = { namespace: 'docs', name: 'docs' };

function wishOf(name: string): GitWish {
  const git = { url: 'https://git.example.com/a.git', path: 'a.yaml', secretRef: { name: 'fleet' } };
  const spec = {
    domain: 'docs.example.com',
    api: { keySecretRef: { name: 'k' } },
    targets: [{ name, type: 'Git', git }] as const,
  };
  const [target] = applyDefaults(
    owner,
    { ...spec, targets: [...spec.targets] },
    { apiBaseUrl: undefined },
  ).targets;
  assert.ok(target?.type === 'Git');
  return { target, wanted: { version: 'v1', digest: undefined }, isWritten: false };
}

function testEnvironment() {
  const findings = new Map<string, GitFinding>();
  const git = watchGitTargets({
    find: (_owner, id) => findings.get(id) ?? { kind: 'pending' },
    keep: () => {},
  });
  const find = (name: string, finding: GitFinding) => {
    findings.set(name, finding);
    git.port.find(owner, name, wishOf(name), false);
  };
  return { git, find };
}

test('a target that was not read in this run is not done', () => {
  const { git, find } = testEnvironment();
  assert.equal(git.read({}).isDone(), true);
  find('fleet', { kind: 'pending' });
  assert.deepEqual([git.read({}).isDone(), git.read({}).isWorking()], [false, true]);
  find('fleet', { kind: 'held', commit: undefined });
  assert.deepEqual([git.read({}).isDone(), git.read({}).written()], [true, ['git target fleet']]);
});

test('each target that failed is in the message, and a merge is not waited for', () => {
  const { git, find } = testEnvironment();
  find('one', { kind: 'failed', code: 'Unauthorized', message: 'gone.' });
  find('two', { kind: 'refused', code: 'FileNotFound', message: 'absent.' });
  find('three', { kind: 'awaiting-merge', commit: 'c' });
  const read = git.read({});
  assert.deepEqual([read.failure()?.outcome, read.failure()?.code], ['notWritten', 'Unauthorized']);
  assert.equal(
    read.failure()?.message,
    'git target one was not written: gone. git target two was not written: absent',
  );
  assert.deepEqual([read.written(), read.isDone()], [['git target three'], false]);
});

test('a contest that an earlier run found counts, and a target that the spec no longer has does not', () => {
  const { git, find } = testEnvironment();
  const contested = {
    ...{ name: 'fleet', object: 'o', synced: false, reason: 'Contested' },
    ...{ message: 'said', lastTransitionTime: '2026-01-05T12:00:00Z' },
  };
  assert.equal(git.read({ targets: [contested] }).failure()?.code, 'Contested');
  find('gone', { kind: 'failed', code: 'Unauthorized', message: 'x' });
  git.port.keep(owner, []);
  assert.equal(git.read({}).failure(), undefined);
});

test('a target that waits for a copy is waited for while the copy is made, and named once that failed', () => {
  const { git } = testEnvironment();
  const targets = [{ name: 'fleet', object: 'o', synced: false, reason: 'AwaitingCopy' }];
  const readWith = (status: 'Unknown' | 'False', reason: string) => {
    const mirrored = { type: 'Mirrored', status, reason, message: '', observedGeneration: 1 };
    return git.read({
      targets,
      conditions: [{ ...mirrored, lastTransitionTime: '2026-01-05T12:00:00Z' }],
    });
  };
  const copying = readWith('Unknown', 'Copying');
  assert.deepEqual([copying.isWorking(), copying.isDone(), copying.failure()], [true, false, undefined]);
  const failed = readWith('False', 'Denied');
  assert.deepEqual(
    [failed.isWorking(), failed.isDone(), failed.failure()?.code],
    [false, false, 'AwaitingCopy'],
  );
  assert.match(
    failed.failure()?.message ?? '',
    /^git target fleet was not written: .* no copy in the mirror yet$/,
  );
});
