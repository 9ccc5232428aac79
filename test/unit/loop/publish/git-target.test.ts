// Git targets through the whole reconcile: one commit for each version, no commit where nothing changes, and no link or
// status that waits for a git server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GitTargets } from '../../../../src/loop/ports.ts';
import { createGitTargets } from '../../../../src/services/git-targets.ts';
import { mirrorSpec } from '../../../simulation/fake-mirror.ts';
import { FakeRepository } from '../../../simulation/fake-repository.ts';
import { Simulation } from '../../../simulation/simulation.ts';

const minuteMs = 60_000;
const path = 'clusters/prod/values.yaml';
const url = 'https://git.example.com/team/fleet.git';
const bestEffort = { ...mirrorSpec, policy: 'BestEffort' };
const fleet = { url, path, secretRef: { name: 'fleet-git' } };

interface World {
  readonly simulation: Simulation;
  readonly repository: FakeRepository;
}

async function publishedWorld(
  git: Record<string, unknown> = {},
  {
    arrange = () => {},
    allowedHosts = ['git.example.com'],
    mirror,
    ...target
  }: {
    readonly arrange?: (world: World) => void;
    readonly allowedHosts?: readonly string[];
    readonly mode?: string;
    readonly write?: readonly string[];
    readonly mirror?: object;
  } = {},
): Promise<World> {
  let opened: { readonly targets: GitTargets; readonly signal: AbortSignal } | undefined;
  let repository: FakeRepository | undefined;
  const simulation = new Simulation({
    spec: {
      targets: [{ name: 'fleet', type: 'Git', git: { ...fleet, ...git }, ...target }],
      ...(mirror !== undefined && { mirror }),
    },
    bend: (context) => {
      repository ??= new FakeRepository(context.clock);
      const { signal } = context.memory;
      // One for each process.
      if (opened?.signal === signal) return { ...context, git: opened.targets };
      const targets = createGitTargets({
        clock: context.clock,
        random: context.random,
        pusher: repository,
        settings: () =>
          Promise.resolve({
            allowPrivateAddresses: false,
            userAgent: 'test',
            limits: { maxBytes: 1, deadlineMs: 1 },
          }),
        allowedHosts,
        readSecret: (key, signal) => context.cluster.readSecret(key, signal),
        wake: context.wake,
        observe: () => {},
        signal,
      });
      opened = { targets, signal };
      return { ...context, git: targets };
    },
  });
  simulation.hasBackground = true;
  simulation.cluster.putSecret({ namespace: 'docs', name: 'fleet-git' }, { token: 'token-of-fleet' });
  simulation.context();
  assert.ok(repository);
  const world = { simulation, repository };
  arrange(world);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return world;
}

const stateOf = ({ simulation }: World) => simulation.status().targets?.[0];
const versionOf = ({ simulation }: World) => simulation.output()?.['version'];

test('the version is pushed after ten seconds, once, and the target is synced', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/Pending');
  assert.equal(simulation.condition('Ready'), 'True/Published', 'the status does not wait for the push');
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 2 * minuteMs);
  assert.equal(repository.read(path)?.version, versionOf(world));
  await simulation.run(24 * 60 * minuteMs);
  assert.equal(repository.commits, 1);
  assert.equal(stateOf(world)?.heldVersion, versionOf(world));
  assert.match(stateOf(world)?.message ?? '', /^commit 0/);
});

test('an unmoved repository is compared by its heads alone', async () => {
  const { simulation, repository } = await publishedWorld();
  await simulation.run(60 * minuteMs);
  assert.equal(repository.tasks.length, 1);
  assert.ok(repository.headsRead >= 9 && repository.headsRead <= 12, String(repository.headsRead));
});

test('what another commit replaced is contested, and written again only with a new spec', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  repository.write(path, { version: 'rolled-back-by-hand' });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  assert.match(stateOf(world)?.message ?? '', /another commit/);
  await simulation.run(120 * minuteMs);
  assert.equal(repository.read(path)?.version, 'rolled-back-by-hand');
  simulation.editSpec({ historyLimit: 7 });
  await simulation.run(2 * minuteMs);
  assert.equal(repository.read(path)?.version, versionOf(world));
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

for (const isRestarted of [false, true]) {
  test(`a contested file that is corrected ${isRestarted ? 'before a restart ' : ''}is synced again, without a push`, async () => {
    const world = await publishedWorld();
    const { simulation, repository } = world;
    await simulation.run(2 * minuteMs);
    repository.write(path, { version: 'by-hand' });
    await simulation.run(10 * minuteMs);
    const contested = stateOf(world);
    assert.equal(contested?.reason, 'Contested');
    repository.write('other.yaml', { version: 'of others' });
    if (isRestarted) simulation.restart();
    await simulation.run(60 * minuteMs);
    assert.deepEqual(stateOf(world), contested, 'a contest that lasts writes no status');
    repository.write(path, { version: versionOf(world) ?? '' });
    if (isRestarted) simulation.restart();
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
    assert.equal(repository.pushes, 1);
    // Another revert is another contest.
    repository.write(path, { version: 'by-hand' });
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  });
}

test('a pin of the version that another commit put back ends the contest', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  const first = versionOf(world);
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'second' });
  await simulation.run(30 * minuteMs);
  assert.notEqual(versionOf(world), first);
  repository.write(path, { version: first ?? '' });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  simulation.editSpec({ pin: { version: first } });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.pushes, 2);
});

test('a spec that is changed during a contest is written, also by a new process', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  repository.write(path, { version: 'by-hand' });
  await simulation.run(10 * minuteMs);
  simulation.editSpec({ historyLimit: 7 });
  await simulation.step();
  simulation.restart();
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.read(path)?.version, versionOf(world));
});

test('a restarted operator neither pushes again nor overwrites a revert', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  simulation.restart();
  await simulation.run(10 * minuteMs);
  assert.equal(repository.commits, 1);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  repository.write(path, { version: 'by-hand' });
  simulation.restart();
  await simulation.run(10 * minuteMs);
  assert.equal(repository.pushes, 1);
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
});

test('a git server that hangs delays no link and no status', async () => {
  const world = await publishedWorld({}, { arrange: ({ repository }) => (repository.isHanging = true) });
  const { simulation } = world;
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.run(3 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  assert.match(stateOf(world)?.message ?? '', /^Timeout: /);
  const issued = simulation.callsOf('issue');
  await simulation.run(24 * 60 * minuteMs);
  assert.ok(simulation.callsOf('issue') > issued);
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
});

test('a failed push is repeated with a back-off until it succeeds', async () => {
  const { simulation, repository } = await publishedWorld(
    {},
    { arrange: (world) => (world.repository.failure = 'Unauthorized') },
  );
  await simulation.run(60 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  assert.ok(repository.tasks.length > 8 && repository.tasks.length < 24, String(repository.tasks.length));
  repository.failure = undefined;
  await simulation.run(7 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('what a branch holds stays synced while its host is down', async () => {
  const { simulation, repository } = await publishedWorld();
  await simulation.run(2 * minuteMs);
  repository.failure = 'Unreachable';
  await simulation.run(60 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a token that expires is in the message of a synced target, by one write of the status', async () => {
  const arrange = ({ simulation: { vendor } }: World): void => {
    vendor.linkLifetimeMs = 7 * 24 * 60 * minuteMs;
  };
  const world = await publishedWorld({}, { arrange });
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  const before = stateOf(world);
  repository.failure = 'Unauthorized';
  await simulation.run(7 * minuteMs);
  const { writes } = simulation.cluster;
  const count = writes.length;
  await simulation.run(50 * minuteMs);
  assert.equal(writes.length, count, 'a failure that lasts is written once');
  assert.deepEqual(stateOf(world), {
    ...before,
    message: `${before?.message}. The last check failed. Unauthorized: it failed; check the git server`,
  });
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  repository.failure = undefined;
  await simulation.run(7 * minuteMs);
  assert.deepEqual(stateOf(world), before);
});

test('a pull-request branch awaits its merge', async () => {
  const world = await publishedWorld({ pullRequestBranch: 'static-export/docs' });
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
  assert.match(stateOf(world)?.message ?? '', /static-export\/docs waits for its merge into main/);
  assert.equal(repository.read(path), undefined);
  repository.merge('static-export/docs');
  await simulation.run(7 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.doesNotMatch(stateOf(world)?.message ?? '', /waits for its merge/);
  assert.equal(repository.commits, 2);
});

const editsOfTarget: readonly (readonly [name: string, git: object, target: object, keyPath: string[]])[] = [
  ['the key path', { keyPath: ['site', 'docs'] }, {}, ['site', 'docs']],
  ['the written keys', {}, { write: ['version', 'digest'] }, ['staticExport']],
];
for (const [name, git, target, keyPath] of editsOfTarget) {
  test(`an edit of ${name} is written, and accuses no other client`, async () => {
    const world = await publishedWorld();
    const { simulation, repository } = world;
    await simulation.run(2 * minuteMs);
    simulation.editSpec({ targets: [{ name: 'fleet', type: 'Git', git: { ...fleet, ...git }, ...target }] });
    await simulation.step();
    assert.equal(
      simulation.condition('TargetsSynced'),
      'Unknown/Pending',
      'what is not written is not synced',
    );
    await simulation.run(2 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
    const { version, digest } = simulation.status().active ?? {};
    const wanted = { version, ...('write' in target && { digest }) };
    assert.deepEqual(repository.read(path, 'main', keyPath), wanted);
    assert.deepEqual(stateOf(world)?.written, { branch: 'main', keyPath, keys: Object.keys(wanted) });
    // There, a revert is one.
    simulation.restart();
    repository.write(path, { version: 'by-hand' }, keyPath);
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  });
}

test('a reference that changed alone is pushed, and a revert of it is contested', async () => {
  const world = await publishedWorld({}, { write: ['ref'], mirror: mirrorSpec });
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  const { digest = '', ref } = simulation.status().active ?? {};
  assert.equal(ref, simulation.mirror.refOf(digest));
  assert.deepEqual(repository.read(path), { digest, ref });
  const moved = 'registry.test/docs/moved';
  simulation.editSpec({ mirror: { oci: { ...mirrorSpec.oci, repository: moved } } });
  await simulation.run(10 * minuteMs);
  const next = simulation.mirror.refOf(digest, `oci://${moved}`);
  assert.deepEqual(repository.read(path), { digest, ref: next });
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.pushes, 2);
  assert.equal(repository.overwritten, 0);
  assert.equal(stateOf(world)?.ref, next);
  simulation.restart();
  repository.write(path, { digest, ref: 'oci://by-hand' });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  assert.equal(repository.pushes, 2);
});

test('a version without a copy withdraws the push of the version before', async () => {
  const world = await publishedWorld({}, { write: ['version', 'ref'], mirror: bestEffort });
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  const before = repository.read(path);
  assert.equal(before?.version, versionOf(world));
  simulation.mirror.failing = 'Unreachable';
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'second' });
  await simulation.until(() => versionOf(world) !== before?.version, 60 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingCopy');
  repository.write(path, {});
  await simulation.run(10 * minuteMs);
  assert.deepEqual(repository.read(path), {}, 'nothing is pushed while the target waits');
  simulation.mirror.failing = undefined;
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 60 * minuteMs);
  const { version, digest, ref } = simulation.status().active ?? {};
  assert.deepEqual(repository.read(path), { version, digest, ref });
});

test('a pull-request branch that is removed before its merge is pushed to the branch', async () => {
  const world = await publishedWorld({ pullRequestBranch: 'static-export/docs' });
  const { simulation, repository } = world;
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
  simulation.editSpec({ targets: [{ name: 'fleet', type: 'Git', git: fleet }] });
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(repository.read(path)?.version, versionOf(world));
});

test('a pull-request branch that is added before the first push gets it', async () => {
  const world = await publishedWorld();
  const { simulation, repository } = world;
  repository.failure = 'ProtectedBranch';
  await simulation.run(1.5 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  repository.failure = undefined;
  const git = { ...fleet, pullRequestBranch: 'static-export/docs' };
  simulation.editSpec({ targets: [{ name: 'fleet', type: 'Git', git }] });
  await simulation.run(2 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
  assert.equal(repository.read(path, 'static-export/docs')?.version, versionOf(world));
});

test('a dry run pushes nothing and shows the keys', async () => {
  const world = await publishedWorld({}, { mode: 'DryRun' });
  const { simulation, repository } = world;
  await simulation.run(30 * minuteMs);
  assert.equal(repository.commits, 0);
  assert.deepEqual(stateOf(world)?.changes, [{ key: 'staticExport.version', value: versionOf(world) }]);
});

test('a host that the operator does not allow is never asked', async () => {
  const world = await publishedWorld({}, { allowedHosts: ['other.example.com'] });
  const { simulation, repository } = world;
  await simulation.run(30 * minuteMs);
  assert.equal(repository.tasks.length, 0);
  assert.equal(simulation.condition('TargetsSynced'), 'False/PushFailed');
  assert.match(stateOf(world)?.message ?? '', /^HostNotAllowed: .*git\.example\.com.*allowedHosts/);
});

test('a URL that cannot be called concerns its target alone', async () => {
  for (const wrong of ['https://git.example.com:99999/x', 'https://1.2.3.4.5/x', 'https://a<b/c']) {
    const world = await publishedWorld({ url: wrong });
    await world.simulation.run(2 * minuteMs);
    assert.equal(world.simulation.condition('Ready'), 'True/Published', wrong);
    assert.equal(stateOf(world)?.reason, 'PushFailed');
    assert.match(stateOf(world)?.message ?? '', /^InvalidUrl: .* write it as https:\/\/HOST\/PATH$/);
  }
});

test('a Secret without credentials is named, and its correction is found', async () => {
  const world = await publishedWorld(
    {},
    {
      arrange: ({ simulation }) =>
        simulation.cluster.putSecret({ namespace: 'docs', name: 'fleet-git' }, { user: 'x' }),
    },
  );
  const { simulation } = world;
  await simulation.run(2 * minuteMs);
  assert.match(
    stateOf(world)?.message ?? '',
    /^CredentialsMissing: the Secret fleet-git has no token and no password/,
  );
  simulation.cluster.putSecret({ namespace: 'docs', name: 'fleet-git' }, { token: 'a' });
  await simulation.run(7 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a suspended resource pushes nothing', async () => {
  const { simulation, repository } = await publishedWorld();
  simulation.editSpec({ suspend: true });
  await simulation.run(60 * minuteMs);
  assert.equal(repository.commits, 0);
  simulation.editSpec({ suspend: false });
  await simulation.run(2 * minuteMs);
  assert.equal(repository.commits, 1);
});

test('status and logs hold no credential', async () => {
  const { simulation } = await publishedWorld(
    {},
    { arrange: (world) => (world.repository.failure = 'Unauthorized') },
  );
  await simulation.run(10 * minuteMs);
  const shown = JSON.stringify([simulation.status(), simulation.events, simulation.logs]);
  assert.ok(!shown.includes('token-of-fleet'));
});
