// Objects of other owners that targets write: consent, owners, rollouts, syncs, and the time that they take.

import * as records from '#operator/loop/publish/target-record.ts';
import * as targets from '#operator/loop/publish/targets.ts';
import * as wake from '#operator/reconcile/wake.ts';
import { annotations } from '#operator/staticexport/names.ts';
import * as application from '#operator/targets/application.ts';
import * as applicationOwner from '#operator/targets/application-owner.ts';
import * as helmRelease from '#operator/targets/helm-release.ts';
import * as keys from '#operator/targets/static-export-keys.ts';
import * as workload from '#operator/targets/workload.ts';
import type { ForeignObjects } from '#platform/wire/cluster.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { exchange, type Mutations } from './exchange.ts';

export const objectMutations: Mutations = {
  'an object is written without consent': {
    rule: '5',
    exchange: exchange(targets, {
      writeTargets: (real) => (wanted, input, context, signal) => {
        const readForeign: ForeignObjects['readForeign'] = async (kind, key, reading) => {
          const found = await context.objects.readForeign(kind, key, reading);
          if (found === undefined) return undefined;
          const consent = { [annotations.allowFrom]: `${input.owner.namespace}/${input.owner.name}` };
          return { ...found, metadata: { ...found.metadata, annotations: consent } };
        };
        return real(wanted, input, { ...context, objects: { ...context.objects, readForeign } }, signal);
      },
    }),
    scenario: 'objectWithoutConsent',
    caught: /without consent/,
  },
  'a key that an owner declares is taken by force': {
    rule: '5',
    exchange: exchange(applicationOwner, { isDeclared: () => () => false }),
    scenario: 'declaredObject',
    caught: /taken by force/,
  },
  'a key that git dropped is never let go': {
    rule: '5',
    exchange: exchange(helmRelease, {
      readHelmRelease: (real) => (object, wanted) => ({ ...real(object, wanted), isShared: false }),
    }),
    scenario: 'sharedKey',
    caught: /not synced after calm/,
  },
  'all values of a release are applied': {
    rule: '5',
    exchange: exchange(helmRelease, {
      helmReleaseFields: () => (wanted) => ({
        spec: { values: { site: 'docs', staticExport: { ...wanted } } },
      }),
    }),
    scenario: 'releasedObject',
    caught: /a key of another owner was changed/,
  },
  'the values of an Application are replaced': {
    rule: '5',
    exchange: exchange(application, {
      patchValuesObject: () => (_object, path, wanted) => [
        { op: 'add', path: `/${path.join('/')}/helm/valuesObject`, value: { staticExport: { ...wanted } } },
      ],
    }),
    scenario: 'listedObject',
    caught: /a key of another owner was changed/,
  },
  'the values of an Application are written as a new text': {
    rule: '5',
    exchange: exchange(application, {
      patchValuesText: (real) => (object, path, before, after) =>
        real(object, path, before, after.replace('replicas: 2\n', '')),
    }),
    scenario: 'writtenText',
    caught: /a value of another owner was changed/,
  },
  'a version that was not written counts as held': {
    rule: '4',
    exchange: exchange(keys, { planKeys: () => () => ({ outcome: 'in-sync' }) }),
    scenario: 'releasedObject',
    caught: /synced holds another version/,
  },
  'pods count as restarted when the template is written': {
    rule: '4',
    exchange: exchange(workload, {
      readWorkload: (real) => (kind, object, wanted) => ({
        ...real(kind, object, wanted),
        rollout: { state: 'complete' },
      }),
    }),
    scenario: 'restartedPods',
    caught: /synced before its rollout ended/,
  },
  'a rollout is checked once an hour': {
    rule: '14',
    exchange: exchange(wake, {
      nextWake: (real) => (observation, plan) =>
        real({ ...observation, status: { ...observation.status, targets: undefined } }, plan),
    }),
    scenario: 'releasedObject',
    caught: /a rollout is checked only after/,
  },
  'a contested object is written without limit': {
    rule: '6',
    exchange: exchange(targets, {
      writeTargets: (real) => (wanted, input, context, signal) => {
        const before = input.before.map((target) => ({ ...target, revertTimes: undefined }));
        return real(wanted, { ...input, before }, context, signal);
      },
    }),
    scenario: 'foughtObject',
    caught: /in a fight/,
  },
  'a failed sync is requested again after five seconds': {
    rule: '8',
    exchange: exchange(records, {
      recordOf: (real) => (target, before, need) => ({
        ...real(target, before, need),
        backOff: () => ({ failures: 1, retryTime: formatInstant(need.now + 5000) }),
      }),
    }),
    scenario: 'failingSync',
    caught: /syncs were requested/,
  },
  'a sync is requested in every reconcile': {
    rule: '8',
    exchange: exchange(application, {
      missingSync: () => () => 'first',
      requestSync: () => () => [{ op: 'add', path: '/operation', value: {} }],
    }),
    scenario: 'requestedObject',
    caught: /a sync was requested (while another runs|for values)/,
  },
  'targets take their time': {
    rule: '4',
    exchange: exchange(targets, {
      writeTargets: (real) => async (wanted, input, context, signal) => {
        const written = await real(wanted, input, context, signal);
        await context.clock.after(60_000, signal);
        return written;
      },
    }),
    scenario: 'slowObject',
    caught: /targets delayed the status/,
  },
};
