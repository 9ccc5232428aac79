// What servers answer to a push: races are tried again, refusals are quoted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pushFailure } from '../../../src/git/push-report.ts';

function reportOf(error: string, { isForced = false, unpack = '' } = {}) {
  const result = { ok: unpack === '', error: unpack, refs: { 'refs/heads/main': { ok: false, error } } };
  return pushFailure(result, 'main', ['remote: Reason of a hook'], isForced);
}

test('a branch that moved meanwhile is behind, in the words of each version of git', () => {
  const answers = [
    'failed to update ref',
    "cannot lock ref 'refs/heads/main': is at 0 but expected 1",
    'incorrect old value provided',
    'reference already exists',
    'fetch first',
    'non-fast-forward',
  ];
  for (const answer of answers) assert.deepEqual(reportOf(answer), { outcome: 'behind' }, answer);
});

test('a declined push is quoted, and so is a forced push that the host never accepts', () => {
  for (const [answer, isForced] of [
    ['protected branch hook declined', false],
    ['non-fast-forward', true],
  ] as const) {
    const report = reportOf(answer, { isForced });
    assert.ok(report.outcome === 'declined');
    assert.equal(report.fault.code, 'ProtectedBranch');
    assert.match(report.fault.message, new RegExp(`"Reason of a hook ${answer}"`));
  }
});

test('a host without room is a temporary failure', () => {
  const report = reportOf('unpacker error', { unpack: 'index-pack abnormal exit' });
  assert.ok(report.outcome === 'declined');
  assert.deepEqual([report.fault.code, report.fault.isTemporary], ['Unexpected', true]);
  assert.match(report.fault.message, /index-pack abnormal exit/);
});
