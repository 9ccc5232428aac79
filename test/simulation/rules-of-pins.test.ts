// The rules of pins as short scenarios without randomness: an older version, a job started elsewhere, and what
// continues while that job is polled. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectShapes } from './object-troubles.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

test('pin: an older version is published again, its link is refreshed, and nothing is exported meanwhile', async () => {
  const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
  const first = simulation.output()?.['version'];
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  const starts = simulation.callsOf('start');
  simulation.editSpec({ pin: { version: first } });
  await simulation.step();
  await simulation.until(() => simulation.condition('Ready') === 'True/Pinned', minuteMs);
  assert.equal(simulation.output()?.['version'], first);
  request(simulation, 'while pinned');
  await simulation.run(5 * hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.callsOf('start'), starts);
  assert.match(
    simulation.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /waits until spec\.pin is removed/,
  );
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(simulation.status().lastHandledRequest, 'while pinned');
});

test('pin: its removal names the newer version, and an export gives that content a new version', async () => {
  const simulation = await publishedSimulation();
  const first = simulation.output()?.['version'];
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  const second = simulation.output()?.['version'] ?? '';
  simulation.editSpec({ pin: { version: first } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Pinned', minuteMs);
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', minuteMs);
  const ready = simulation.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.ok(ready.includes(`${second} is newer`), ready);
  request(simulation, 'third');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  const third = simulation.status().active?.version ?? '';
  assert.ok(third > second, 'versions sort by the time of their export');
  const digests = simulation.status().history?.map(({ digest }) => digest);
  assert.equal(new Set(digests).size, 2, 'the content of the second and the third is one');
  assert.deepEqual(
    simulation.events.map(({ reason }) => reason).filter((reason) => reason !== 'ExportStarted'),
    ['Promoted', 'Promoted', 'Pinned', 'Unpinned', 'Promoted'],
  );
});

test('pin: a job started elsewhere is polled and published without promotion gates', async () => {
  const simulation = await publishedSimulation({ spec: { promotion: { mode: 'Auto' } } });
  simulation.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 1 });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId } });
  await simulation.until(() => simulation.status().active?.jobId === jobId);
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
  assert.equal(simulation.callsOf('start'), 1);
});

test('pin: a job that exceeds its timeout is published when it completes later', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '10m' } });
  simulation.vendor.jobMs = 40 * minuteMs;
  simulation.vendor.contents.set('docs.example.com', { name: 'slow', pages: 20 });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId } });
  await simulation.run(15 * minuteMs);
  assert.equal(simulation.condition('Stalled'), 'True/PinnedJobFailed');
  await simulation.until(() => simulation.status().active?.jobId === jobId);
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
});

test('pin: a job that was running before the pin does not time out while it is not polled, and is polled again later', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '10m' } });
  const first = simulation.output()?.['version'];
  simulation.vendor.jobMs = 15 * minuteMs;
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  await simulation.until(() => simulation.callsOf('start') === 2);
  const reported = simulation.events.length;
  simulation.editSpec({ pin: { version: first } });
  await simulation.run(2 * hourMs);
  assert.equal(simulation.condition('Exported'), 'True/Promoted');
  assert.deepEqual(
    simulation.events.slice(reported).map(({ reason }) => reason),
    ['Pinned'],
  );
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(simulation.callsOf('start'), 2);
});

test('pin: a pinned job does not time out while the resource is suspended', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '10m' } });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId }, suspend: true });
  await simulation.run(48 * hourMs);
  simulation.editSpec({ suspend: false });
  await simulation.until(() => simulation.status().active?.jobId === jobId, 10 * minuteMs);
});

test('pin: a job that does not exist stalls the resource and keeps the published version', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['version'];
  for (const [pin, reason] of [
    [{ version: '20200101-000000-00000000' }, 'PinnedVersionUnknown'],
    [{ jobId: 'se_nowhere' }, 'PinnedJobGone'],
  ] as const) {
    simulation.editSpec({ pin });
    await simulation.run(hourMs);
    assert.equal(simulation.condition('Stalled'), `True/${reason}`);
    assert.equal(simulation.output()?.['version'], before);
    assert.ok(simulation.isLinkValid());
  }
  assert.equal(simulation.callsOf('start'), 1);
});

test('pin: a hanging archive reader is stopped at its timeout, and no later write comes early', async () => {
  const simulation = await publishedSimulation();
  const first = simulation.output()?.['version'];
  // Only the reader can cause a write.
  simulation.vendor.linkLifetimeMs = 24 * hourMs;
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  let hangs = 1;
  simulation.faults = {
    next: (call) => {
      if (call !== 'bundles.inspect' || hangs === 0) return 'none';
      hangs -= 1;
      return 'lost';
    },
  };
  simulation.editSpec({ pin: { version: first } });
  await simulation.until(() => hangs === 0, minuteMs);
  const oracles = new Oracles(simulation);
  await simulation.run(hourMs, (step) => oracles.check(step));
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
  assert.equal(simulation.output()?.['version'], first);
});

for (const shape of new Set(objectShapes)) {
  if (shape === undefined) continue;
  test(`pin: a rollback reaches a target of the shape ${shape}, and a suspension leaves it as it is`, async () => {
    const simulation = new Simulation({ object: shape });
    const { object } = simulation.owned;
    const { objects } = simulation.cluster;
    const oracles = new Oracles(simulation);
    const run = (): Promise<void> => simulation.run(hourMs, (step) => oracles.check(step));
    const versionOf = (): string | undefined => simulation.output()?.['version'];
    const exportAgain = (name: string): void => {
      simulation.vendor.contents.set('docs.example.com', { name, pages: 20 });
      request(simulation, name);
    };
    const assertLive = async (version: string | undefined): Promise<void> => {
      await run();
      assert.equal(object?.live, version ?? versionOf());
      assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
      assert.equal(simulation.status().targets?.[0]?.heldVersion, object?.live);
    };

    await assertLive(undefined);
    const first = versionOf();
    exportAgain('second');
    await assertLive(undefined);
    const second = versionOf();
    assert.notEqual(second, first);

    simulation.editSpec({ suspend: true, pin: { version: first } });
    const written = objects.writes.length;
    await assertLive(second);
    object?.replace();
    await run();
    assert.equal(objects.writes.length, written, 'a suspended resource wrote an object');

    simulation.editSpec({ suspend: false });
    await assertLive(first);
    exportAgain('third');
    await assertLive(first);
    simulation.editSpec({ pin: undefined });
    await assertLive(undefined);
    assert.ok(![first, second].includes(versionOf()), 'the request that waited is a new version');
  });
}
