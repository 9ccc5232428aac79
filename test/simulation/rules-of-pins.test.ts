// What a pin asks of a resource, as short stories without chance: an older version, a job from elsewhere, and what goes on
// while it is being followed. One thing happens to a resource in each, and what must be seen of it is asserted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';

test('pin: an older version is published again, kept alive, and nothing is exported meanwhile', async () => {
  const world = await publishedWorld({ spec: { schedule: '0 * * * *' } });
  const first = world.output()?.['version'];
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'second');
  assert.equal(await nextVerdict(world), 'Promoted');
  const starts = world.callsOf('start');
  world.editSpec({ pin: { version: first } });
  await world.turn();
  await world.until(() => world.condition('Ready') === 'True/Pinned', minuteMs);
  assert.equal(world.output()?.['version'], first);
  request(world, 'while pinned');
  await world.run(5 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.callsOf('start'), starts);
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /waits until spec\.pin is removed/,
  );
  world.editSpec({ pin: undefined });
  await world.until(() => world.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(world.status().lastHandledRequest, 'while pinned');
});

test('pin: taking it away says which newer version was left, and an export names its content anew', async () => {
  const world = await publishedWorld();
  const first = world.output()?.['version'];
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'second');
  assert.equal(await nextVerdict(world), 'Promoted');
  const second = world.output()?.['version'] ?? '';
  world.editSpec({ pin: { version: first } });
  await world.until(() => world.condition('Ready') === 'True/Pinned', minuteMs);
  world.editSpec({ pin: undefined });
  await world.until(() => world.condition('Ready') === 'True/Published', minuteMs);
  const ready = world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.ok(ready.includes(`${second} is newer`), ready);
  request(world, 'third');
  assert.equal(await nextVerdict(world), 'Promoted');
  const third = world.status().active?.version ?? '';
  assert.ok(third > second, 'versions sort by the time of their export');
  const digests = world.status().history?.map(({ digest }) => digest);
  assert.equal(new Set(digests).size, 2, 'the content of the second and the third is one');
  assert.deepEqual(
    world.events.map(({ reason }) => reason).filter((reason) => reason !== 'ExportStarted'),
    ['Promoted', 'Promoted', 'Pinned', 'Unpinned', 'Promoted'],
  );
});

test('pin: a job started elsewhere is followed and published, past any gate', async () => {
  const world = await publishedWorld({ spec: { promotion: { mode: 'Auto' } } });
  world.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 1 });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId } });
  await world.until(() => world.status().active?.jobId === jobId);
  assert.equal(world.condition('Ready'), 'True/Pinned');
  assert.equal(world.callsOf('start'), 1);
});

test('pin: a job that outlasts its timeout is published when it completes after all', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '10m' } });
  world.vendor.jobMs = 40 * minuteMs;
  world.vendor.contents.set('docs.example.com', { name: 'slow', pages: 20 });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId } });
  await world.run(15 * minuteMs);
  assert.equal(world.condition('Stalled'), 'True/PinnedJobFailed');
  await world.until(() => world.status().active?.jobId === jobId);
  assert.equal(world.condition('Ready'), 'True/Pinned');
});

test('pin: a job that ran when the pin came does not time out unasked, and is followed again after it', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '10m' } });
  const first = world.output()?.['version'];
  world.vendor.jobMs = 15 * minuteMs;
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'second');
  await world.until(() => world.callsOf('start') === 2);
  const told = world.events.length;
  world.editSpec({ pin: { version: first } });
  await world.run(2 * hourMs);
  assert.equal(world.condition('Exported'), 'True/Promoted');
  assert.deepEqual(
    world.events.slice(told).map(({ reason }) => reason),
    ['Pinned'],
  );
  world.editSpec({ pin: undefined });
  await world.until(() => world.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(world.callsOf('start'), 2);
});

test('pin: time does not run out on a pinned job while the resource is suspended', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '10m' } });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId }, suspend: true });
  await world.run(48 * hourMs);
  world.editSpec({ suspend: false });
  await world.until(() => world.status().active?.jobId === jobId, 10 * minuteMs);
});

test('pin: what does not exist stalls and leaves the published version alone', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  for (const [pin, reason] of [
    [{ version: '20200101-000000-00000000' }, 'PinnedVersionUnknown'],
    [{ jobId: 'se_nowhere' }, 'PinnedJobGone'],
  ] as const) {
    world.editSpec({ pin });
    await world.run(hourMs);
    assert.equal(world.condition('Stalled'), `True/${reason}`);
    assert.equal(world.output()?.['version'], before);
    assert.ok(world.isLinkLive());
  }
  assert.equal(world.callsOf('start'), 1);
});

test('pin: a reader of its archive that hangs has its time, and what is written after it comes before no time', async () => {
  const world = await publishedWorld();
  const first = world.output()?.['version'];
  // Nothing but the reader has anything to say.
  world.vendor.linkLifetimeMs = 24 * hourMs;
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'second');
  assert.equal(await nextVerdict(world), 'Promoted');
  let hangs = 1;
  world.faults = {
    next: (call) => {
      if (call !== 'bundles.inspect' || hangs === 0) return 'none';
      hangs -= 1;
      return 'lost';
    },
  };
  world.editSpec({ pin: { version: first } });
  await world.until(() => hangs === 0, minuteMs);
  const oracles = new Oracles(world);
  await world.run(hourMs, (turn) => oracles.check(turn));
  assert.equal(world.condition('Ready'), 'True/Pinned');
  assert.equal(world.output()?.['version'], first);
});
