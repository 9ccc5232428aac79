// Mirrors: what is published without its copy, when a copy counts as lost, what needs no vendor, and what is deleted.

import * as outputs from '#operator/loop/publish/outputs.ts';
import * as mirror from '#operator/reconcile/mirror.ts';
import * as mirrored from '#operator/reconcile/settle/mirrored.ts';
import * as settle from '#operator/reconcile/settle/settle.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { exchange, type Mutations } from './exchange.ts';

export const mirrorMutations: Mutations = {
  'a version is published before its required copy': {
    rule: '4',
    exchange: exchange(settle, {
      settle: (real) => (observation, plan, result) => {
        const settled = real(observation, plan, result);
        const { publish } = settled;
        return publish === undefined ? settled : { ...settled, publish: { ...publish, ref: undefined } };
      },
    }),
    scenario: 'mirrorAway',
    caught: /published before its required copy/,
  },
  'a lost copy counts as found': {
    rule: '4',
    exchange: exchange(mirrored, {
      settleLooked: (real) => (observation, looked) => real(observation, { ...looked, isThere: true }),
    }),
    scenario: 'lostCopy',
    caught: /the published copy is not in the mirror/,
  },
  'a published link stays although the spec wants none': {
    rule: '5',
    exchange: exchange(outputs, {
      writeOutputs:
        (real) =>
        (object, wanted, ...rest) =>
          real(object, { ...wanted, publishesLink: true }, ...rest),
    }),
    scenario: 'droppedLink',
    caught: /a link is published although the spec wants none/,
  },
  'a copy is looked at every hour': {
    rule: '6',
    exchange: exchange(mirror, {
      classifyMirror: (real) => (observation) => {
        const state = real(observation);
        const seenAt = readInstant(observation.status.active?.mirrorCheckTime) ?? 0;
        if (state.kind !== 'copied') return state;
        const lookAt = seenAt + 3_600_000;
        return lookAt > observation.now ? { kind: 'copied', lookAt } : { kind: 'due', work: 'look' };
      },
    }),
    scenario: 'quietMirror',
    caught: /before the named time|looked at \d+ times/,
  },
  'a rollback to a copy asks the export API for a link': {
    rule: '4',
    exchange: exchange(mirror, { readsMirror: () => () => false }),
    scenario: 'rollbackToCopy',
    caught: /waits for the vendor/,
  },
  'a copy that the history lists is deleted': {
    rule: '4',
    exchange: exchange(mirror, {
      expiredDigests: () => (observation) => mirror.listedDigests(observation.status),
    }),
    scenario: 'retainedCopies',
    caught: /a copy that is listed was deleted/,
  },
};
