// The rules of `spec.transform.search` as short scenarios without randomness: which digest is published, from which job after an edit, and
// what another search of the operator changes. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { mirrorSpec, repairedBy } from './fake-mirror.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, nextVerdict, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';
import { bundleOf, digestOfSteps, publishedInMirror } from './transformed-simulation.ts';

const dayMs = 24 * hourMs;
const searching = { transform: { search: 'Enabled' } };
const both = { transform: { search: 'Enabled', repair: { rules: [{ name: 'sitemap' }] } } };

test('search: the published digest is that of the site with its search, and no link is published', async () => {
  const simulation = await publishedInMirror(searching);
  const bundle = bundleOf(simulation);
  assert.equal(bundle.digest, digestOfSteps(simulation, bundle.jobId, 'search'));
  assert.equal(bundle.ref, simulation.mirror.refOf(bundle.digest ?? ''));
  assert.deepEqual([bundle.repair, bundle.repairRevision, bundle.link], ['search', 'search:1', undefined]);
  const { active, job, conditions } = simulation.status();
  assert.deepEqual([active?.repair, job?.repairRevision], ['search', 'search:1']);
  const exported = conditions?.find(({ type }) => type === 'Exported');
  assert.match(exported?.message ?? '', /Search added: 2 pages\./);
});

test('search: a change of the field takes the archive of the same job, without an export', async () => {
  const simulation = await publishedInMirror({});
  const { jobId, link } = bundleOf(simulation);
  assert.notEqual(link, undefined);
  const oracles = new Oracles(simulation);
  for (const [spec, repair] of [
    [searching, 'search'],
    [both, 'sitemap search'],
    [{ transform: { search: 'Disabled' } }, undefined],
  ] as const) {
    simulation.editSpec(spec);
    await simulation.until(() => bundleOf(simulation).repair === repair, hourMs);
    assert.equal(bundleOf(simulation).digest, digestOfSteps(simulation, jobId, repair));
    assert.equal(bundleOf(simulation).jobId, jobId);
    await simulation.run(10 * minuteMs, (step) => oracles.check(step));
    assert.equal(simulation.condition('Ready'), 'True/Published');
  }
  assert.equal(simulation.callsOf('start'), 1);
  await simulation.until(() => bundleOf(simulation).link !== undefined, hourMs);
});

test('search: an export with the same content after its search is unchanged', async () => {
  const simulation = await publishedInMirror(both);
  const before = bundleOf(simulation);
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  assert.deepEqual(bundleOf(simulation), before);
});

test('search: an operator with another search makes nothing again while the mirror has the copy', async () => {
  const simulation = await publishedInMirror(searching);
  const before = bundleOf(simulation);
  simulation.update({ search: 2 });
  await simulation.run(3 * dayMs);
  assert.deepEqual(bundleOf(simulation), before);
  assert.equal(simulation.mirror.calls.filter((call) => call === 'copy').length, 1);
});

test('search: a lost copy with another search is replaced by a version of the same job, with the reason', async () => {
  const simulation = await publishedInMirror(both);
  const before = bundleOf(simulation);
  simulation.update({ search: 2 });
  simulation.mirror.copies.clear();
  const oracles = new Oracles(simulation);
  await simulation.until(() => bundleOf(simulation).version !== before.version, 26 * hourMs);
  await simulation.run(dayMs, (step) => oracles.check(step));
  const { digest, jobId, repairRevision, version } = bundleOf(simulation);
  assert.equal(digest, digestOfSteps(simulation, before.jobId, 'sitemap search'));
  assert.deepEqual([jobId, repairRevision], [before.jobId, 'sitemap:1 search:2']);
  assert.ok(version > before.version);
  assert.match(
    simulation.status().job?.report?.join() ?? '',
    /Rules changed with the operator: search:2; before: search:1\./,
  );
  assert.deepEqual([simulation.condition('Mirrored'), simulation.callsOf('start')], ['True/Copied', 1]);
});

test('search: without a mirror the resource stalls with the remedy, and keeps what is published', async () => {
  const simulation = await publishedInMirror({ mirror: undefined });
  const { version } = bundleOf(simulation);
  simulation.editSpec(searching);
  await simulation.run(dayMs);
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
  const stalled = simulation.status().conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /spec\.transform \(needs spec\.mirror, .* add a mirror/);
  assert.equal(bundleOf(simulation).version, version);
});

test('search: a site that is too large for it is rejected after one download, and accepted without it', async () => {
  const simulation = new Simulation({ spec: { mirror: mirrorSpec, ...searching } });
  simulation.mirror.repair = (repair, inspection, revision) => {
    if (repair?.includes('search'))
      throw new PublishableError('TooLargeForSearch', 'no', { kind: 'refused' });
    return repairedBy(repair, inspection, revision);
  };
  await simulation.until(() => simulation.status().job?.verdict === 'BundleRejected', hourMs);
  await simulation.run(10 * minuteMs, () => {
    const copies = simulation.mirror.calls.filter((call) => call === 'copy').length;
    assert.ok(copies <= simulation.callsOf('start'), 'an archive is downloaded twice');
  });
  const rejected = simulation.status().job?.id;
  const starts = simulation.callsOf('start');
  simulation.editSpec({ transform: undefined });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  assert.deepEqual([simulation.callsOf('start'), bundleOf(simulation).jobId], [starts, rejected]);
  assert.equal(simulation.status().failures?.export, undefined);
});
