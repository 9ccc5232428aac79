// What a pin asks of a resource, as short stories without chance: an older version, a job from elsewhere, and what goes on
// while it is being followed. One thing happens to a resource in each, and what must be seen of it is asserted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';

test('pin: an older version is published again, kept alive, and nothing is exported meanwhile', async () => {
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
  await simulation.run(5 * hourMs, () => assert.ok(simulation.isLinkLive()));
  assert.equal(simulation.callsOf('start'), starts);
  assert.match(
    simulation.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /waits until spec\.pin is removed/,
  );
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(simulation.status().lastHandledRequest, 'while pinned');
});

test('pin: taking it away says which newer version was left, and an export names its content anew', async () => {
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

test('pin: a job started elsewhere is followed and published, past any gate', async () => {
  const simulation = await publishedSimulation({ spec: { promotion: { mode: 'Auto' } } });
  simulation.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 1 });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId } });
  await simulation.until(() => simulation.status().active?.jobId === jobId);
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
  assert.equal(simulation.callsOf('start'), 1);
});

test('pin: a job that outlasts its timeout is published when it completes after all', async () => {
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

test('pin: a job that ran when the pin came does not time out unasked, and is followed again after it', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '10m' } });
  const first = simulation.output()?.['version'];
  simulation.vendor.jobMs = 15 * minuteMs;
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  await simulation.until(() => simulation.callsOf('start') === 2);
  const told = simulation.events.length;
  simulation.editSpec({ pin: { version: first } });
  await simulation.run(2 * hourMs);
  assert.equal(simulation.condition('Exported'), 'True/Promoted');
  assert.deepEqual(
    simulation.events.slice(told).map(({ reason }) => reason),
    ['Pinned'],
  );
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(simulation.callsOf('start'), 2);
});

test('pin: time does not run out on a pinned job while the resource is suspended', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '10m' } });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId }, suspend: true });
  await simulation.run(48 * hourMs);
  simulation.editSpec({ suspend: false });
  await simulation.until(() => simulation.status().active?.jobId === jobId, 10 * minuteMs);
});

test('pin: what does not exist stalls and leaves the published version alone', async () => {
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
    assert.ok(simulation.isLinkLive());
  }
  assert.equal(simulation.callsOf('start'), 1);
});

test('pin: a reader of its archive that hangs has its time, and what is written after it comes before no time', async () => {
  const simulation = await publishedSimulation();
  const first = simulation.output()?.['version'];
  // Nothing but the reader has anything to say.
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
  await simulation.run(hourMs, (turn) => oracles.check(turn));
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
  assert.equal(simulation.output()?.['version'], first);
});
