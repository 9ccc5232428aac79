// The status that helm-controller writes during one release, step by step as its documentation describes it, and what a
// target reports after each step. helm-controller itself cannot be built here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHelmRelease } from '#operator/targets/helm-release.ts';

const version = '20261123-030000-0a1b2c3d';
const condition = (type: string, status: string, reason: string) => ({ type, status, reason });
const ready = (status: string, reason: string) => condition('Ready', status, reason);
const stalled = (reason: string) => condition('Stalled', 'True', reason);
const history = (...states: readonly string[]) => states.map((status) => ({ status }));
const released = history('deployed', 'superseded');

interface Step {
  readonly observed?: number;
  readonly suspend?: boolean;
  readonly conditions: readonly object[];
  readonly history?: readonly object[];
  readonly reported: string;
}

const before: Step = {
  ...{ observed: 1, conditions: [ready('True', 'UpgradeSucceeded')], history: released },
  reported: 'in-progress: helm-controller has not observed the new values',
};
const progressing: Step = {
  ...{ conditions: [ready('Unknown', 'Progressing'), condition('Reconciling', 'True', 'Progressing')] },
  ...{ history: released, reported: 'in-progress: helm-controller reports Progressing' },
};
const failed = (reason: string): string =>
  `failed: helm-controller reports ${reason}; read the condition Ready of the HelmRelease`;
const undone = (reason: string): string =>
  `failed: helm-controller undid the release (${reason}); read the condition Released of the HelmRelease`;

const sequences: Readonly<Record<string, readonly Step[]>> = {
  'an upgrade that succeeds': [
    before,
    progressing,
    { conditions: [ready('True', 'UpgradeSucceeded')], history: released, reported: 'complete' },
  ],
  'an upgrade whose history is not written yet': [
    before,
    {
      ...{ conditions: [ready('True', 'UpgradeSucceeded')], history: history('pending-upgrade', 'deployed') },
      reported: 'in-progress: helm-controller reports UpgradeSucceeded',
    },
  ],
  'an upgrade that fails and is rolled back': [
    before,
    progressing,
    {
      ...{ conditions: [ready('False', 'UpgradeFailed')], history: history('failed', 'superseded') },
      reported: failed('UpgradeFailed'),
    },
    {
      conditions: [ready('False', 'RollbackSucceeded'), condition('Remediated', 'True', 'RollbackSucceeded')],
      ...{ history: history('deployed', 'failed', 'superseded'), reported: undone('RollbackSucceeded') },
    },
    {
      conditions: [ready('False', 'RollbackSucceeded'), stalled('RetriesExceeded')],
      ...{ history: history('deployed', 'failed', 'superseded'), reported: undone('RollbackSucceeded') },
    },
  ],
  'a rollback that is shown as ready': [
    {
      ...{ conditions: [ready('True', 'RollbackSucceeded')], history: history('deployed', 'failed') },
      reported: undone('RollbackSucceeded'),
    },
  ],
  'an install that fails and is removed': [
    {
      conditions: [ready('False', 'InstallFailed')],
      history: history('failed'),
      reported: failed('InstallFailed'),
    },
    { conditions: [ready('False', 'UninstallSucceeded')], reported: undone('UninstallSucceeded') },
  ],
  'a retry that succeeds after a failure': [
    {
      conditions: [ready('False', 'UpgradeFailed')],
      history: history('failed'),
      reported: failed('UpgradeFailed'),
    },
    progressing,
    { conditions: [ready('True', 'UpgradeSucceeded')], history: released, reported: 'complete' },
  ],
  'retries that are exhausted while a release is pending': [
    {
      conditions: [ready('False', 'PendingRelease'), stalled('RetriesExceeded')],
      ...{ history: history('failed', 'deployed'), reported: failed('PendingRelease') },
    },
  ],
  'a release that stalls before it is ready or not': [
    {
      conditions: [ready('Unknown', 'Progressing'), stalled('MissingRollbackTarget')],
      ...{ history: history('failed'), reported: failed('Progressing') },
    },
  ],
  'a chart test that fails': [
    { conditions: [ready('False', 'TestFailed')], history: released, reported: failed('TestFailed') },
  ],
  'a dependency that is not ready': [
    {
      ...{ conditions: [ready('False', 'DependencyNotReady')], history: released },
      reported: 'in-progress: helm-controller reports DependencyNotReady',
    },
  ],
  'a suspended release': [
    {
      ...before,
      ...{
        suspend: true,
        reported: 'paused: the HelmRelease is suspended; resume it with flux resume helmrelease',
      },
    },
  ],
};

for (const [name, steps] of Object.entries(sequences)) {
  test(`${name} is reported step by step`, () => {
    const reported = steps.map(({ observed = 2, suspend = false, conditions, history: releases }) => {
      const spec = { suspend, values: { staticExport: { version } } };
      const status = { observedGeneration: observed, conditions, history: releases };
      const object = { metadata: { generation: 2 }, spec, status };
      const { rollout } = readHelmRelease(object, { version, digest: undefined });
      return 'message' in rollout ? `${rollout.state}: ${rollout.message}` : rollout.state;
    });
    assert.deepEqual(
      reported,
      steps.map((step) => step.reported),
    );
  });
}
