// Mistakes of users and other programs with a resource, its Secrets and its permissions: each is reported with the
// remedy, affects no other resource, and recovers when it is corrected. At the end all output of the run is searched
// for keys and links.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { SecretWatch, seeText } from '../../support/secret-watch.ts';
import { startEnvironment } from './operator-environment.ts';
import { staticExportOf } from './resources.ts';
import { withoutRight } from './role-rights.ts';
import { goodKey } from './scripted-vendor.ts';

const namespace = 'team-a';
const doomed = 'team-doomed';

const logged = (words: RegExp) =>
  eventually(`a line that says ${words}`, () => operator.log.find((line) => words.test(line)), {
    timeoutMs: 120_000,
  });
const patchCrd = (...operations: readonly object[]): Promise<unknown> =>
  world.api.patch('crd', 'staticexports.staticexport.dev', operations);
const rules = '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations';
const schema = '/spec/versions/0/schema/openAPIV3Schema/properties';

const { world, vendor, reader, staticExport, start } = await startEnvironment({
  namespaces: [namespace, doomed],
  ownControlPlane: true,
  isFast: true,
});
const operator = await start(['--request-timeout=5s']);

test('a missing permission is reported with its verb and resource', async () => {
  await withoutRight(world, { namespace, resource: 'secrets', verb: 'patch' }, async () => {
    await world.apply(staticExport('rightless'));
    const note = await eventually(
      'an event that says so',
      async () => {
        const told = await reader.eventsOf('rightless');
        return told.find((one) => one.note.includes('does not allow'))?.note;
      },
      { timeoutMs: 120_000 },
    );
    assert.match(
      note,
      /does not allow "patch" on secrets "rightless-bundle" in namespace team-a; add the verb/,
    );
    const { message } = await reader.awaitCondition('rightless', 'Exported', 'False', 'OutputWriteFailed');
    assert.match(
      message,
      /could not be written.* does not allow "patch" on secrets "rightless-bundle".*Job job\/\d+ at/,
    );
    const ready = await reader.condition('rightless', 'Ready');
    assert.match(ready?.message ?? '', /does not allow "patch" on secrets .*Retrying at /);
  });
  // A test below checks that it continues after its next retry.
});

test('a deletion of the namespace during an export is not reported as a missing permission', async () => {
  vendor.script('going.example.com', { status: () => 'running' });
  await world.apply(staticExportOf('going', {}, doomed));
  await eventually('a poll', () => (vendor.polls('going.example.com') > 0 ? true : undefined));
  await world.api.remove('namespace', doomed);
  vendor.script('going.example.com', { status: () => 'completed' });
  const line = await logged(/namespace team-doomed is being deleted/);
  assert.doesNotMatch(line, /does not allow/);
  assert.equal((await operator.get('/livez')).status, 200);
});

test('an invalid spec stalls with the names of its fields, and the published version stays', async () => {
  await world.apply(staticExport('edited'));
  await reader.awaitCondition('edited', 'Ready', 'True', 'Published');
  const { text } = await reader.readOutput('edited');
  const crd = await reader.read('crd', 'staticexports.staticexport.dev');
  const { properties, 'x-kubernetes-validations': rootRules } = crd.spec.versions[0].schema.openAPIV3Schema;
  const before = properties.spec;
  // As an older CRD, or one without validation, would have admitted it.
  const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await patchCrd({ op: 'remove', path: rules }, { op: 'replace', path: `${schema}/spec`, value: loose });
  await eventually('nonsense accepted', async () => {
    const nonsense = { spec: { domain: 7, schedule: ['daily'], api: null } };
    await world.api.patch('sx', 'edited', nonsense, { namespace });
    const found = await reader.read('sx', 'edited');
    return found.spec.domain === 7 ? true : undefined;
  });
  const { message } = await reader.awaitCondition('edited', 'Stalled', 'True', 'InvalidSpec');
  assert.match(message, /spec\.domain/);
  assert.equal((await reader.readOutput('edited')).text('bundle.json'), text('bundle.json'));
  const { spec } = staticExport('edited');
  await world.api.patch('sx', 'edited', { spec: { ...spec, schedule: null } }, { namespace });
  await reader.awaitCondition('edited', 'Ready', 'True', 'Published');
  await patchCrd(
    { op: 'add', path: rules, value: rootRules },
    { op: 'replace', path: `${schema}/spec`, value: before },
  );
  assert.equal(vendor.jobs('edited.example.com').length, 1);
});

test('with a CRD older than the operator exports are published, although some status fields are dropped', async () => {
  const crd = await reader.read('crd', 'staticexports.staticexport.dev');
  const { status } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
  const dropped = ['history', 'nextRefreshTime', 'failures'].map((name) => ({
    op: 'remove',
    path: `${schema}/status/properties/${name}`,
  }));
  await patchCrd(...dropped);
  await world.apply(staticExport('older'));
  await reader.awaitCondition('older', 'Ready', 'True', 'Published');
  assert.equal((await reader.read('sx', 'older')).status.nextRefreshTime, undefined);
  assert.equal(vendor.jobs('older.example.com').length, 1);
  await patchCrd({ op: 'replace', path: `${schema}/status`, value: status });
});

test('a field and a condition that a newer version wrote into status are kept', async () => {
  await patchCrd({
    op: 'add',
    path: `${schema}/status/properties/future`,
    value: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  });
  await world.apply(staticExport('owner'));
  await reader.awaitCondition('owner', 'Ready', 'True', 'Published');
  const condition = {
    type: 'FromTheFuture',
    status: 'True',
    reason: 'Newer',
    message: 'kept',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  };
  await eventually('the newer status accepted', async () => {
    const { status } = await reader.read('sx', 'owner');
    const others = status.conditions.filter((one: { readonly type: string }) => one.type !== condition.type);
    const next = { future: { a: [1] }, conditions: [...others, condition] };
    await world.api.patch('sx', 'owner', { status: next }, { namespace, subresource: 'status' });
    return (await reader.read('sx', 'owner')).status.future === undefined ? undefined : true;
  });
  await reader.request('owner', 'after the future');
  await eventually(
    'the request handled',
    async () => {
      const { status } = await reader.read('sx', 'owner');
      const isHandled = status.lastHandledRequest === 'after the future';
      return (isHandled && status.job.verdict !== undefined) || undefined;
    },
    { timeoutMs: 120_000 },
  );
  const { status } = await reader.read('sx', 'owner');
  assert.deepEqual(status.future, { a: [1] });
  assert.equal((await reader.condition('owner', 'FromTheFuture'))?.message, 'kept');
});

test('a resource that lacked a permission is published after it is granted, by the same job', async () => {
  await reader.awaitCondition('rightless', 'Ready', 'True', 'Published', 120_000);
  assert.equal(vendor.jobs('rightless.example.com').length, 1);
});

test('no output of the run holds a key or link, except the Secrets for them', async () => {
  const { stdout } = await world.kubectl(['api-resources', '--verbs=list', '-o', 'name']);
  const kinds = stdout.split('\n').filter((line) => line !== '');
  assert.ok(kinds.includes('leases.coordination.k8s.io') && kinds.includes('events.events.k8s.io'));
  const listed = await world.kubectl([
    'get',
    kinds.join(','),
    '-A',
    '-o',
    'json',
    '--show-managed-fields',
    '--ignore-not-found',
  ]);
  const objects: readonly { kind: string; metadata: { name: string }; data?: object }[] = JSON.parse(
    listed.stdout,
  ).items;
  const search = new SecretWatch();
  search.declare('the key', goodKey);
  search.see('a Secret', JSON.stringify(objects.filter(({ kind }) => kind === 'Secret')));
  assert.deepEqual(search.findings(), ['a Secret holds the key'], 'the search finds what is there');
  assert.ok(operator.log.length > 50);
  for (const path of ['/metrics', '/livez', '/readyz']) await operator.get(path);
  for (const { data, ...rest } of objects)
    seeText(
      `${rest.kind} ${rest.metadata.name}`,
      JSON.stringify(rest.kind === 'Secret' ? rest : { ...rest, data }),
    );
  reader.assertRulesKept();
});
