// From a complete export to the published version: inspection, promotion gates, suspension, pinned versions.

import * as reading from '#operator/loop/inspection/inspection.ts';
import * as classify from '#operator/reconcile/classify.ts';
import * as history from '#operator/reconcile/history.ts';
import * as promotion from '#operator/reconcile/settle/promotion.ts';
import { exchange, type Mutations } from './exchange.ts';

export const promotionMutations: Mutations = {
  'the shrink promotion gate is skipped': {
    rule: '4',
    exchange: exchange(promotion, {
      judge: (real) => (found, published, rules, isReleased) =>
        real(found, published, { ...rules, maxShrinkPercent: 100 }, isReleased),
    }),
    scenario: 'shrunk',
    caught: /past its promotion gate/,
  },
  'the page-count promotion gate is skipped': {
    rule: '4',
    exchange: exchange(promotion, {
      judge: (real) => (found, published, rules, isReleased) =>
        real(found, published, { ...rules, minPages: 0 }, isReleased),
    }),
    scenario: 'empty',
    caught: /past its promotion gate/,
  },
  'rejected content is published': {
    rule: '4',
    exchange: exchange(promotion, {
      judge:
        (real) =>
        (...given) => {
          const judgement = real(...given);
          return judgement.kind === 'reject' ? { kind: 'promote' } : judgement;
        },
    }),
    scenario: 'rejected',
    caught: /content of a rejected candidate/,
  },
  'the same content is promoted': {
    rule: '2',
    exchange: exchange(promotion, {
      judge:
        (real) =>
        (...given) => {
          const judgement = real(...given);
          return judgement.kind === 'unchanged' ? { kind: 'promote' } : judgement;
        },
    }),
    scenario: 'twoExports',
    caught: /same content/,
  },
  'new content counts as unchanged': {
    rule: '2',
    exchange: exchange(promotion, {
      judge: (real) => (found, published, rules, isReleased) =>
        published === undefined ? real(found, published, rules, isReleased) : { kind: 'unchanged' },
    }),
    scenario: 'twoExports',
    caught: /new content/,
  },
  'the history evicts the pinned version': {
    rule: '4',
    exchange: exchange(history, {
      recordVersion: (real) => (known, active, limit) => real(known, active, limit, undefined),
    }),
    scenario: 'pinnedHistory',
    caught: /pinned version is gone/,
  },
  'suspension does not hold a complete job': {
    rule: '4',
    exchange: exchange(classify, {
      classify: (real) => (observation) => {
        const state = real(observation);
        const { export: operation } = real({
          ...observation,
          wanted: { ...observation.wanted, isSuspended: false },
        });
        const isComplete = operation.kind === 'complete' && operation.subject.cause === 'job';
        return isComplete ? { ...state, export: operation } : state;
      },
    }),
    scenario: 'suspended',
    caught: /while suspended/,
  },
  'a crashed archive reader counts as a rejected archive': {
    rule: '4',
    exchange: exchange(reading, {
      inspectCandidate:
        (real) =>
        async (...given) => {
          const { result, link } = await real(...given);
          if (result.kind !== 'inspect-failed' || result.failure.kind !== 'transient')
            return { result, link };
          return { result: { ...result, failure: { ...result.failure, kind: 'rejected' } }, link };
        },
    }),
    scenario: 'dyingReader',
    caught: /not within|cost an export/,
  },
};
