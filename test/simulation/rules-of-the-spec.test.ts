// What a user asks of a resource, as short stories without chance: gates, pins, suspension, keys, hosts, and specs
// that cannot be. One thing happens to a resource in each, and what must be seen of it is asserted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';
import { World } from './world.ts';

test('gates: a shrunk export is held and published when released', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  world.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 9 });
  request(world, 'shrink');
  assert.equal(await nextVerdict(world), 'Held');
  assert.equal(world.condition('Exported'), 'False/PageCountDropped');
  assert.equal(world.condition('Ready'), 'True/Published');
  await world.run(hourMs);
  assert.equal(world.output()?.['version'], before);
  const candidate = world.status().candidate?.version ?? '';
  world.annotate({ 'staticexport.dev/promote': candidate });
  await world.until(() => world.output()?.['version'] === candidate, minuteMs);
  assert.equal(world.status().candidate, undefined);
  assert.equal(world.condition('Exported'), 'True/Promoted');
});

test('gates: an empty first export and a manual one stall until a person acts', async () => {
  const empty = new World();
  empty.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
  await empty.until(() => empty.condition('Stalled') === 'True/TooFewPages');
  await empty.run(3 * hourMs);
  assert.equal(empty.callsOf('start'), 1, 'what a gate holds is not exported again');
  const manual = new World({ spec: { promotion: { mode: 'Manual' } } });
  await manual.until(() => manual.condition('Stalled') === 'True/AwaitingPromotion');
  manual.annotate({ 'staticexport.dev/promote': manual.status().candidate?.version ?? '' });
  await manual.until(() => manual.condition('Ready') === 'True/Published', minuteMs);
});

test('without inspection a complete job is published as it is', async () => {
  const world = await publishedWorld({ spec: { promotion: { inspect: 'Never' } } });
  assert.equal(world.status().active?.digest, undefined);
  assert.match(world.output()?.['version'] ?? '', /^\d{8}-\d{6}-[0-9a-f]{8}$/);
});

test('gates: the same content held back night after night keeps its name until it is released', async () => {
  const world = await publishedWorld({
    spec: { schedule: '0 * * * *', promotion: { mode: 'Auto', maxShrinkPercent: 10 } },
  });
  world.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 10 });
  await world.until(() => world.status().candidate !== undefined);
  const candidate = world.status().candidate;
  await world.run(3 * hourMs);
  assert.equal(world.status().candidate?.version, candidate?.version);
  assert.notEqual(world.status().candidate?.jobId, candidate?.jobId, 'but its job is the newest');
  world.annotate({ 'staticexport.dev/promote': candidate?.version ?? '' });
  await world.until(() => world.output()?.['version'] === candidate?.version, minuteMs);
});

test('suspend: no exports and no promotions, but the link lives and a request is reported', async () => {
  const world = await publishedWorld({ spec: { schedule: '0 * * * *' } });
  world.editSpec({ suspend: true });
  request(world, 'while suspended');
  await world.run(5 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.callsOf('start'), 1);
  assert.equal(world.condition('Ready'), 'True/Suspended');
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /waits until spec\.suspend is removed/,
  );
  world.editSpec({ suspend: false });
  assert.equal(await nextVerdict(world), 'Unchanged');
  assert.equal(world.status().lastHandledRequest, 'while suspended');
});

test('a key Secret that appears later is found within a minute', async () => {
  const world = new World();
  world.cluster.secrets.clear();
  await world.run(10 * minuteMs);
  assert.equal(world.condition('Reconciling'), 'True/KeyMissing');
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: world.vendor.validKey });
  await world.until(() => world.callsOf('start') === 1, 61_000);
});

for (const [text, reason] of [
  ['', 'KeyEmpty'],
  ['two words', 'KeyInvalid'],
  ['svc_ü', 'KeyInvalid'],
] as const) {
  test(`a key of ${JSON.stringify(text)} is ${reason} and is never sent`, async () => {
    const world = new World();
    world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: text });
    await world.run(10 * minuteMs);
    assert.equal(world.condition('Stalled'), `True/${reason}`);
    assert.equal(world.vendor.calls.length, 0);
  });
}

test('a name that every object answers to is no key of a Secret', async () => {
  const world = new World({ spec: { api: { keySecretRef: { name: 'export-api', key: 'constructor' } } } });
  await world.run(10 * minuteMs);
  assert.equal(world.condition('Reconciling'), 'True/KeyMissing');
  assert.equal(world.vendor.calls.length, 0);
});

test('a key without the usual prefix is used, with one warning', async () => {
  const world = new World();
  world.vendor.validKey = 'unusual';
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'unusual\n' });
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.logs.filter((line) => line.includes('svc_')).length, 1);
});

test('a key that is refused at the hour of an export is seen and told while the link still lives', async () => {
  const world = new World({ spec: { schedule: '0 * * * *' } });
  world.vendor.linkLifetimeMs = 72 * hourMs;
  await world.until(() => world.condition('Exported') === 'True/Unchanged', 3 * hourMs);
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'svc_wrong' });
  const told = world.events.length;
  await world.run(2 * hourMs);
  assert.equal(world.condition('Exported'), 'False/KeyRefused');
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.events.slice(told).filter(({ reason }) => reason === 'KeyRefused').length, 1);
});

test('a key never goes to a host that is not allowed', async () => {
  const world = new World({
    spec: { api: { baseUrl: 'https://api.example.com.evil.test', keySecretRef: { name: 'export-api' } } },
  });
  await world.run(hourMs);
  assert.equal(world.condition('Stalled'), 'True/HostNotAllowed');
  assert.equal(world.vendor.calls.length, 0);
});

test('a spec that cannot be read stalls with the fields that are wrong, and everything stays', async () => {
  const world = await publishedWorld();
  const before = world.output();
  world.editSpec({ historyLimit: 'many' });
  await world.turn();
  assert.equal(world.condition('Stalled'), 'True/InvalidSpec');
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /spec\.historyLimit/,
  );
  assert.deepEqual(world.output(), before);
  world.editSpec({ historyLimit: 3 });
  await world.turn();
  assert.equal(world.condition('Ready'), 'True/Published');
});

for (const [name, breakage] of Object.entries({
  'a schedule that is no text': { schedule: 7 },
  'a domain that is none': { domain: 'two words' },
  'targets of another shape': { targets: 'all' },
})) {
  test(`${name} keeps the published link alive and all else as it was`, async () => {
    const world = await publishedWorld({ spec: { targets: [] } });
    const { history, job } = world.status();
    const version = world.output()?.['version'];
    world.editSpec(breakage);
    request(world, 'unheard');
    await world.run(3 * hourMs, () => assert.ok(world.isLinkLive()));
    assert.equal(world.condition('Stalled'), 'True/InvalidSpec');
    assert.equal(world.condition('Exported'), 'True/Promoted');
    assert.equal(world.condition('LinkFresh'), 'True/Fresh');
    assert.equal(world.output()?.['version'], version);
    assert.deepEqual(world.status().job, job);
    assert.equal(world.status().history?.length, history?.length);
    assert.equal(world.callsOf('start'), 1);
    world.editSpec({ domain: 'docs.example.com', schedule: undefined, targets: [] });
    await nextVerdict(world);
    assert.equal(world.condition('Ready'), 'True/Published');
  });
}

test('conditions and fields of status that are not ours survive', async () => {
  const world = await publishedWorld();
  const object = world.object();
  assert.ok(object !== undefined);
  const theirs = {
    type: 'Audited',
    status: 'True',
    reason: 'Yes',
    message: '',
    lastTransitionTime: '2026-01-05T12:00:00Z',
  };
  const status = {
    ...world.status(),
    conditions: [...(world.status().conditions ?? []), theirs],
    audit: { by: 'us' },
  };
  await world.cluster.writeStatus(object, status);
  request(world, 'again');
  await nextVerdict(world);
  assert.equal(world.condition('Audited'), 'True/Yes');
  assert.deepEqual(Object.entries(world.object()?.status ?? {}).find(([name]) => name === 'audit')?.[1], {
    by: 'us',
  });
});

test('the lastTransitionTime of a condition moves only with its status', async () => {
  const world = await publishedWorld();
  const readyAt = world.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  request(world, 'again');
  await nextVerdict(world);
  await world.run(hourMs);
  assert.equal(world.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime, readyAt);
});
