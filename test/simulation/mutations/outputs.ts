// What is stored in the cluster: the output Secret and ConfigMap, status, and the targets' documents.

import type { ReconcileContext } from '#operator/loop/context.ts';
import * as foundOutputs from '#operator/loop/publish/found-outputs.ts';
import * as outputs from '#operator/loop/publish/outputs.ts';
import * as targets from '#operator/loop/publish/targets.ts';
import * as save from '#operator/loop/save.ts';
import * as adopt from '#operator/reconcile/adopt.ts';
import * as choose from '#operator/reconcile/choose.ts';
import { annotations } from '#operator/staticexport/names.ts';
import type { Cluster, ObjectMeta } from '#platform/wire/cluster.ts';
import { exchange, type Mutations } from './exchange.ts';

const idle = /written (without a change|before its time)/;

type FoundOutputs = Parameters<typeof outputs.writeOutputs>[2];

function withCluster<T extends Pick<ReconcileContext, 'cluster'>>(context: T, calls: Partial<Cluster>): T {
  return { ...context, cluster: { ...context.cluster, ...calls } };
}

/** As if the ConfigMap had been emptied: it is written again. */
function withEmptyConfigMap(found: FoundOutputs): FoundOutputs {
  const { configMap } = found.handles;
  return { ...found, handles: { ...found.handles, configMap: configMap && { ...configMap, data: {} } } };
}

const consents =
  ({ namespace, name }: ObjectMeta) =>
  <T extends { readonly metadata: ObjectMeta }>(document: T | undefined): T | undefined => {
    if (document === undefined) return undefined;
    const consent = { ...document.metadata.annotations, [annotations.allowFrom]: `${namespace}/${name}` };
    return { ...document, metadata: { ...document.metadata, annotations: consent } };
  };

export const outputMutations: Mutations = {
  'the resourceVersion of the output Secret is not checked': {
    rule: '13',
    exchange: exchange(outputs, {
      writeOutputs: (real) => (object, name, found, publish, context, signal) => {
        const applySecret: Cluster['applySecret'] = async (secret, writing) => {
          const stored = await context.cluster.readSecret(secret.metadata, writing);
          const readVersion = stored?.metadata.resourceVersion;
          return context.cluster.applySecret({ ...secret, readVersion }, writing);
        };
        return real(object, name, found, publish, withCluster(context, { applySecret }), signal);
      },
    }),
    scenario: 'sleepingLeader',
    caught: /rolled back/,
  },
  'a lost output is not written again': {
    rule: '11',
    exchange: exchange(choose, {
      choose: (real) => (state, observation) =>
        state.link.kind === 'expired'
          ? { ...real({ ...state, link: { kind: 'none' } }, observation), state }
          : real(state, observation),
    }),
    scenario: 'lostOutput',
    caught: /not within/,
  },
  "another owner's output is overwritten": {
    rule: '11',
    exchange: exchange(foundOutputs, {
      readOutputs: (real) => (metadata, name, status, context, signal) => {
        const owner = { apiVersion: '', kind: '', name: metadata.name, uid: metadata.uid };
        const readSecret: Cluster['readSecret'] = async (key, reading) => {
          const secret = await context.cluster.readSecret(key, reading);
          return secret && { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } };
        };
        return real(metadata, name, status, withCluster(context, { readSecret }), signal);
      },
    }),
    scenario: 'foreignOutput',
    caught: /a foreign output was overwritten/,
  },
  'an old output Secret is trusted': {
    rule: '4',
    exchange: exchange(adopt, { isUnknownToStatus: () => () => false }),
    scenario: 'pastSecret',
    caught: /an older version/,
  },
  'the ConfigMap is written in every reconcile': {
    rule: '6',
    exchange: exchange(outputs, {
      writeOutputs: (real) => (object, name, found, publish, context, signal) =>
        real(object, name, withEmptyConfigMap(found), publish, context, signal),
    }),
    scenario: 'day',
    caught: idle,
  },
  'the ConfigMap holds the time it was written': {
    rule: '2',
    exchange: exchange(outputs, {
      writeOutputs: (real) => (object, name, found, publish, context, signal) => {
        const applyConfigMap: Cluster['applyConfigMap'] = (configMap, writing) => {
          const data = { ...configMap.data, at: String(context.clock.now()) };
          return context.cluster.applyConfigMap({ ...configMap, data }, writing);
        };
        const written = publish === undefined ? found : withEmptyConfigMap(found);
        return real(object, name, written, publish, withCluster(context, { applyConfigMap }), signal);
      },
    }),
    scenario: 'day',
    caught: /changed without new content/,
  },
  'status is written in every reconcile': {
    rule: '6',
    exchange: exchange(save, { saveStatus: (_real, { writeSigned }) => writeSigned }),
    scenario: 'day',
    caught: idle,
  },
  'a failing target ends the reconcile': {
    rule: '4',
    exchange: exchange(targets, {
      writeTargets: (real) => async (wanted, input, context, signal) => {
        const failures: unknown[] = [];
        const editDocument: Cluster['editDocument'] = async (edit, writing) => {
          try {
            await context.cluster.editDocument(edit, writing);
          } catch (error) {
            failures.push(error);
            throw error;
          }
        };
        const written = await real(wanted, input, withCluster(context, { editDocument }), signal);
        if (failures.length > 0) throw failures[0];
        return written;
      },
    }),
    scenario: 'failingTarget',
    caught: /not within/,
  },
  'a document is written without consent': {
    rule: '5',
    exchange: exchange(targets, {
      writeTargets: (real) => (wanted, input, context, signal) => {
        const consenting = consents(input.owner);
        const documents = withCluster(context, {
          readConfigMap: async (key, reading) =>
            consenting(await context.cluster.readConfigMap(key, reading)),
          readSecret: async (key, reading) => consenting(await context.cluster.readSecret(key, reading)),
        });
        return real(wanted, input, documents, signal);
      },
    }),
    scenario: 'noConsent',
    caught: /without consent/,
  },
  'a contested target is written without limit': {
    rule: '6',
    exchange: exchange(targets, {
      writeTargets: (real) => (wanted, input, context, signal) => {
        const before = input.before.map((target) => ({ ...target, revertTimes: undefined }));
        return real(wanted, { ...input, before }, context, signal);
      },
    }),
    scenario: 'foughtTarget',
    caught: /in a fight/,
  },
};
