// The rules of a user's spec as short scenarios without randomness: promotion gates, suspension, keys, hosts, and
// invalid specs. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

test('promotion gates: a shrunk export is held, and published when promoted', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['version'];
  simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 9 });
  request(simulation, 'shrink');
  assert.equal(await nextVerdict(simulation), 'Held');
  assert.equal(simulation.condition('Exported'), 'False/PageCountDropped');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.run(hourMs);
  assert.equal(simulation.output()?.['version'], before);
  const candidate = simulation.status().candidate?.version ?? '';
  simulation.annotate({ 'staticexport.dev/promote': candidate });
  await simulation.until(() => simulation.output()?.['version'] === candidate, minuteMs);
  assert.equal(simulation.status().candidate, undefined);
  assert.equal(simulation.condition('Exported'), 'True/Promoted');
});

test('promotion gates: a rejected export is not offered again until its content, the spec or a request changes', async () => {
  const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
  const before = simulation.output()?.['version'];
  simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 9 });
  await simulation.until(() => simulation.status().candidate !== undefined, 2 * hourMs);
  const { version = '' } = simulation.status().candidate ?? {};
  simulation.annotate({ 'staticexport.dev/reject': version, 'staticexport.dev/promote': version });
  await simulation.until(() => simulation.condition('Exported') === 'False/Rejected', minuteMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(await nextVerdict(simulation), 'Rejected', 'the next night has the same content');
  assert.deepEqual([simulation.status().candidate, simulation.output()?.['version']], [undefined, before]);
  request(simulation, 'once more');
  assert.equal(await nextVerdict(simulation), 'Held', 'a request offers it again');
  simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
  await simulation.until(() => simulation.condition('Exported') === 'False/Rejected', minuteMs);
  simulation.editSpec({ promotion: { maxShrinkPercent: 90 } });
  assert.equal(await nextVerdict(simulation), 'Promoted', 'another spec judges it again');
});

test('promotion gates: a rejected first export stalls, and starts no other until its schedule', async () => {
  const simulation = new Simulation({ spec: { schedule: '0 0 * * *' } });
  simulation.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
  await simulation.until(() => simulation.condition('Stalled') === 'True/TooFewPages');
  simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
  await simulation.until(() => simulation.condition('Stalled') === 'True/Rejected', minuteMs);
  const started = simulation.callsOf('start');
  await simulation.run(3 * hourMs);
  assert.equal(simulation.callsOf('start'), started);
  simulation.vendor.contents.set('docs.example.com', { name: 'whole', pages: 20 });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 24 * hourMs);
});

test('promotion gates: an empty first export and a manual promotion stall until a user acts', async () => {
  const empty = new Simulation();
  empty.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
  await empty.until(() => empty.condition('Stalled') === 'True/TooFewPages');
  await empty.run(3 * hourMs);
  assert.equal(empty.callsOf('start'), 1, 'a held export is not repeated');
  const manual = new Simulation({ spec: { promotion: { mode: 'Manual' } } });
  await manual.until(() => manual.condition('Stalled') === 'True/AwaitingPromotion');
  manual.annotate({ 'staticexport.dev/promote': manual.status().candidate?.version ?? '' });
  await manual.until(() => manual.condition('Ready') === 'True/Published', minuteMs);
});

test('promotion gates: an export without a home page is held until it has one, or none is required', async () => {
  const notes = [{ code: 'HomePageMissing', count: 1, example: '"site/index.html"' }];
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['version'];
  simulation.vendor.contents.set('docs.example.com', { name: 'wrapped', pages: 20, notes });
  request(simulation, 'wrapped');
  assert.equal(await nextVerdict(simulation), 'Held');
  assert.equal(simulation.condition('Exported'), 'False/HomePageMissing');
  await simulation.run(hourMs);
  assert.deepEqual(
    [simulation.output()?.['version'], simulation.condition('Ready')],
    [before, 'True/Published'],
  );
  simulation.vendor.contents.set('docs.example.com', { name: 'whole', pages: 20 });
  request(simulation, 'whole');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  const other = new Simulation({ spec: { promotion: { requireHomePage: false } } });
  other.vendor.contents.set('docs.example.com', { name: 'wrapped', pages: 20, notes });
  await other.until(() => other.condition('Ready') === 'True/Published');
  const first = new Simulation();
  first.vendor.contents.set('docs.example.com', { name: 'wrapped', pages: 20, notes });
  await first.until(() => first.condition('Stalled') === 'True/HomePageMissing');
  assert.deepEqual(Object.keys(first.status().candidate ?? {}).includes('notes'), false);
  first.editSpec({ promotion: { requireHomePage: false } });
  request(first, 'again');
  await first.until(() => first.condition('Ready') === 'True/Published', hourMs);
});

test('without inspection a complete job is published as it is', async () => {
  const simulation = await publishedSimulation({ spec: { promotion: { inspect: 'Never' } } });
  assert.equal(simulation.status().active?.digest, undefined);
  assert.match(simulation.output()?.['version'] ?? '', /^\d{8}-\d{6}-[0-9a-f]{8}$/);
});

test('promotion gates: a candidate held for several nights keeps its version until it is promoted', async () => {
  const simulation = await publishedSimulation({
    spec: { schedule: '0 * * * *', promotion: { mode: 'Auto', maxShrinkPercent: 10 } },
  });
  simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 10 });
  await simulation.until(() => simulation.status().candidate !== undefined);
  const candidate = simulation.status().candidate;
  await simulation.run(3 * hourMs);
  assert.equal(simulation.status().candidate?.version, candidate?.version);
  assert.notEqual(simulation.status().candidate?.jobId, candidate?.jobId, 'but its job is the newest');
  simulation.annotate({ 'staticexport.dev/promote': candidate?.version ?? '' });
  await simulation.until(() => simulation.output()?.['version'] === candidate?.version, minuteMs);
});

test('suspend: no exports and no promotions, but the link is refreshed and a request is reported', async () => {
  const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
  simulation.editSpec({ suspend: true });
  request(simulation, 'while suspended');
  await simulation.run(5 * hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.callsOf('start'), 1);
  assert.equal(simulation.condition('Ready'), 'True/Suspended');
  assert.match(
    simulation.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /waits until spec\.suspend is false/,
  );
  simulation.editSpec({ suspend: false });
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  assert.equal(simulation.status().lastHandledRequest, 'while suspended');
});

test('a key Secret that appears later is found within a minute', async () => {
  const simulation = new Simulation();
  simulation.cluster.secrets.clear();
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('Reconciling'), 'True/KeyMissing');
  simulation.cluster.putSecret(
    { namespace: 'docs', name: 'export-api' },
    { apiKey: simulation.vendor.validKey },
  );
  await simulation.until(() => simulation.callsOf('start') === 1, 61_000);
});

for (const [text, reason] of [
  ['', 'KeyEmpty'],
  ['two words', 'KeyInvalid'],
  ['svc_ü', 'KeyInvalid'],
] as const) {
  test(`a key of ${JSON.stringify(text)} is ${reason} and is never sent`, async () => {
    const simulation = new Simulation();
    simulation.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: text });
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.condition('Stalled'), `True/${reason}`);
    assert.equal(simulation.vendor.calls.length, 0);
  });
}

test('an inherited property name is not a key of a Secret', async () => {
  const simulation = new Simulation({
    spec: { api: { keySecretRef: { name: 'export-api', key: 'constructor' } } },
  });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('Reconciling'), 'True/KeyMissing');
  assert.equal(simulation.vendor.calls.length, 0);
});

test('a key without the usual prefix is used without a warning, until it is refused', async () => {
  const simulation = new Simulation();
  simulation.vendor.validKey = 'unusual';
  simulation.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'unusual\n' });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const warnings = () => simulation.logs.filter((line) => line.includes('svc_')).length;
  assert.equal(warnings(), 0);
  simulation.vendor.validKey = 'other';
  simulation.annotate({ 'staticexport.dev/requestedAt': 'again' });
  await simulation.until(() => simulation.condition('Exported') === 'False/KeyRefused');
  await simulation.run(hourMs);
  assert.equal(warnings(), 1);
});

test('a key refused at the time of an export is reported while the link is still valid', async () => {
  const simulation = new Simulation({ spec: { schedule: '0 * * * *' } });
  simulation.vendor.linkLifetimeMs = 72 * hourMs;
  await simulation.until(() => simulation.condition('Exported') === 'True/Unchanged', 3 * hourMs);
  simulation.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'svc_wrong' });
  const reported = simulation.events.length;
  await simulation.run(2 * hourMs);
  assert.equal(simulation.condition('Exported'), 'False/KeyRefused');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.events.slice(reported).filter(({ reason }) => reason === 'KeyRefused').length, 1);
});

test('a key never goes to a host that is not allowed', async () => {
  const simulation = new Simulation({
    spec: { api: { baseUrl: 'https://api.example.com.evil.test', keySecretRef: { name: 'export-api' } } },
  });
  await simulation.run(hourMs);
  assert.equal(simulation.condition('Stalled'), 'True/HostNotAllowed');
  assert.equal(simulation.vendor.calls.length, 0);
});

test('a spec that cannot be read stalls with the fields that are wrong, and everything stays', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output();
  simulation.editSpec({ historyLimit: 'many' });
  await simulation.step();
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
  assert.match(
    simulation.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /spec\.historyLimit/,
  );
  assert.deepEqual(simulation.output(), before);
  simulation.editSpec({ historyLimit: 3 });
  await simulation.step();
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

for (const [name, breakage] of Object.entries({
  'a schedule that is not a string': { schedule: 7 },
  'an invalid domain': { domain: 'two words' },
  'targets of another shape': { targets: 'all' },
})) {
  test(`${name}: the published link is refreshed and nothing else changes`, async () => {
    const simulation = await publishedSimulation({ spec: { targets: [] } });
    const { history, job } = simulation.status();
    const version = simulation.output()?.['version'];
    simulation.editSpec(breakage);
    request(simulation, 'unheard');
    await simulation.run(3 * hourMs, () => assert.ok(simulation.isLinkValid()));
    assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
    assert.equal(simulation.condition('Exported'), 'True/Promoted');
    assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
    assert.equal(simulation.output()?.['version'], version);
    assert.deepEqual(simulation.status().job, job);
    assert.equal(simulation.status().history?.length, history?.length);
    assert.equal(simulation.callsOf('start'), 1);
    simulation.editSpec({ domain: 'docs.example.com', schedule: undefined, targets: [] });
    await nextVerdict(simulation);
    assert.equal(simulation.condition('Ready'), 'True/Published');
  });
}

test('conditions and fields of status that the operator does not own are kept', async () => {
  const simulation = await publishedSimulation();
  const object = simulation.object();
  assert.ok(object !== undefined);
  const theirs = {
    type: 'Audited',
    status: 'True',
    reason: 'Yes',
    message: '',
    lastTransitionTime: '2026-01-05T12:00:00Z',
  };
  const status = {
    ...simulation.status(),
    conditions: [...(simulation.status().conditions ?? []), theirs],
    audit: { by: 'us' },
  };
  await simulation.cluster.writeStatus(object, status);
  request(simulation, 'again');
  await nextVerdict(simulation);
  assert.equal(simulation.condition('Audited'), 'True/Yes');
  assert.deepEqual(
    Object.entries(simulation.object()?.status ?? {}).find(([name]) => name === 'audit')?.[1],
    {
      by: 'us',
    },
  );
});

test('the lastTransitionTime of a condition moves only with its status', async () => {
  const simulation = await publishedSimulation();
  const readyAt = simulation.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  request(simulation, 'again');
  await nextVerdict(simulation);
  await simulation.run(hourMs);
  assert.equal(
    simulation.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime,
    readyAt,
  );
});

/** A version is published, another was rejected, and no later event ended the rejection. */
async function rejectedSimulation(): Promise<Simulation> {
  const simulation = await publishedSimulation({ spec: { schedule: '0 3 * * *' } });
  simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 9 });
  request(simulation, 'shrink');
  await nextVerdict(simulation);
  simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
  await simulation.until(() => simulation.condition('Exported') === 'False/Rejected', minuteMs);
  return simulation;
}

test('an old rejection does not stop the export that replaces a lost job', async () => {
  const simulation = await rejectedSimulation();
  simulation.vendor.contents.set('docs.example.com', { name: 'good', pages: 20 });
  simulation.vendor.jobs.delete(simulation.status().active?.jobId ?? '');
  await simulation.run(hourMs);
  assert.ok(simulation.isLinkValid());
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('after a lost job, rejected content is exported once, and not again and again', async () => {
  const simulation = await rejectedSimulation();
  const started = simulation.callsOf('start');
  simulation.vendor.jobs.delete(simulation.status().active?.jobId ?? '');
  await simulation.run(3 * hourMs);
  assert.equal(simulation.callsOf('start'), started + 1);
});

test('an outage days after a rejection is reported as an outage', async () => {
  const simulation = await rejectedSimulation();
  simulation.vendor.contents.set('docs.example.com', { name: 'good', pages: 20 });
  await simulation.run(48 * hourMs);
  assert.equal(simulation.condition('Exported'), 'True/Unchanged');
  simulation.vendor.failing = 'ServerError';
  await simulation.run(2 * hourMs);
  assert.equal(simulation.condition('Ready'), 'False/LinkExpired');
  assert.equal(simulation.condition('Stalled'), '-');
});
