// The rules of `spec.transform.repair` as short scenarios without randomness: which digest is published, from which job after an
// edit of the rules, and what a rollback, a lost copy and a crash leave. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mirrorSpec } from './fake-mirror.ts';
import { Oracles } from './oracles.ts';
import { configMapId, hourMs, minuteMs, nextVerdict, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';
import { bundleOf, digestOfSteps, publishedInMirror } from './transformed-simulation.ts';

const dayMs = 24 * hourMs;
const rulesOf = (...rules: readonly Record<string, unknown>[]) => ({ transform: { repair: { rules } } });
const stripping = rulesOf({ name: 'sitemap' }, { name: 'canonical', mode: 'Strip' });
const stripped = 'canonical=strip sitemap';
const setting = rulesOf({ name: 'canonical', mode: 'Set', host: 'docs.example.com' });
const set = 'canonical=set=docs.example.com';

test('repair: the published digest is that of the repaired content, and no link is published', async () => {
  const simulation = await publishedInMirror(stripping);
  const bundle = bundleOf(simulation);
  assert.equal(bundle.digest, digestOfSteps(simulation, bundle.jobId, stripped));
  assert.equal(bundle.ref, simulation.mirror.refOf(bundle.digest ?? ''));
  assert.equal(bundle.repair, stripped);
  assert.equal(bundle.link, undefined);
  assert.equal(simulation.mirror.copies.size, 1);
  const { active, history, job } = simulation.status();
  assert.deepEqual([active?.repair, history?.[0]?.repair, job?.repair], [stripped, stripped, stripped]);
  const sentence = 'Repaired: canonical=strip 2 files, sitemap 2 files.';
  assert.deepEqual(job?.report, [sentence]);
  const exported = simulation.status().conditions?.find(({ type }) => type === 'Exported');
  assert.ok(exported?.message.includes(sentence), exported?.message);
});

test('repair: an export with the same content after its repair is unchanged', async () => {
  const simulation = await publishedInMirror(stripping);
  const { version } = bundleOf(simulation);
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  assert.equal(bundleOf(simulation).version, version);
  assert.equal(simulation.mirror.written, 1);
});

test('repair: other rules judge the archive of the same job again, without an export', async () => {
  const simulation = await publishedInMirror(stripping);
  const before = bundleOf(simulation);
  const oracles = new Oracles(simulation);
  for (const [spec, repair] of [
    [setting, set],
    [{ transform: undefined }, undefined],
    [stripping, stripped],
  ] as const) {
    simulation.editSpec(spec);
    await simulation.until(() => bundleOf(simulation).repair === repair, hourMs);
    const { digest, jobId } = bundleOf(simulation);
    assert.equal(digest, digestOfSteps(simulation, jobId, repair));
    assert.equal(jobId, before.jobId);
    await simulation.run(10 * minuteMs, (step) => oracles.check(step));
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(simulation.condition('Reconciling'), '-');
  }
  assert.ok(bundleOf(simulation).version > before.version, 'a version of before is published again');
  assert.equal(simulation.callsOf('start'), 1);
  // Without a repair the link leads to the published content.
  simulation.editSpec({ transform: undefined });
  await simulation.until(() => bundleOf(simulation).link !== undefined, hourMs);
});

test('repair: rules that give the same content keep the version, and are remembered', async () => {
  const simulation = await publishedInMirror(stripping);
  const { version, digest = '' } = bundleOf(simulation);
  simulation.mirror.repair = (_rules, inspection) => ({ ...inspection, digest, repaired: [] });
  simulation.editSpec(setting);
  await simulation.until(() => bundleOf(simulation).repair === set, hourMs);
  assert.equal(bundleOf(simulation).version, version);
  assert.equal(simulation.status().job?.verdict, 'Unchanged');
  assert.equal(simulation.status().active?.repair, set);
  assert.equal(simulation.callsOf('start'), 1);
});

test('repair: where the job is gone, other rules start an export', async () => {
  const simulation = await publishedInMirror(stripping);
  const { jobId } = bundleOf(simulation);
  simulation.vendor.jobs.delete(jobId);
  simulation.editSpec(setting);
  await simulation.until(() => bundleOf(simulation).repair === set, 2 * hourMs);
  assert.notEqual(bundleOf(simulation).jobId, jobId);
  assert.equal(simulation.callsOf('start'), 2);
});

test('repair: a rollback publishes the version under the rules that it had', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.editSpec(setting);
  await simulation.until(() => bundleOf(simulation).repair === set, hourMs);
  simulation.mirror.copies.delete(first.ref ?? '');
  simulation.editSpec({ pin: { version: first.version } });
  await simulation.until(() => bundleOf(simulation).version === first.version, hourMs);
  assert.equal(bundleOf(simulation).digest, first.digest);
  assert.equal(bundleOf(simulation).repair, stripped);
  assert.ok(simulation.mirror.copies.has(first.ref ?? ''), 'the copy was not made again');
  await simulation.run(hourMs);
  assert.equal(simulation.condition('Ready'), 'True/Pinned');
});

test('repair: a rollback to a repaired version without a mirror waits for one, and takes no link', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.editSpec({ transform: undefined });
  await simulation.until(() => bundleOf(simulation).repair === undefined, hourMs);
  const second = bundleOf(simulation).version;
  const issued = simulation.callsOf('issue');
  simulation.editSpec({ mirror: undefined, pin: { version: first.version } });
  await simulation.run(10 * minuteMs);
  assert.equal(bundleOf(simulation).version, second);
  const words = JSON.stringify(simulation.status().conditions);
  assert.match(
    words,
    /was changed by spec\.transform, and is published from a mirror alone\. Set spec\.mirror \(MirrorMissing\)\./,
  );
  assert.ok(simulation.callsOf('issue') <= issued + 1, 'links are issued that publish nothing');
  simulation.editSpec({ mirror: mirrorSpec });
  await simulation.until(() => bundleOf(simulation).version === first.version, hourMs);
  assert.equal(bundleOf(simulation).digest, first.digest);
});

test('repair: after a pin, other rules start an export', async () => {
  const simulation = await publishedInMirror(stripping);
  simulation.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 20 });
  const jobId = simulation.vendor.startElsewhere('docs.example.com');
  simulation.editSpec({ pin: { jobId } });
  await simulation.until(() => bundleOf(simulation).jobId === jobId, hourMs);
  assert.equal(bundleOf(simulation).repair, stripped);
  simulation.editSpec(setting);
  await simulation.run(10 * minuteMs);
  assert.equal(bundleOf(simulation).repair, stripped, 'a pinned version changed');
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => bundleOf(simulation).repair === set, 2 * hourMs);
  assert.equal(simulation.callsOf('start'), 2);
});

test('repair: a lost copy is made again by the rules of the published version', async () => {
  const simulation = await publishedInMirror(stripping);
  const { ref = '', digest } = bundleOf(simulation);
  simulation.mirror.copies.clear();
  await simulation.run(26 * hourMs);
  assert.equal(simulation.mirror.copies.get(ref)?.digest, digest);
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
});

test('repair: a candidate that a gate holds is judged again under other rules', async () => {
  const held = new Simulation({
    spec: { mirror: mirrorSpec, ...stripping, promotion: { mode: 'Manual' } },
  });
  await held.until(() => held.status().candidate?.repair === stripped, hourMs);
  const { version } = held.status().candidate ?? {};
  held.editSpec(setting);
  await held.until(() => held.status().candidate?.repair === set, hourMs);
  assert.notEqual(held.status().candidate?.version, version);
  held.annotate({ 'staticexport.dev/promote': held.status().candidate?.version ?? '' });
  await held.until(() => held.condition('Ready') === 'True/Published', hourMs);
  assert.equal(bundleOf(held).repair, set);
  assert.equal(bundleOf(held).link, undefined);
  assert.equal(held.callsOf('start'), 1);
});

test('repair: a deleted output Secret names the rules again', async () => {
  const simulation = await publishedInMirror(stripping);
  const before = bundleOf(simulation);
  assert.ok(simulation.cluster.secrets.delete(configMapId));
  simulation.prompt();
  await simulation.run(hourMs);
  assert.deepEqual(bundleOf(simulation), before);
});

test('repair: without a mirror the resource stalls with the remedy, and keeps what is published', async () => {
  const simulation = new Simulation({ spec: {} });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  const { version } = bundleOf(simulation);
  simulation.editSpec(stripping);
  await simulation.run(dayMs);
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
  const stalled = simulation.status().conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /add a mirror, or remove spec\.transform/);
  assert.equal(bundleOf(simulation).version, version);
  assert.equal(simulation.callsOf('start'), 1);
});

/** The operator is updated, and has another revision of a rule. */
async function updated(spec: Record<string, unknown> = {}): Promise<Simulation> {
  const simulation = await publishedInMirror({ ...stripping, ...spec });
  simulation.update({ sitemap: 2 });
  await simulation.run(hourMs);
  return simulation;
}
const newRevision = 'canonical:1 sitemap:2';

test('repair: an operator with other rules makes nothing again while the mirror has the copy', async () => {
  const simulation = await publishedInMirror(stripping);
  const before = bundleOf(simulation);
  assert.equal(before.repairRevision, 'canonical:1 sitemap:1');
  simulation.update({ sitemap: 2 });
  const oracles = new Oracles(simulation);
  await simulation.run(3 * dayMs, (step) => oracles.check(step));
  assert.deepEqual(bundleOf(simulation), before);
  assert.equal(simulation.mirror.calls.filter((call) => call === 'copy').length, 1);
  assert.deepEqual([simulation.condition('Ready'), simulation.callsOf('start')], ['True/Published', 1]);
});

test('repair: a lost copy that other rules made is replaced by a version of the same job, with the reason', async () => {
  const simulation = await updated();
  const before = bundleOf(simulation);
  simulation.mirror.copies.clear();
  const oracles = new Oracles(simulation);
  await simulation.until(() => bundleOf(simulation).version !== before.version, 26 * hourMs);
  await simulation.run(2 * dayMs, (step) => oracles.check(step));
  const { digest, jobId, repairRevision, ref = '', version } = bundleOf(simulation);
  assert.equal(digest, digestOfSteps(simulation, before.jobId, stripped));
  assert.deepEqual([jobId, repairRevision], [before.jobId, newRevision]);
  assert.ok(version > before.version);
  assert.ok(simulation.mirror.copies.has(ref));
  const states = ['Ready', 'Mirrored', 'Stalled'].map((type) => simulation.condition(type));
  assert.deepEqual(states, ['True/Published', 'True/Copied', '-']);
  const { job, active } = simulation.status();
  assert.match(job?.report?.join() ?? '', /Rules changed with the operator: sitemap:2; before: sitemap:1\./);
  assert.equal(active?.repairRevision, newRevision);
  assert.equal(simulation.callsOf('start'), 1);
});

test('repair: a lost copy that the new rules give too keeps its version', async () => {
  const simulation = await publishedInMirror(stripping);
  const { version, digest = '', ref = '' } = bundleOf(simulation);
  simulation.mirror.repair = (_rules, inspection) => ({ ...inspection, digest, repaired: [] });
  simulation.update({ sitemap: 2 });
  simulation.mirror.copies.clear();
  await simulation.until(() => bundleOf(simulation).repairRevision === newRevision, 26 * hourMs);
  await simulation.run(hourMs);
  assert.equal(bundleOf(simulation).version, version);
  assert.ok(simulation.mirror.copies.has(ref));
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
  assert.equal(simulation.callsOf('start'), 1);
});

test('repair: where the job of a lost copy is gone, an operator with other rules starts one export', async () => {
  const simulation = await updated();
  const before = bundleOf(simulation);
  simulation.vendor.jobs.delete(before.jobId);
  simulation.mirror.copies.clear();
  await simulation.until(() => bundleOf(simulation).jobId !== before.jobId, 28 * hourMs);
  await simulation.run(hourMs);
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
  assert.deepEqual([simulation.condition('Mirrored'), simulation.callsOf('start')], ['True/Copied', 2]);
});

test('repair: where a later export failed, other rules and a lost copy start one, for that reason', async () => {
  const simulation = await updated();
  const before = bundleOf(simulation);
  simulation.vendor.ending = 'failed';
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'JobFailed');
  simulation.vendor.ending = 'completed';
  simulation.mirror.copies.clear();
  await simulation.until(() => bundleOf(simulation).jobId !== before.jobId, 28 * hourMs);
  assert.equal(simulation.status().job?.cause, 'Rules');
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
});

test('repair: a mirror at another place gets what the rules of the operator give', async () => {
  const simulation = await updated();
  const before = bundleOf(simulation);
  const repository = 'registry.test/docs/other';
  simulation.editSpec({ mirror: { oci: { ...mirrorSpec.oci, repository } } });
  await simulation.until(() => bundleOf(simulation).ref?.includes(repository) === true, hourMs);
  await simulation.run(hourMs);
  assert.equal(bundleOf(simulation).digest, digestOfSteps(simulation, before.jobId, stripped));
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
});

test('repair: a new version under other rules passes the gates, and Mirrored says why it is wanted', async () => {
  const simulation = await publishedInMirror({ ...stripping, promotion: { minPages: 1 } });
  simulation.editSpec({ promotion: { mode: 'Manual' } });
  simulation.update({ sitemap: 2 });
  const before = bundleOf(simulation);
  simulation.mirror.copies.clear();
  await simulation.until(() => simulation.status().candidate !== undefined, 26 * hourMs);
  await simulation.run(2 * dayMs);
  assert.equal(bundleOf(simulation).version, before.version);
  assert.equal(simulation.condition('Mirrored'), 'False/RulesChanged');
  const copies = simulation.mirror.calls.filter((call) => call === 'copy').length;
  assert.ok(copies <= 3, `${copies} copies of what is held`);
  simulation.annotate({ 'staticexport.dev/promote': simulation.status().candidate?.version ?? '' });
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', hourMs);
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
});

test('repair: a rollback to a copy that other rules made reads the copy', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.editSpec(setting);
  await simulation.until(() => bundleOf(simulation).repair === set, hourMs);
  simulation.update({ sitemap: 2, canonical: 3 });
  simulation.editSpec({ pin: { version: first.version } });
  await simulation.until(() => bundleOf(simulation).version === first.version, hourMs);
  assert.deepEqual(bundleOf(simulation), first);
});

test('repair: a version whose copy is lost is not what other rules give, which the resource says', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.editSpec(setting);
  await simulation.until(() => bundleOf(simulation).repair === set, hourMs);
  const second = bundleOf(simulation);
  simulation.update({ sitemap: 2 });
  simulation.mirror.copies.delete(first.ref ?? '');
  const issued = simulation.callsOf('issue');
  simulation.editSpec({ pin: { version: first.version } });
  await simulation.until(() => simulation.condition('Stalled') === 'True/PinnedContentChanged', dayMs);
  assert.equal(bundleOf(simulation).version, second.version);
  const stalled = simulation.status().conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /was made by canonical:1 sitemap:1, .* set spec\.pin\.jobId to /);
  assert.deepEqual(
    [simulation.status().job?.verdict, simulation.status().failures?.export],
    ['Promoted', undefined],
  );
  assert.ok(simulation.callsOf('issue') <= issued + 30, 'links are issued that publish nothing');
  simulation.editSpec({ pin: { jobId: first.jobId } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Pinned', hourMs);
});

test('repair: a pinned job whose copy is lost is published as other rules repair it', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  simulation.update({ sitemap: 2 });
  simulation.mirror.copies.delete(first.ref ?? '');
  simulation.editSpec({ pin: { jobId: first.jobId } });
  await simulation.until(() => bundleOf(simulation).jobId === first.jobId, dayMs);
  const pinned = bundleOf(simulation);
  assert.equal(pinned.digest, digestOfSteps(simulation, first.jobId, stripped));
  assert.deepEqual([pinned.repairRevision, simulation.condition('Ready')], [newRevision, 'True/Pinned']);
  assert.notEqual(pinned.version, first.version);
});

test('repair: a lost copy of a pinned version is not replaced, and Mirrored says why', async () => {
  const simulation = await publishedInMirror(stripping);
  const first = bundleOf(simulation);
  simulation.editSpec({ pin: { version: first.version } });
  simulation.update({ sitemap: 2 });
  simulation.mirror.copies.clear();
  await simulation.until(() => simulation.condition('Mirrored') === 'False/RulesChanged', 28 * hourMs);
  await simulation.run(dayMs);
  assert.deepEqual(bundleOf(simulation), first);
  const calls = simulation.mirror.calls.filter((call) => call === 'copy').length;
  assert.ok(calls < 60, `${calls} attempts in a day`);
  simulation.editSpec({ pin: undefined });
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', 2 * hourMs);
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
  assert.equal(simulation.callsOf('start'), 1);
});

/** As an operator without revisions left it. */
async function publishedWithoutRevision(): Promise<Simulation> {
  const simulation = await publishedInMirror(stripping);
  const { repairRevision: _none, ...before } = JSON.parse(simulation.output()?.['bundle.json'] ?? '');
  simulation.cluster.putSecret(
    { namespace: 'docs', name: 'site-bundle' },
    { ...simulation.output(), 'bundle.json': JSON.stringify(before) },
  );
  simulation.restart();
  await simulation.run(dayMs);
  assert.equal(bundleOf(simulation).repairRevision, undefined);
  assert.equal(bundleOf(simulation).version, before.version);
  return simulation;
}

test('repair: a version from before there were revisions is one of the first revisions', async () => {
  const simulation = await publishedWithoutRevision();
  const before = bundleOf(simulation);
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  assert.deepEqual(bundleOf(simulation), before, 'the same content was published again');
  simulation.mirror.copies.clear();
  await simulation.run(26 * hourMs);
  assert.ok(simulation.mirror.copies.has(before.ref ?? ''), 'the copy was not made again');
  assert.deepEqual(bundleOf(simulation), before);
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
});

test('repair: a version from before there were revisions is replaced when rules have changed and its copy is lost', async () => {
  const simulation = await publishedWithoutRevision();
  const before = bundleOf(simulation);
  simulation.update({ sitemap: 2 });
  await simulation.run(2 * dayMs);
  assert.deepEqual(bundleOf(simulation), before);
  simulation.mirror.copies.clear();
  await simulation.until(() => bundleOf(simulation).version !== before.version, 26 * hourMs);
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
  assert.match(
    simulation.status().job?.report?.join() ?? '',
    /Rules changed with the operator: sitemap:2; before: sitemap:1\./,
  );
});

test('repair: a suspended resource says that its new version comes after the suspension', async () => {
  const simulation = await updated();
  const before = bundleOf(simulation);
  simulation.editSpec({ suspend: true });
  simulation.mirror.copies.clear();
  await simulation.until(() => simulation.condition('Mirrored') === 'False/RulesChanged', 28 * hourMs);
  await simulation.run(2 * dayMs);
  assert.deepEqual(bundleOf(simulation), before);
  const mirrored = simulation.status().conditions?.find(({ type }) => type === 'Mirrored');
  assert.match(mirrored?.message ?? '', /The new version comes after you remove spec\.suspend\.$/);
  simulation.editSpec({ suspend: undefined });
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', hourMs);
  assert.equal(bundleOf(simulation).repairRevision, newRevision);
  assert.equal(simulation.callsOf('start'), 1);
});
