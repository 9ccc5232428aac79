// Targets that write the reference of a copy: what they wait for, and when the same version is written again.

import * as records from '#operator/loop/publish/target-record.ts';
import * as targets from '#operator/loop/publish/targets.ts';
import * as findings from '#operator/services/git-findings.ts';
import * as keys from '#operator/targets/static-export-keys.ts';
import { exchange, type Mutations } from './exchange.ts';

export const refMutations: Mutations = {
  'a reference is written before its copy exists': {
    rule: '4',
    exchange: exchange(targets, {
      writeTargets: (real) => (all, input, context, signal) => {
        const { published } = input;
        const guessed = published && {
          ...published,
          ref: published.ref ?? 'oci://registry.test/guessed@sha256:0',
        };
        return real(all, { ...input, published: guessed }, context, signal);
      },
    }),
    scenario: 'lateCopy',
    caught: /holds another reference/,
  },
  'a reference that changed alone is not written': {
    rule: '4',
    exchange: exchange(keys, {
      wantedKeysOf: (real) => (wanted) => real(wanted).filter(([name]) => name !== 'ref'),
      planKeys:
        (real) =>
        (values, { version, digest }) =>
          real(values, { version, digest }),
    }),
    scenario: 'movedCopy',
    caught: /an object that is synced holds another reference/,
  },
  'a reference that changed alone is not pushed': {
    rule: '4',
    exchange: exchange(findings, {
      isKnownWish: (real) => (one, other) =>
        real(
          { ...one, wanted: { ...one.wanted, ref: '' } },
          { ...other, wanted: { ...other.wanted, ref: '' } },
        ),
    }),
    scenario: 'movedCopy',
    caught: /synced, while the branch holds/,
  },
  'a reference that changed alone is taken for a revert': {
    rule: '5',
    exchange: exchange(records, {
      recordOf: (real) => (target, before, need) => {
        const { published } = need;
        const isSame = target.writesRef && before?.version === published.version;
        return real(target, isSame ? { ...before, ref: published.ref } : before, need);
      },
    }),
    scenario: 'movedCopy',
    caught: /contested, while no other client replaced the keys/,
  },
};
