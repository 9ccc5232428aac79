// Targets: only with consent, only the named leaves, only what the Secret holds; a failing one delays nothing, and
// whoever undoes a write three times is left alone until something new is to be written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World, type WorldOptions } from '../../simulation/world.ts';

const minuteMs = 60_000;
const theirs = { namespace: 'apps', name: 'docs-values' };
const before = '# ours\nreplicas: 2\nstaticExport:\n  enabled: false # not yet\n';
const consent = { 'staticexport.dev/allow-from': 'docs/site' };
const inConfigMap = { kind: 'values', values: { kind: 'ConfigMap', namespace: 'apps', name: 'docs-values' } };

async function publishedWorld(
  spec: Record<string, unknown>,
  arrange: (world: World) => void,
): Promise<World> {
  const options: WorldOptions = { spec };
  const world = new World(options);
  arrange(world);
  await world.until(() => world.condition('Exported') === 'True/Promoted');
  return world;
}

function textIn(world: World): string {
  return world.cluster.configMaps.get('apps/docs-values')?.data['values.yaml'] ?? '';
}

test('the version is written into the document, comments and order kept', async () => {
  const world = await publishedWorld({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  assert.match(textIn(world), /^# ours\nreplicas: 2\nstaticExport:\n {2}enabled: true # not yet\n/);
  assert.ok(textIn(world).includes(world.output()?.['version'] ?? 'nothing'));
  assert.equal(world.condition('TargetsSynced'), 'True/Synced');
});

test('a refresh writes a target only where the link was asked for', async () => {
  const withLink = {
    kind: 'values',
    write: ['version', 'bundleUrl'],
    values: { kind: 'Secret', namespace: 'apps', name: 'docs-secret' },
  };
  const world = await publishedWorld({ targets: [inConfigMap, withLink] }, (one) => {
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    one.cluster.putSecret({ namespace: 'apps', name: 'docs-secret' }, { 'values.yaml': before });
    const secret = one.cluster.secrets.get('apps/docs-secret');
    assert.ok(secret);
    one.cluster.secrets.set('apps/docs-secret', {
      ...secret,
      metadata: { ...secret.metadata, annotations: consent },
    });
  });
  const text = textIn(world);
  await world.run(60 * minuteMs);
  assert.equal(textIn(world), text);
  const secret = new TextDecoder().decode(world.cluster.secrets.get('apps/docs-secret')?.data['values.yaml']);
  assert.ok(secret.includes(world.output()?.['bundleUrl'] ?? 'nothing'), 'the Secret follows the link');
  assert.equal(world.condition('TargetsSynced'), 'True/Synced');
});

for (const [name, arrange] of [
  ['an object that does not exist', () => {}],
  [
    'an object that does not consent',
    (world: World) => world.cluster.putConfigMap(theirs, { 'values.yaml': before }),
  ],
  [
    'an object that consents to another resource',
    (world: World) =>
      world.cluster.putConfigMap(
        theirs,
        { 'values.yaml': before },
        { 'staticexport.dev/allow-from': 'docs/other' },
      ),
  ],
] as const) {
  test(`${name} reads as NotGranted, and does not unset Ready`, async () => {
    const world = await publishedWorld({ targets: [inConfigMap] }, arrange);
    assert.equal(world.condition('TargetsSynced'), 'False/NotGranted');
    assert.equal(world.condition('Ready'), 'True/Published');
    const written = world.cluster.writes.filter(({ kind }) => kind === 'Document');
    assert.equal(written.length, 0);
    world.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    await world.until(() => world.condition('TargetsSynced') === 'True/Synced', 11 * minuteMs);
  });
}

test('a document that cannot be edited safely is refused and left as it is', async () => {
  for (const text of ['- a list\n', 'a: 1\na: 2\n', 'staticExport: &x {}\nother: *x\n']) {
    const world = await publishedWorld({ targets: [inConfigMap] }, (one) =>
      one.cluster.putConfigMap(theirs, { 'values.yaml': text }, consent),
    );
    assert.equal(world.condition('TargetsSynced'), 'False/Refused');
    assert.equal(textIn(world), text);
  }
});

test('three reverts within ten minutes are contested, until a new version', async () => {
  const world = await publishedWorld({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  for (let revert = 0; revert < 3; revert += 1) {
    assert.equal(world.condition('TargetsSynced'), 'True/Synced');
    await world.clock.pass(minuteMs);
    world.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    await world.turn();
  }
  assert.equal(world.condition('TargetsSynced'), 'False/Contested');
  const writes = world.cluster.writes.filter(({ kind }) => kind === 'Document').length;
  await world.run(60 * minuteMs);
  assert.equal(world.cluster.writes.filter(({ kind }) => kind === 'Document').length, writes);
  assert.equal(textIn(world), before);
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  world.annotate({ 'staticexport.dev/requestedAt': 'new' });
  await world.until(() => world.condition('TargetsSynced') === 'True/Synced');
  assert.ok(textIn(world).includes(world.output()?.['version'] ?? 'nothing'));
});

test('a suspended resource writes no target', async () => {
  const world = await publishedWorld({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  world.editSpec({ suspend: true });
  await world.turn();
  world.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
  await world.run(30 * minuteMs);
  assert.equal(textIn(world), before);
});

test('rule 12: when the resource goes, its outputs go with it and targets keep their last value', async () => {
  const world = await publishedWorld({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  const text = textIn(world);
  world.cluster.remove({ namespace: 'docs', name: 'site' });
  const { outcome } = await world.turn();
  assert.equal(outcome?.because, 'gone');
  assert.equal(outcome?.wakeAfterMs, undefined);
  assert.equal(world.output(), undefined);
  assert.equal(textIn(world), text);
});
