// Git targets through the whole reconcile: what the scenarios of test/simulation/git-scenarios.ts do not play. Failures
// concern their target alone and are retried, and no repository is asked that need not or may not be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { mirrorSpec } from '../../../../simulation/fake-mirror.ts';
import type { FakeRepository } from '../../../../simulation/fake-repository.ts';
import { gitPath as path, pullRequestBranch } from '../../../../simulation/git-target.ts';
import { Simulation } from '../../../../simulation/simulation.ts';

const minuteMs = 60_000;
const url = 'https://git.example.com/team/fleet.git';
const secret = { namespace: 'docs', name: 'fleet-git' };
const fleet = { url, path, secretRef: { name: secret.name } };
const targetsOf = (git: object = {}, target: object = {}): Record<string, unknown> => ({
  targets: [{ name: 'fleet', type: 'Git', git: { ...fleet, ...git }, ...target }],
});

interface Environment {
  readonly simulation: Simulation;
  readonly repository: FakeRepository;
}

/** A published resource, before the push of its version. */
async function openPublished(
  spec: object = targetsOf(),
  arrange: (environment: Environment) => void = () => {},
): Promise<Environment> {
  const simulation = new Simulation({ git: 'branch', spec: { ...spec } });
  const { repository } = simulation.owned.git ?? assert.fail();
  const environment = { simulation, repository };
  arrange(environment);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return environment;
}

const stateOf = (simulation: Simulation) => simulation.status().targets?.[0];
const versionOf = (simulation: Simulation) => simulation.output()?.['version'];
const exportOther = (simulation: Simulation): void => {
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'second' });
};

test('the version is pushed once, and a branch that stays as it is is compared by its heads alone', async () => {
  const { simulation, repository } = await openPublished();
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/Pending');
  assert.equal(simulation.condition('Ready'), 'True/Published', 'the status does not wait for the push');
  await simulation.run(60 * minuteMs);
  assert.equal(stateOf(simulation)?.heldVersion, versionOf(simulation));
  assert.match(stateOf(simulation)?.message ?? '', /^commit 0/);
  assert.deepEqual([repository.commits, repository.tasks.length], [1, 1]);
  assert.ok(repository.headsRead >= 9 && repository.headsRead <= 12, String(repository.headsRead));
});

test('a pin of the version that another commit put back ends the contest', async () => {
  const { simulation, repository } = await openPublished();
  await simulation.run(2 * minuteMs);
  const first = versionOf(simulation);
  exportOther(simulation);
  await simulation.run(30 * minuteMs);
  assert.notEqual(versionOf(simulation), first);
  repository.write(path, { version: first ?? '' });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  simulation.editSpec({ pin: { version: first } });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.pushes, 2);
});

test('a spec that is changed during a contest is written, also by a new process', async () => {
  const { simulation, repository } = await openPublished();
  await simulation.run(2 * minuteMs);
  repository.write(path, { version: 'by-hand' });
  await simulation.run(10 * minuteMs);
  assert.match(stateOf(simulation)?.message ?? '', /another commit/);
  simulation.editSpec({ historyLimit: 7 });
  await simulation.step();
  simulation.restart();
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.read(path)?.version, versionOf(simulation));
});

test('a push whose answer was lost is not a revert when the version before is wanted again', async () => {
  const { simulation, repository } = await openPublished();
  await simulation.run(2 * minuteMs);
  const first = versionOf(simulation);
  exportOther(simulation);
  await simulation.run(30 * minuteMs);
  const second = versionOf(simulation);
  const push = repository.push.bind(repository);
  repository.push = async (...task) => {
    await push(...task);
    throw new PublishableError('Timeout', 'no answer; check the git server');
  };
  simulation.editSpec({ pin: { version: first } });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'False/PushFailed');
  assert.equal(repository.read(path)?.version, first);
  const { version, written } = stateOf(simulation) ?? {};
  assert.deepEqual([version, written], [second, undefined], 'neither version is known to be there');
  repository.push = push;
  simulation.editSpec({ pin: { version: second } });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.read(path)?.version, second);
});

test('a contest that lasts writes no status, also after a restart', async () => {
  const { simulation, repository } = await openPublished();
  await simulation.run(2 * minuteMs);
  repository.write(path, { version: 'by-hand' });
  await simulation.run(10 * minuteMs);
  const contested = stateOf(simulation);
  assert.equal(contested?.reason, 'Contested');
  simulation.restart();
  await simulation.run(60 * minuteMs);
  assert.deepEqual(stateOf(simulation), contested);
});

test('a failed push is repeated with a back-off until it succeeds, and no credential is shown', async () => {
  const { simulation, repository } = await openPublished(targetsOf(), (environment) => {
    environment.repository.failure = 'Unauthorized';
  });
  await simulation.run(60 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  assert.ok(repository.tasks.length > 8 && repository.tasks.length < 24, String(repository.tasks.length));
  const shown = JSON.stringify([simulation.status(), simulation.events, simulation.logs]);
  assert.ok(!shown.includes('token-of-fleet'));
  repository.failure = undefined;
  await simulation.run(7 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a token that expires is in the message of a synced target, by one write of the status', async () => {
  const { simulation, repository } = await openPublished(targetsOf(), ({ simulation: { vendor } }) => {
    vendor.linkLifetimeMs = 7 * 24 * 60 * minuteMs;
  });
  await simulation.run(2 * minuteMs);
  const before = stateOf(simulation);
  repository.failure = 'Unauthorized';
  await simulation.run(7 * minuteMs);
  const { writes } = simulation.cluster;
  const count = writes.length;
  await simulation.run(50 * minuteMs);
  assert.equal(writes.length, count, 'a failure that lasts is written once');
  assert.deepEqual(stateOf(simulation), {
    ...before,
    message: `${before?.message}. The last check failed. Unauthorized: it failed; check the git server`,
  });
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  repository.failure = undefined;
  await simulation.run(7 * minuteMs);
  assert.deepEqual(stateOf(simulation), before);
});

test('a pull-request branch that is added before the first push gets it, and waits for its merge', async () => {
  const { simulation, repository } = await openPublished();
  repository.failure = 'ProtectedBranch';
  await simulation.run(1.5 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  repository.failure = undefined;
  simulation.editSpec(targetsOf({ pullRequestBranch }));
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
  assert.match(stateOf(simulation)?.message ?? '', /static-export\/docs waits for its merge into main/);
  assert.equal(repository.read(path, pullRequestBranch)?.version, versionOf(simulation));
  assert.equal(repository.read(path), undefined);
});

test('a version without a copy withdraws the push of the version before', async () => {
  const mirror = { ...mirrorSpec, policy: 'BestEffort' };
  const spec = { ...targetsOf({}, { write: ['version', 'ref'] }), mirror };
  const { simulation, repository } = await openPublished(spec);
  await simulation.run(2 * minuteMs);
  const before = repository.read(path);
  assert.equal(before?.version, versionOf(simulation));
  simulation.mirror.failing = 'Unreachable';
  exportOther(simulation);
  await simulation.until(() => versionOf(simulation) !== before?.version, 60 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingCopy');
  repository.write(path, {});
  await simulation.run(10 * minuteMs);
  assert.deepEqual(repository.read(path), {}, 'nothing is pushed while the target waits');
  simulation.mirror.failing = undefined;
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 60 * minuteMs);
  const { version, digest, ref } = simulation.status().active ?? {};
  assert.deepEqual(repository.read(path), { version, digest, ref });
});

for (const wrong of ['https://git.example.com:99999/x', 'https://1.2.3.4.5/x', 'https://a<b/c']) {
  test(`the URL ${wrong}, which cannot be called, concerns its target alone`, async () => {
    const { simulation } = await openPublished(targetsOf({ url: wrong }));
    await simulation.run(2 * minuteMs);
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(stateOf(simulation)?.reason, 'PushFailed');
    assert.match(stateOf(simulation)?.message ?? '', /^InvalidUrl: .* write it as https:\/\/HOST\/PATH$/);
  });
}

test('a host that the operator does not allow is never asked', async () => {
  const elsewhere = 'https://other.example.com/team/fleet.git';
  const { simulation, repository } = await openPublished(targetsOf({ url: elsewhere }));
  await simulation.run(30 * minuteMs);
  assert.equal(repository.tasks.length, 0);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  assert.match(stateOf(simulation)?.message ?? '', /^HostNotAllowed: .*other\.example\.com.*allowedHosts/);
});

test('a dry run pushes nothing and shows the keys', async () => {
  const { simulation, repository } = await openPublished(targetsOf({}, { mode: 'DryRun' }));
  await simulation.run(30 * minuteMs);
  assert.equal(repository.commits, 0);
  const value = versionOf(simulation);
  assert.deepEqual(stateOf(simulation)?.changes, [{ key: 'staticExport.version', value }]);
});

test('a Secret without credentials is named, and its correction is found', async () => {
  const { simulation } = await openPublished(targetsOf(), ({ simulation: { cluster } }) =>
    cluster.putSecret(secret, { user: 'x' }),
  );
  await simulation.run(2 * minuteMs);
  const missing = /^CredentialsMissing: the Secret fleet-git has no token and no password/;
  assert.match(stateOf(simulation)?.message ?? '', missing);
  simulation.cluster.putSecret(secret, { token: 'a' });
  await simulation.run(7 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a suspended resource pushes nothing', async () => {
  const { simulation, repository } = await openPublished();
  simulation.editSpec({ suspend: true });
  await simulation.run(60 * minuteMs);
  assert.equal(repository.commits, 0);
  simulation.editSpec({ suspend: false });
  await simulation.run(2 * minuteMs);
  assert.equal(repository.commits, 1);
});
