// Starting a job, polling it, and starting its replacement.

import * as startTimes from '#operator/loop/calls/start-times.ts';
import * as execute from '#operator/loop/execute.ts';
import * as adopt from '#operator/reconcile/adopt.ts';
import * as classify from '#operator/reconcile/classify.ts';
import * as poll from '#operator/reconcile/poll.ts';
import * as settleFailure from '#operator/reconcile/settle/failed-call.ts';
import * as settle from '#operator/reconcile/settle/settle.ts';
import { exchange, type Mutations } from './exchange.ts';

export const startMutations: Mutations = {
  'the start record is dropped': {
    rule: '3',
    exchange: exchange(settleFailure, {
      startFailed:
        (real) =>
        (...given) => ({ ...real(...given), start: undefined }),
    }),
    scenario: 'lostStart',
    caught: /untracked jobs/,
  },
  'each attempt of a start has a new key': {
    rule: '3',
    exchange: exchange(execute, {
      execute: (real) => (input, context, signal) => {
        const connect: typeof context.exportApi.connect = (baseUrl, key) => {
          const api = context.exportApi.connect(baseUrl, key);
          const startJob: typeof api.startJob = (request, starting) =>
            api.startJob({ ...request, idempotencyKey: context.random.uuid() }, starting);
          return { ...api, startJob };
        };
        return real(input, { ...context, exportApi: { connect } }, signal);
      },
    }),
    scenario: 'lostStart',
    caught: /before its start record was stored/,
  },
  'a start is sent without limit': {
    rule: '3',
    exchange: exchange(settleFailure, {
      startFailed:
        (real) =>
        (...given) => {
          const status = real(...given);
          return { ...status, start: status.start && { ...status.start, attempts: 1 } };
        },
    }),
    scenario: 'silentStart',
    caught: /sent \d+ times/,
  },
  'a start is sent again before its answer is overdue': {
    rule: '3',
    exchange: exchange(adopt, {
      resendTime: (real) => (mark, now) => real(mark, now, 0),
    }),
    scenario: 'silentStart',
    caught: /before its answer was overdue/,
  },
  'by project, starts are sent without a budget': {
    rule: '8',
    exchange: exchange(startTimes, {
      takeStart: (real) => (memory, order) => real(memory, { ...order, perHour: 0 }),
    }),
    scenario: 'busyProject',
    caught: /11 starts in one hour/,
  },
  'a new process forgets the starts of the one before it': {
    rule: '8',
    exchange: exchange(startTimes, {
      takeStart: (real) => (memory, order) => real(memory, { ...order, own: [], known: new Map() }),
    }),
    scenario: 'busyProject',
    caught: /11 starts in one hour/,
  },
  'back-off restarts with each failure': {
    rule: '8',
    exchange: exchange(adopt, {
      nextExportFailure: (real) => (observation, failed) => {
        const { status } = observation;
        const before = status.failures?.export;
        const failures = { ...status.failures, export: before && { ...before, count: 0 } };
        return real({ ...observation, status: { ...status, failures } }, failed);
      },
    }),
    scenario: 'failingStarts',
    caught: /starts in six hours/,
  },
  'a lost job is not replaced': {
    rule: '8',
    exchange: exchange(classify, {
      classify: (real) => (observation) => {
        const state = real(observation);
        const isReplacement = 'cause' in state.export && state.export.cause === 'JobGone';
        return isReplacement ? { ...state, export: { kind: 'resting' } } : state;
      },
    }),
    scenario: 'lostJob',
    caught: /no valid link/,
  },
  'an unknown job status counts as a failure': {
    rule: '7',
    exchange: exchange(settle, {
      settle: (real) => (observation, plan, result) => {
        const isUnfinished = result.kind === 'polled' && result.outcome === 'unfinished';
        return real(observation, plan, isUnfinished ? { ...result, outcome: 'failed' } : result);
      },
    }),
    scenario: 'prompt',
    caught: /not within/,
  },
  'a new process delays its first poll': {
    rule: '14',
    exchange: exchange(poll, {
      pollTime: (real) => (observation, job) => {
        const { now, process } = observation;
        const isFirst = process.polledAt === undefined || process.polledAt > now;
        return Math.max(real(observation, job), isFirst ? now + 120_000 : 0);
      },
    }),
    scenario: 'day',
    caught: /a restart would wake/,
  },
};
