// The Workload target in tables: the annotation, its owner, and the end of a rollout.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWorkload, workloadFields } from '#operator/targets/workload.ts';
import * as fc from '../../../support/properties.ts';

const version = '20261123-030000-0a1b2c3d';
const wanted = { version, digest: undefined };
const annotation = 'staticexport.dev/version';

function workload(spec: object, status: object = {}, held?: string, manager?: string) {
  const annotations = held === undefined ? {} : { [annotation]: held };
  const fieldsV1 = {
    'f:spec': { 'f:template': { 'f:metadata': { 'f:annotations': { [`f:${annotation}`]: {} } } } },
  };
  const managedFields = manager === undefined ? [] : [{ manager, operation: 'Apply', fieldsV1 }];
  return {
    metadata: { generation: 3, managedFields },
    spec: { ...spec, template: { metadata: { annotations } } },
    status: { observedGeneration: 3, ...status },
  };
}

test('the pod template gets the version, and nothing else is applied', () => {
  const { plan, held } = readWorkload('Deployment', workload({}, {}, 'old'), wanted);
  assert.deepEqual(plan, { outcome: 'edit', changes: [{ key: annotation, value: version }] });
  assert.equal(held, 'old');
  const annotations = { [annotation]: version, 'staticexport.dev/digest': 'd', 'staticexport.dev/ref': 'r' };
  assert.deepEqual(workloadFields({ version, digest: 'd', ref: 'r' }), {
    spec: { template: { metadata: { annotations } } },
  });
});

test('a workload that carries the version is in sync', () => {
  assert.deepEqual(readWorkload('DaemonSet', workload({}, {}, version), wanted).plan, { outcome: 'in-sync' });
});

test('a workload with the version and another reference restarts', () => {
  const { plan } = readWorkload('Deployment', workload({}, {}, version), { version, ref: 'r' });
  assert.deepEqual(plan, { outcome: 'edit', changes: [{ key: 'staticexport.dev/ref', value: 'r' }] });
});

test('an annotation that another manager applies is not written', () => {
  const { plan } = readWorkload('Deployment', workload({}, {}, 'old', 'helm'), wanted);
  assert.match(plan.outcome === 'owned' ? plan.message : '', /^helm owns the annotation; remove it/);
});

const all = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const nodes = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
const deadline = {
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
};
for (const [name, kind, spec, status, state] of [
  ['a Deployment with all pods updated', 'Deployment', { replicas: 2 }, all, 'complete'],
  ['a Deployment of zero pods', 'Deployment', { replicas: 0 }, {}, 'complete'],
  ['a Deployment with old pods', 'Deployment', { replicas: 2 }, { ...all, replicas: 3 }, 'in-progress'],
  [
    'a Deployment with a pod not available',
    'Deployment',
    { replicas: 2 },
    { ...all, availableReplicas: 1 },
    'in-progress',
  ],
  [
    'a template not observed',
    'Deployment',
    { replicas: 2 },
    { ...all, observedGeneration: 2 },
    'in-progress',
  ],
  [
    'a Deployment past its deadline',
    'Deployment',
    { replicas: 2 },
    { ...all, updatedReplicas: 1, ...deadline },
    'failed',
  ],
  ['a paused Deployment', 'Deployment', { replicas: 2, paused: true }, all, 'paused'],
  ['a StatefulSet with all pods updated', 'StatefulSet', { replicas: 2 }, all, 'complete'],
  [
    'a StatefulSet with one of two updated',
    'StatefulSet',
    { replicas: 2 },
    { ...all, updatedReplicas: 1 },
    'in-progress',
  ],
  [
    'a StatefulSet whose partition keeps one pod',
    'StatefulSet',
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...all, updatedReplicas: 1 },
    'complete',
  ],
  ['a DaemonSet on all nodes', 'DaemonSet', {}, nodes, 'complete'],
  [
    'a DaemonSet on one of two nodes',
    'DaemonSet',
    {},
    { ...nodes, updatedNumberScheduled: 1 },
    'in-progress',
  ],
  [
    'a DaemonSet that is updated by hand',
    'DaemonSet',
    { updateStrategy: { type: 'OnDelete' } },
    {},
    'complete',
  ],
] as const) {
  test(`${name} is ${state}`, () => {
    assert.equal(readWorkload(kind, workload(spec, status, version), wanted).rollout.state, state);
  });
}

test('an object of any shape never throws', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('Deployment', 'StatefulSet', 'DaemonSet'),
      fc.object({ maxDepth: 6 }),
      (kind, object) => {
        readWorkload(kind, object, wanted);
      },
    ),
  );
});
