// What servers answer to a push: reports of each form are read, races are tried again, refusals are quoted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPushOutcome, readPushReport, writePushRequest } from '#operator/git/receive-pack.ts';

const line = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
const bandOf = (band: number, text: string): string => line(`${String.fromCharCode(band)}${text}`);
const banded = { 'report-status': true, 'side-band-64k': true, agent: 'git/2' };
const reportOf = (text: string, offered: Readonly<Record<string, unknown>> = banded) =>
  readPushReport(Buffer.from(text), offered);

function outcomeOf(refusal: string, { isForced = false, unpackError = '' } = {}) {
  const report = {
    unpackError: unpackError === '' ? undefined : unpackError,
    refusals: [refusal],
    lines: ['remote: Reason of a hook'],
  };
  return readPushOutcome(report, { branch: 'main', isForced });
}

test('a push asks for capabilities that the server named, and for no other', () => {
  const update = { ref: 'refs/heads/é', from: undefined, to: '1'.repeat(40) };
  const textOf = (offered: Readonly<Record<string, unknown>>): string =>
    Buffer.concat(writePushRequest(update, offered, Buffer.from('PACK'))).toString();
  const command = `${'0'.repeat(40)} ${update.to} refs/heads/é\0`;
  assert.equal(textOf(banded), `${line(`${command}report-status side-band-64k`)}0000PACK`);
  assert.equal(textOf({ 'report-status': true }), `${line(`${command}report-status`)}0000PACK`);
});

test('a report is read in each form, cut anywhere between bands', () => {
  const report = `${line('unpack ok\n')}${line('ng refs/heads/main protected branch\n')}0000`;
  const wanted = { unpackError: undefined, refusals: ['protected branch'], lines: [''] };
  assert.deepEqual(reportOf(report, { 'report-status': true }), wanted);
  for (let cut = 1; cut < report.length; cut += 1) {
    const [first, second] = [report.slice(0, cut), report.slice(cut)];
    const text = `${bandOf(2, 'a hook\r')}${bandOf(1, first)}${bandOf(2, 'spoke\n')}${bandOf(1, second)}0000`;
    assert.deepEqual(reportOf(text), { ...wanted, lines: ['a hook', 'spoke', ''] });
  }
  const fine = `${bandOf(1, `${line('unpack ok\n')}${line('ok refs/heads/main\n')}0000`)}0000`;
  assert.deepEqual(readPushOutcome(reportOf(fine), { branch: 'main', isForced: false }), {
    outcome: 'pushed',
  });
  assert.equal(reportOf(`${bandOf(3, 'no space left\n')}0000`).unpackError, 'no space left');
});

test('an answer without a whole report is not a success', () => {
  const unpack = bandOf(1, line('unpack ok\n'));
  for (const text of ['', '0000', unpack, 'html', '0003', '00ff', bandOf(1, '00'), bandOf(2, 'ok main\n')]) {
    assert.throws(() => reportOf(text), { code: 'Unreachable', isTemporary: true }, text);
  }
});

test('a branch that moved meanwhile is behind, in the words of each version of git', () => {
  const answers = [
    'failed to update ref',
    "cannot lock ref 'refs/heads/main': is at 0 but expected 1",
    'incorrect old value provided',
    'reference already exists',
    'fetch first',
    'non-fast-forward',
  ];
  for (const answer of answers) assert.deepEqual(outcomeOf(answer), { outcome: 'behind' }, answer);
});

test('a declined push is quoted, and so is a forced push that the host never accepts', () => {
  for (const [answer, isForced] of [
    ['protected branch hook declined', false],
    ['non-fast-forward', true],
  ] as const) {
    const report = outcomeOf(answer, { isForced });
    assert.ok(report.outcome === 'declined');
    assert.equal(report.fault.code, 'ProtectedBranch');
    assert.match(report.fault.message, new RegExp(`"Reason of a hook ${answer}"`));
  }
});

test('a host without room is a temporary failure', () => {
  const report = outcomeOf('unpacker error', { unpackError: 'index-pack abnormal exit' });
  assert.ok(report.outcome === 'declined');
  assert.deepEqual([report.fault.code, report.fault.isTemporary], ['Unexpected', true]);
  assert.match(report.fault.message, /index-pack abnormal exit/);
});
