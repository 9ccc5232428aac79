// Git targets of many resources: which share one commit, and which never do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GitReading } from '#operator/loop/ports.ts';
import { createGitTargets, type GitTargetsOptions } from '#operator/services/git-targets.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import type { ObjectKey, SecretObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { FakeRepository } from '../../../simulation/fake-repository.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const minuteMs = 60_000;

function targetAt(change: Partial<WantedGitTarget> = {}): WantedGitTarget {
  return {
    ...{
      type: 'Git',
      targetName: 'fleet',
      isDryRun: false,
      writesVersion: true,
      writesDigest: false,
      writesRef: false,
    },
    ...{ object: 'Git/git.example.com/fleet.git@main:a.yaml', url: 'https://git.example.com/fleet.git' },
    ...{ branch: 'main', pullRequestBranch: undefined, path: 'a.yaml', keyPath: ['staticExport'] },
    ...{ secretName: 'git', author: { name: 'bot', email: 'bot@example.com' } },
    message: 'docs: publish {namespace}/{name} {version}',
    ...change,
  };
}

const secretOf = (key: ObjectKey): SecretObject => ({
  metadata: { ...key, uid: 'u', resourceVersion: '1', annotations: {}, labels: {}, ownerReferences: [] },
  data: { token: new TextEncoder().encode(`token of ${key.namespace}/${key.name}\n`) },
});

function openTargets(change: Partial<GitTargetsOptions> = {}) {
  const clock = virtualClock();
  const repository = new FakeRepository(clock);
  const woken: string[] = [];
  const outcomes: string[] = [];
  const process = new AbortController();
  const targets = createGitTargets({
    clock,
    random: { uuid: () => '', bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
    pusher: repository,
    settings: () =>
      Promise.resolve({
        allowPrivateAddresses: false,
        userAgent: 'test',
        limits: { maxBytes: 1, deadlineMs: 1 },
      }),
    allowedHosts: ['git.example.com'],
    readSecret: (key) => Promise.resolve(secretOf(key)),
    wake: ({ namespace, name }) => woken.push(`${namespace}/${name}`),
    observe: (outcome) => outcomes.push(outcome),
    signal: process.signal,
    ...change,
  });
  const find = (
    name: string,
    target: WantedGitTarget,
    version = '20260105-120000-aaaaaaaa',
    namespace = 'docs',
    isWritten = false,
  ): GitReading =>
    targets.find(
      { namespace, name },
      'fleet',
      { target, wanted: { version, digest: undefined }, isWritten },
      false,
    );
  return { clock, repository, woken, outcomes, targets, process, find };
}

test('a hundred resources of one repository share one commit, and each is woken once', async () => {
  const { clock, repository, woken, find } = openTargets();
  for (let index = 0; index < 100; index += 1) {
    assert.deepEqual(find(`site-${index}`, targetAt({ path: `sites/${index}.yaml` })), { kind: 'pending' });
    await clock.pass(50);
  }
  await clock.pass(minuteMs);
  assert.equal(repository.commits, 1);
  assert.deepEqual(repository.subjects, ['100 edits']);
  assert.equal(woken.length, 100);
  assert.equal(new Set(woken).size, 100);
  const found = find('site-7', targetAt({ path: 'sites/7.yaml' }));
  assert.equal(found.kind, 'held');
});

test('namespaces, Secrets, branches and authors never share a push', async () => {
  const { clock, repository, find } = openTargets();
  find('one', targetAt({ path: '1.yaml' }));
  find('two', targetAt({ path: '2.yaml' }), undefined, 'other');
  find('three', targetAt({ path: '3.yaml', secretName: 'of-others' }));
  find('four', targetAt({ path: '4.yaml', branch: 'staging' }));
  find('five', targetAt({ path: '5.yaml', author: { name: 'other', email: 'other@example.com' } }));
  find('six', targetAt({ path: '6.yaml', url: 'https://git.example.com/other.git' }));
  find('seven', targetAt({ path: '7.yaml', pullRequestBranch: 'static-export/docs' }));
  await clock.pass(minuteMs);
  const pushed = repository.tasks.map(({ access, edits }) => [
    access.token,
    edits.map(({ path }) => path).join(' '),
  ]);
  assert.deepEqual(
    pushed.toSorted(([, one = ''], [, other = '']) => one.localeCompare(other)),
    [
      ['token of docs/git', '1.yaml'],
      ['token of other/git', '2.yaml'],
      ['token of docs/of-others', '3.yaml'],
      ['token of docs/git', '4.yaml'],
      ['token of docs/git', '5.yaml'],
      ['token of docs/git', '6.yaml'],
      ['token of docs/git', '7.yaml'],
    ],
  );
});

test('of a thousand repositories of one namespace two are read at a time, the others stay pending, and none is left out', async () => {
  const running = new Map<string, number>();
  let most = 0;
  let secretsRead = 0;
  const { clock, repository, outcomes, find } = openTargets({
    readSecret: (key) => {
      secretsRead += 1;
      return Promise.resolve(secretOf(key));
    },
  });
  const push = repository.push.bind(repository);
  repository.push = async (task, owner, signal) => {
    running.set(owner, (running.get(owner) ?? 0) + 1);
    most = Math.max(most, ...running.values());
    const result = await push(task, owner, signal);
    running.set(owner, (running.get(owner) ?? 0) - 1);
    return result;
  };
  const targets = Array.from({ length: 1000 }, (_none, at) =>
    targetAt({ url: `https://git.example.com/${at}.git`, path: `${at}.yaml` }),
  );
  for (const [at, target] of targets.entries()) find(`site-${at}`, target);
  find('site', targetAt(), undefined, 'other');
  await clock.pass(11_000);
  assert.equal(repository.tasks.at(2)?.access.token, 'token of other/git', 'another namespace does not wait');
  assert.ok(secretsRead < 10, `${secretsRead} Secrets read for tasks that wait`);
  const kinds = new Set(targets.map((target, at) => find(`site-${at}`, target).kind));
  assert.deepEqual([...kinds].sort(), ['held', 'pending']);
  await clock.pass(5 * minuteMs);
  assert.deepEqual([repository.tasks.length, most], [1001, 2]);
  assert.deepEqual([...new Set(outcomes)], ['pushed']);
});

test('a commit takes 500 edits; the rest follows at once', async () => {
  const { clock, repository, find } = openTargets();
  for (let index = 0; index < 1200; index += 1) {
    find(`site-${index}`, targetAt({ path: `${index}.yaml` }));
  }
  await clock.pass(minuteMs);
  assert.deepEqual(repository.subjects, ['500 edits', '500 edits', '200 edits']);
});

test('the subject names the resource and its version', async () => {
  const { clock, repository, find } = openTargets();
  find('site', targetAt());
  await clock.pass(minuteMs);
  assert.deepEqual(repository.subjects, ['docs: publish docs/site 20260105-120000-aaaaaaaa']);
});

test('a new version is pushed in the next window, and the older one is not', async () => {
  const { clock, repository, find } = openTargets();
  find('site', targetAt());
  await clock.pass(2_000);
  find('site', targetAt(), '20260105-130000-bbbbbbbb');
  await clock.pass(minuteMs);
  assert.equal(repository.commits, 1);
  assert.deepEqual(repository.read('a.yaml'), { version: '20260105-130000-bbbbbbbb' });
});

test('a push of other values that began is not a revert, also when it reached no status', async () => {
  const { clock, repository, find } = openTargets();
  const back = (): GitReading => find('site', targetAt(), undefined, undefined, true);
  find('site', targetAt());
  await clock.pass(minuteMs);
  find('site', targetAt(), '20260105-130000-bbbbbbbb');
  await clock.pass(10_250);
  find('site', targetAt(), '20260105-140000-cccccccc');
  await clock.pass(2000);
  assert.deepEqual(back(), { kind: 'pending' });
  await clock.pass(minuteMs);
  assert.deepEqual([back().kind, repository.pushes], ['held', 3]);
  assert.deepEqual(repository.read('a.yaml'), { version: '20260105-120000-aaaaaaaa' });
});

test('a push of other values that never began hides no revert', async () => {
  const { clock, repository, find } = openTargets();
  const back = (): GitReading => find('site', targetAt(), undefined, undefined, true);
  find('site', targetAt());
  await clock.pass(minuteMs);
  repository.write('a.yaml', { version: 'by-hand' });
  find('site', targetAt(), '20260105-130000-bbbbbbbb');
  await clock.pass(2000);
  back();
  await clock.pass(minuteMs);
  assert.deepEqual([back().kind, repository.pushes], ['reverted', 1]);
});

test('forgotten targets are not pushed, and their repository is not read again', async () => {
  const { clock, repository, targets, find } = openTargets();
  find('site', targetAt());
  targets.keep({ namespace: 'docs', name: 'site' }, []);
  await clock.pass(60 * minuteMs);
  assert.equal(repository.tasks.length, 0);
  assert.equal(clock.waiting(), 0);
});

test('a Secret that cannot be read is a failure of its repository alone', async () => {
  const refused = new ClusterError('Forbidden', 'secrets "git" is forbidden');
  const { clock, repository, outcomes, find } = openTargets({
    readSecret: ({ namespace }) =>
      namespace === 'docs' ? Promise.reject(refused) : Promise.resolve(undefined),
  });
  find('site', targetAt());
  find('site', targetAt(), undefined, 'other');
  await clock.pass(minuteMs);
  assert.equal(repository.tasks.length, 0);
  assert.deepEqual([...new Set(outcomes)].sort(), ['CredentialsMissing', 'Forbidden']);
  const found = find('site', targetAt());
  assert.deepEqual(found, { kind: 'failed', code: 'Forbidden', message: 'secrets "git" is forbidden' });
});

test('a token that expires is counted at each check, and shown once, while the target stays held', async () => {
  const { clock, repository, woken, outcomes, find } = openTargets();
  find('site', targetAt());
  await clock.pass(minuteMs);
  const found = find('site', targetAt());
  repository.failure = 'Unauthorized';
  await clock.pass(120 * minuteMs);
  assert.deepEqual(find('site', targetAt()), {
    ...found,
    unread: 'Unauthorized: it failed; check the git server',
  });
  assert.equal(woken.length, 2, 'one wake for the push, one for the failure');
  const failed = outcomes.filter((outcome) => outcome === 'Unauthorized');
  assert.ok(failed.length >= 20, `${failed.length} failures counted`);
  repository.failure = undefined;
  await clock.pass(6 * minuteMs);
  assert.deepEqual([find('site', targetAt()), woken.length], [found, 3]);
});

test('a host that fails in turn for different reasons is shown once, and not for one failure', async () => {
  const { clock, repository, woken, find } = openTargets();
  const unread = (): string | undefined => find('site', targetAt()).unread?.split(':')[0];
  find('site', targetAt());
  await clock.pass(minuteMs);
  const shown: (string | undefined)[] = [];
  const codes = [
    'Unreachable',
    undefined,
    'Timeout',
    'Unreachable',
    'Timeout',
    'Unreachable',
    'Timeout',
  ] as const;
  for (const code of [...codes, 'Timeout', 'Unauthorized', 'Unauthorized', undefined] as const) {
    repository.failure = code;
    // The random fraction is a half, so a check comes every 5.25 minutes.
    await clock.pass(5.25 * minuteMs + 500);
    shown.push(unread());
  }
  assert.deepEqual(shown, [
    ...[undefined, undefined, undefined],
    ...['Unreachable', 'Unreachable', 'Unreachable', 'Unreachable'],
    ...['Timeout', 'Timeout', 'Unauthorized', undefined],
  ]);
  assert.equal(woken.length, 1 + 4);
});

test('a repository whose files cannot be fetched after another push is shown once', async () => {
  const { clock, repository, woken, find } = openTargets();
  find('site', targetAt());
  await clock.pass(minuteMs);
  repository.write('other.yaml', { version: 'of others' });
  repository.fetchFailure = 'RepositoryTooLarge';
  await clock.pass(60 * minuteMs);
  assert.match(find('site', targetAt()).unread ?? '', /^RepositoryTooLarge: /);
  assert.equal(woken.length, 2);
});

test('a Secret that is deleted after the push is shown, while the target stays held', async () => {
  let isGone = false;
  const { clock, outcomes, find } = openTargets({
    readSecret: (key) => Promise.resolve(isGone ? undefined : secretOf(key)),
  });
  find('site', targetAt());
  await clock.pass(minuteMs);
  isGone = true;
  await clock.pass(10 * minuteMs);
  const { kind, unread } = find('site', targetAt());
  assert.equal(kind, 'held');
  assert.match(unread ?? '', /^CredentialsMissing: the Secret git does not exist/);
  assert.ok(outcomes.includes('CredentialsMissing'));
});

test('a fault of the operator itself is repeated with a back-off, and its text is not published', async () => {
  const { clock, outcomes, find } = openTargets({
    settings: () => Promise.reject(new Error('a text with a token')),
  });
  find('site', targetAt());
  await clock.pass(30 * minuteMs);
  assert.ok(outcomes.length > 4 && outcomes.length < 12, String(outcomes.length));
  assert.ok(!JSON.stringify(find('site', targetAt())).includes('a text with a token'));
});

test('the end of the process ends what waits and what runs', async () => {
  const { clock, repository, process, woken, find } = openTargets();
  repository.isHanging = true;
  find('site', targetAt());
  find('later', targetAt({ url: 'https://git.example.com/later.git' }));
  await clock.pass(11_000);
  process.abort();
  await clock.pass(60 * minuteMs);
  assert.equal(clock.waiting(), 0);
  assert.deepEqual(woken, []);
});
