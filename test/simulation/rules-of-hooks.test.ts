// The rules of hooks as short scenarios without randomness: what a hook starts, what it waits for, and what it never does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHook } from '#operator/reconcile/hooks.ts';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

const hooked = { spec: { trigger: { quietPeriod: '1m' } } };

test('a hook starts one export after the quiet period, and status repeats its token', async () => {
  const simulation = await publishedSimulation(hooked);
  const starts = simulation.callsOf('start');
  simulation.hook();
  await simulation.run(minuteMs - 1000);
  assert.equal(simulation.callsOf('start'), starts);
  assert.equal(simulation.status().hook?.token, 'hook-0');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  const { job, lastHandledHook, hook } = simulation.status();
  assert.deepEqual([job?.cause, lastHandledHook, hook], ['Hook', 'hook-0', undefined]);
  await simulation.run(hourMs);
  assert.equal(simulation.callsOf('start'), starts + 1);
});

test('a hook without spec.trigger starts nothing and costs no write', async () => {
  const simulation = await publishedSimulation();
  const [starts, writes] = [simulation.callsOf('start'), simulation.cluster.writes.length];
  simulation.hook();
  await simulation.run(4 * minuteMs);
  assert.deepEqual([simulation.callsOf('start'), simulation.cluster.writes.length], [starts, writes]);
});

for (const [held, released] of [
  [{ suspend: true }, { suspend: false }],
  [{ pin: { version: 'none' } }, { pin: undefined }],
] as const) {
  const field = Object.keys(held)[0];
  test(`hooks under spec.${field} wait, Ready says so, and one export follows`, async () => {
    const simulation = await publishedSimulation(hooked);
    const starts = simulation.callsOf('start');
    const version = simulation.output()?.['version'];
    simulation.editSpec('pin' in held ? { pin: { version } } : held);
    simulation.hook(20, minuteMs);
    await simulation.run(hourMs, () => assert.ok(simulation.isLinkValid()));
    assert.equal(simulation.callsOf('start'), starts);
    const ready = simulation.status().conditions?.find(({ type }) => type === 'Ready');
    assert.match(ready?.message ?? '', /A requested export waits until spec\./);
    simulation.editSpec(released);
    await simulation.run(hourMs);
    assert.equal(simulation.callsOf('start'), starts + 1);
    assert.equal(simulation.status().lastHandledHook, 'hook-19');
  });
}

test('an export that starts for another reason within the quiet period leaves the hook pending', async () => {
  const simulation = await publishedSimulation(hooked);
  simulation.hook();
  request(simulation, 'at once');
  await simulation.until(() => simulation.status().lastHandledRequest === 'at once', minuteMs / 2);
  assert.equal(simulation.status().lastHandledHook, undefined);
  await simulation.until(() => simulation.status().lastHandledHook === 'hook-0');
});

test('an export that starts for another reason after the quiet period answers the hook', async () => {
  const simulation = await publishedSimulation(hooked);
  simulation.editSpec({ suspend: true });
  simulation.hook();
  await simulation.run(5 * minuteMs);
  request(simulation, 'with the hook');
  simulation.editSpec({ suspend: false });
  await nextVerdict(simulation);
  const { lastHandledHook, lastHandledRequest, job } = simulation.status();
  assert.deepEqual([lastHandledHook, lastHandledRequest, job?.cause], ['hook-0', 'with the hook', 'Request']);
});

test('a hook does not use a refused key again', async () => {
  const simulation = await publishedSimulation(hooked);
  simulation.vendor.validKey = 'svc_secret-two';
  await simulation.until(() => simulation.status().refusedKey !== undefined, 2 * hourMs);
  const calls = simulation.vendor.calls.length;
  simulation.hook(5, minuteMs);
  await simulation.run(hourMs);
  assert.equal(simulation.vendor.calls.length, calls);
});

test('a restart of the operator does not start the quiet period again', async () => {
  const simulation = await publishedSimulation(hooked);
  const starts = simulation.callsOf('start');
  simulation.hook();
  await simulation.run(50_000);
  simulation.restart();
  await simulation.run(11_000);
  assert.equal(simulation.callsOf('start'), starts + 1);
});

test('a clock that is set back costs at most one more quiet period', async () => {
  const simulation = await publishedSimulation(hooked);
  const starts = simulation.callsOf('start');
  simulation.hook();
  await simulation.run(30_000);
  simulation.jump(-hourMs);
  simulation.prompt();
  await simulation.run(minuteMs + 2000);
  assert.equal(simulation.callsOf('start'), starts + 1);
});

test('a stream of hooks before the first export does not delay that export', async () => {
  const simulation = new Simulation(hooked);
  simulation.hook(20, 30_000);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('an answered hook is not the first of the next burst', () => {
  const record = {
    key: '',
    lastAttemptTime: '',
    inputHash: '',
    cause: 'Hook',
    attempts: 1,
    hook: 'hook-0',
  } as const;
  const seen = { firstTime: '2026-01-05T12:00:00Z', lastTime: '2026-01-05T12:00:40Z' };
  assert.equal(answerHook({ hook: { token: 'hook-0', ...seen } }, record).hook, undefined);
  const newer = { token: 'hook-1', ...seen };
  assert.deepEqual(answerHook({ hook: newer }, record).hook, { ...newer, firstTime: newer.lastTime });
});
