// Git targets: when a push is repeated, what is contested, and what status says of it.

import * as gitTarget from '#operator/loop/publish/git-target.ts';
import * as findings from '#operator/services/git-findings.ts';
import { exchange, type Mutations } from './exchange.ts';

export const gitMutations: Mutations = {
  'a revert in git is written over': {
    rule: '5',
    exchange: exchange(gitTarget, {
      findGitTarget: (real) => (target, before, input, git) =>
        real(target, before, input, {
          ...git,
          find: (owner, id, wish, isHurried) => git.find(owner, id, { ...wish, isWritten: false }, isHurried),
        }),
    }),
    scenario: 'revertedPush',
    caught: /another client's commit was overwritten/,
  },
  'a revert in git is taken for the version': {
    rule: '5',
    exchange: exchange(findings, {
      findingOf: (real) => (edit, target, commit) => {
        const found = real(edit, target, commit);
        return found.kind === 'reverted' ? { kind: 'held', commit: undefined } : found;
      },
    }),
    scenario: 'revertedPush',
    caught: /a revert is not noticed/,
  },
  'an edit of where a target writes is taken for a revert': {
    rule: '5',
    exchange: exchange(gitTarget, {
      findGitTarget: (real) => (target, before, input, git) => {
        const { branch, pullRequestBranch = branch, keyPath, writesVersion, writesDigest } = target;
        const keys = (['version', 'digest'] as const).filter((name) =>
          name === 'version' ? writesVersion : writesDigest,
        );
        const written = { branch: pullRequestBranch, keyPath: [...keyPath], keys };
        return real(target, before?.written && { ...before, written }, input, git);
      },
    }),
    scenario: 'movedKeys',
    caught: /not synced after calm: .*Contested/,
  },
  'a push whose end reached no status is taken for a revert': {
    rule: '5',
    exchange: exchange(gitTarget, {
      findGitTarget: (real) => (target, before, input, git) => {
        const state = real(target, before, input, git);
        return { ...state, written: state.written ?? before?.written };
      },
    }),
    scenario: 'undoneRollback',
    caught: /its own push counts as a revert/,
  },
  'a contested file is never compared again': {
    rule: '5',
    exchange: exchange(gitTarget, {
      findGitTarget: (real) => (target, before, input, git) =>
        before?.reason === 'Contested' ? before : real(target, before, input, git),
    }),
    scenario: 'correctedRevert',
    caught: /not synced after calm: .*Contested/,
  },
  'a target is synced before its push': {
    rule: '5',
    exchange: exchange(gitTarget, {
      findGitTarget: (real) => (target, before, input, git) =>
        real(target, before, input, { ...git, find: () => ({ kind: 'held', commit: undefined }) }),
    }),
    scenario: 'hangingGitServer',
    caught: /synced, while the branch holds undefined/,
  },
  'what a branch holds is forgotten while its server is down': {
    rule: '5',
    exchange: exchange(findings, { isSettled: () => () => false }),
    scenario: 'pushedVersion',
    caught: /an unmoved branch was fetched/,
  },
};
