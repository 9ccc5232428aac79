// The rules of mirrors as short scenarios without randomness: what is published only with a copy, what is served without
// the vendor, and what is deleted. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { mirrorSpec } from './fake-mirror.ts';
import { Oracles } from './oracles.ts';
import { configMapId, hourMs, minuteMs, nextVerdict, request } from './published-simulation.ts';
import { outputName, Simulation, type SimulationOptions } from './simulation.ts';

const dayMs = 24 * hourMs;
const linkless = { mirror: mirrorSpec, output: { link: 'Never' } } as const;

async function mirrored(options: SimulationOptions = {}): Promise<Simulation> {
  const simulation = new Simulation({ ...options, spec: { mirror: mirrorSpec, ...options.spec } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  return simulation;
}

function publishedBundle(simulation: Simulation) {
  return parsePublishedBundle(simulation.output()?.['bundle.json'] ?? '');
}

/** Another export with other content. */
async function publishNext(simulation: Simulation, name: string): Promise<void> {
  simulation.vendor.contents.set('docs.example.com', { name, pages: 20 });
  request(simulation, name);
  assert.equal(await nextVerdict(simulation), 'Promoted');
}

test('mirror: a version is published with the reference of its copy, and the Secret and the ConfigMap hold it', async () => {
  const simulation = await mirrored();
  const { ref, digest } = publishedBundle(simulation);
  assert.equal(ref, simulation.mirror.refOf(digest ?? ''));
  assert.equal(simulation.output()?.['ref'], ref);
  assert.match(simulation.output()?.['values.yaml'] ?? '', /ref: "oci:/);
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
  assert.equal(simulation.mirror.written, 1);
  assert.equal(simulation.status().history?.[0]?.ref, ref);
});

test('mirror: a deleted output Secret of a publication without a link is written again, with one event', async () => {
  const simulation = await mirrored({ spec: linkless });
  const { version } = publishedBundle(simulation);
  const issued = simulation.callsOf('issue');
  for (const deletions of [1, 2]) {
    assert.ok(simulation.cluster.secrets.delete(configMapId));
    simulation.prompt();
    await simulation.run(hourMs);
    assert.equal(publishedBundle(simulation).version, version);
    const message = `Secret docs/${outputName} was deleted. It was written again for version ${version}.`;
    assert.deepEqual(
      simulation.events.filter(({ reason }) => reason === 'OutputMissing'),
      Array.from({ length: deletions }, () => ({ type: 'Warning', reason: 'OutputMissing', message })),
    );
  }
  assert.equal(simulation.callsOf('issue'), issued);
});

test('mirror: a mirror that is away keeps a new version from publication, and the published one stays', async () => {
  const simulation = await mirrored();
  const { version } = publishedBundle(simulation);
  simulation.mirror.failing = 'Unreachable';
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
  await simulation.run(dayMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(publishedBundle(simulation).version, version);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.condition('Exported'), 'False/MirrorFailed');
  assert.equal(simulation.callsOf('start'), 2);
  // A day of back-off: the archive is not fetched every minute.
  assert.ok(simulation.mirror.calls.length < 200, `${simulation.mirror.calls.length} calls`);
  simulation.mirror.failing = undefined;
  await simulation.until(() => publishedBundle(simulation).version !== version, 15 * minuteMs);
  assert.equal(simulation.condition('Mirrored'), 'True/Copied');
});

test('mirror: BestEffort publishes without a copy, and copies later with the published link', async () => {
  const simulation = new Simulation({ spec: { mirror: { ...mirrorSpec, policy: 'BestEffort' } } });
  simulation.mirror.failing = 'Denied';
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  assert.equal(simulation.output()?.['ref'], undefined);
  assert.equal(simulation.condition('Mirrored'), 'False/Denied');
  const issued = simulation.callsOf('issue');
  simulation.mirror.failing = undefined;
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', 11 * minuteMs);
  const { ref, digest } = publishedBundle(simulation);
  assert.equal(ref, simulation.mirror.refOf(digest ?? ''));
  assert.ok(simulation.callsOf('issue') <= issued + 1, 'copying asked for links of its own');
});

test('mirror: a host that is not allowed costs no download and no link', async () => {
  const simulation = new Simulation({ spec: { mirror: mirrorSpec } });
  simulation.mirror.isHostAllowed = false;
  await simulation.run(6 * hourMs);
  assert.equal(simulation.condition('Mirrored'), 'False/HostNotAllowed');
  assert.equal(simulation.condition('Exported'), 'False/MirrorFailed');
  assert.equal(simulation.callsOf('issue'), 0);
  assert.deepEqual(simulation.mirror.calls, []);
});

test('mirror: a Secret that does not exist is named, and used within its back-off once it is there', async () => {
  const simulation = new Simulation({ spec: { mirror: mirrorSpec } });
  simulation.cluster.secrets.delete('docs/mirror');
  await simulation.run(hourMs);
  assert.equal(simulation.condition('Mirrored'), 'False/SecretMissing');
  simulation.cluster.putSecret({ namespace: 'docs', name: 'mirror' }, { username: 'u', password: 'p' });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 11 * minuteMs);
});

test('link Never: no link is published, nothing is called between exports, and LinkFresh is absent', async () => {
  const simulation = new Simulation({ spec: linkless });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  const published = publishedBundle(simulation);
  assert.equal(published.link, undefined);
  assert.equal(simulation.output()?.['bundleUrl'], undefined);
  assert.equal(simulation.condition('LinkFresh'), '-');
  assert.equal(simulation.status().nextRefreshTime, undefined);
  const calls = simulation.vendor.calls.length;
  await simulation.run(40 * dayMs);
  assert.equal(simulation.vendor.calls.length, calls);
  const looks = simulation.mirror.calls.filter((call) => call === 'look').length;
  assert.ok(looks >= 39 && looks <= 45, `${looks} looks in 40 days`);
});

test('link Never: an edit drops the published link once the copy is there, and Always publishes one again', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  const { version } = publishedBundle(simulation);
  simulation.editSpec(linkless);
  await simulation.until(() => simulation.output()?.['bundleUrl'] === undefined, 5 * minuteMs);
  assert.equal(publishedBundle(simulation).version, version);
  assert.equal(simulation.condition('LinkFresh'), '-');
  simulation.editSpec({ output: { link: 'Always' } });
  await simulation.until(() => simulation.condition('LinkFresh') === 'True/Fresh', 5 * minuteMs);
  assert.ok(simulation.isLinkValid());
  assert.equal(publishedBundle(simulation).version, version);
});

test('link Never: a requested refresh is answered, because there is no link to refresh', async () => {
  const simulation = await mirrored({ spec: { output: { link: 'Never' } } });
  const issued = simulation.callsOf('issue');
  simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'leaked' });
  await simulation.run(minuteMs);
  assert.equal(simulation.status().lastHandledRefresh, 'leaked');
  assert.equal(simulation.callsOf('issue'), issued);
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('link Never: a spec without any mirror is not valid, and its link stays', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  simulation.editSpec({ output: { link: 'Never' } });
  await simulation.run(hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
});

test('mirror: a rollback reads the copy, and needs no vendor', async () => {
  for (const link of ['Never', 'Always']) {
    const simulation = await mirrored({ spec: { output: { link } } });
    const first = publishedBundle(simulation);
    await publishNext(simulation, 'second');
    simulation.vendor.failing = 'NetworkError';
    simulation.vendor.jobs.clear();
    simulation.editSpec({ pin: { version: first.version } });
    await simulation.until(() => publishedBundle(simulation).version === first.version, 5 * minuteMs);
    assert.equal(publishedBundle(simulation).ref, first.ref);
    assert.equal(publishedBundle(simulation).link, undefined);
    if (link === 'Never') assert.equal(simulation.condition('Ready'), 'True/Pinned');
    assert.ok(simulation.mirror.calls.includes('verify'));
  }
});

test('mirror: a rollback whose copy is gone uses the link, and copies again', async () => {
  const simulation = await mirrored();
  const first = publishedBundle(simulation);
  await publishNext(simulation, 'second');
  simulation.mirror.copies.delete(first.ref ?? '');
  simulation.editSpec({ pin: { version: first.version } });
  await simulation.until(() => publishedBundle(simulation).version === first.version, 10 * minuteMs);
  assert.equal(publishedBundle(simulation).ref, first.ref);
  assert.ok(simulation.mirror.copies.has(first.ref ?? ''));
});

test('mirror: a copy that is lost is noticed within a day, reported, and made again', async () => {
  for (const link of ['Never', 'Always']) {
    const simulation = await mirrored({ spec: { output: { link } } });
    const { ref = '', version } = publishedBundle(simulation);
    simulation.vendor.failing = 'NetworkError';
    simulation.mirror.copies.clear();
    await simulation.until(() => simulation.condition('Mirrored') === 'False/Lost', 25 * hourMs);
    assert.equal(simulation.condition('Ready'), link === 'Never' ? 'False/NotMirrored' : 'False/LinkExpired');
    assert.equal(publishedBundle(simulation).version, version);
    simulation.vendor.failing = undefined;
    await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', hourMs);
    assert.ok(simulation.mirror.copies.has(ref));
    assert.equal(publishedBundle(simulation).ref, ref);
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', 10 * minuteMs);
  }
});

test('mirror: an export of the same content makes a lost copy again, also where the job of the version is gone', async () => {
  const simulation = await mirrored({ spec: linkless });
  simulation.mirror.copies.clear();
  simulation.vendor.jobs.clear();
  await simulation.until(() => simulation.status().failures?.mirror !== undefined, 25 * hourMs);
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  const { conditions = [], failures } = simulation.status();
  const told = ['Ready', 'Mirrored'].map((type) => conditions.find((one) => one.type === type)?.reason);
  assert.deepEqual([...told, failures?.mirror], ['Published', 'Copied', undefined]);
});

test('mirror: a mirror that does not answer says nothing about the copy', async () => {
  const simulation = await mirrored({ spec: { output: { link: 'Never' } } });
  simulation.mirror.failing = 'Unreachable';
  await simulation.run(3 * dayMs);
  assert.equal(simulation.condition('Mirrored'), 'Unknown/Unreachable');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  simulation.mirror.failing = undefined;
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', 15 * minuteMs);
});

test('mirror: a lost output Secret is written again from the copy, without the vendor', async () => {
  for (const link of ['Never', 'Always']) {
    const simulation = await mirrored({ spec: { output: { link } } });
    const { version, ref } = publishedBundle(simulation);
    simulation.vendor.failing = 'NetworkError';
    simulation.cluster.secrets.delete('docs/site-bundle');
    simulation.prompt();
    await simulation.until(() => simulation.output() !== undefined, 10 * minuteMs);
    assert.equal(publishedBundle(simulation).version, version);
    assert.equal(publishedBundle(simulation).ref, ref);
  }
});

test('mirror: an edit of its place copies the published version there', async () => {
  const simulation = await mirrored();
  const before = simulation.mirror.calls.length;
  simulation.editSpec({
    mirror: { oci: { ...mirrorSpec.oci, secretRef: { name: 'mirror' } }, compression: 'Gzip' },
  });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.mirror.calls.length, before, 'a copy that is there was made again');
  simulation.editSpec({ mirror: undefined });
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('Mirrored'), '-');
  simulation.editSpec({ mirror: mirrorSpec });
  await simulation.until(() => simulation.condition('Mirrored') === 'True/Copied', 10 * minuteMs);
});

test('mirror: a held candidate is copied, and its release publishes that copy', async () => {
  for (const link of ['Never', 'Always']) {
    const simulation = await mirrored({ spec: { output: { link } } });
    simulation.editSpec({ promotion: { mode: 'Manual' } });
    simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    request(simulation, 'second');
    assert.equal(await nextVerdict(simulation), 'Held');
    const { version = '', ref } = simulation.status().candidate ?? {};
    assert.ok(ref !== undefined);
    if (link === 'Never') simulation.vendor.failing = 'NetworkError';
    simulation.annotate({ 'staticexport.dev/promote': version });
    await simulation.until(() => publishedBundle(simulation).version === version, 5 * minuteMs);
    assert.equal(publishedBundle(simulation).ref, ref);
  }
});

test('retention: copies that the history no longer lists are deleted after their time, and no others', async () => {
  const spec = { historyLimit: 1, mirror: { ...mirrorSpec, retention: { unlisted: '3d' } } };
  const simulation = await mirrored({ spec });
  const first = publishedBundle(simulation);
  await publishNext(simulation, 'second');
  const second = publishedBundle(simulation);
  await simulation.run(3 * dayMs);
  assert.deepEqual(simulation.mirror.removed, []);
  assert.equal(simulation.status().unlistedCopies?.[0]?.digest, first.digest);
  await simulation.run(3 * dayMs);
  assert.deepEqual(simulation.mirror.removed, [first.digest]);
  assert.ok(simulation.mirror.copies.has(second.ref ?? ''));
  assert.equal(simulation.status().unlistedCopies, undefined);
});

test('retention: a registry without deletes is a reason until it deletes, and a restart forgets nothing', async () => {
  const spec = { historyLimit: 1, mirror: { ...mirrorSpec, retention: { unlisted: '3d' } } };
  const simulation = await mirrored({ spec });
  const first = publishedBundle(simulation);
  await publishNext(simulation, 'second');
  await simulation.run(2 * dayMs);
  const seen = simulation.status().unlistedCopies;
  assert.equal(seen?.[0]?.digest, first.digest);
  simulation.mirror.keepsOldCopies = true;
  await simulation.run(3 * dayMs);
  simulation.restart();
  await simulation.run(2 * dayMs);
  const { unlistedCopies, failures, conditions } = simulation.status();
  assert.deepEqual(unlistedCopies, seen);
  assert.ok((failures?.retention?.count ?? 0) > 2, JSON.stringify(failures));
  const reason = () => simulation.status().conditions?.find(({ type }) => type === 'Mirrored');
  assert.deepEqual(
    [reason()?.status, reason()?.reason],
    ['True', 'RetentionFailed'],
    JSON.stringify(conditions),
  );
  simulation.mirror.keepsOldCopies = false;
  await simulation.run(2 * dayMs);
  assert.deepEqual([simulation.mirror.removed, reason()?.reason], [[first.digest], 'Copied']);
  assert.equal(simulation.status().failures?.retention, undefined);
});

test('mirror: thirty days with the vendor dead from the first day, drained nodes and a rollback leave every version at hand', async () => {
  const simulation = await mirrored({ spec: { output: { link: 'Never' }, schedule: '0 3 * * *' } });
  const oracles = new Oracles(simulation);
  const first = publishedBundle(simulation);
  await publishNext(simulation, 'second');
  simulation.vendor.failing = 'NetworkError';
  simulation.vendor.jobs.clear();
  for (let day = 1; day <= 30; day += 1) {
    // The node of the operator is drained.
    simulation.restart();
    if (day === 10) simulation.editSpec({ pin: { version: first.version } });
    oracles.disturb();
    await simulation.run(dayMs, async (step) => {
      await oracles.check(step);
      const { ref = '' } = publishedBundle(simulation);
      assert.ok(simulation.mirror.copies.has(ref), 'a new server finds no bundle');
    });
    assert.equal(simulation.condition('Ready'), day < 10 ? 'True/Published' : 'True/Pinned');
  }
  assert.equal(publishedBundle(simulation).version, first.version);
});
