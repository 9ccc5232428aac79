// What a pipeline shows of a command that ended with another answer than "done".

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CommandResult } from '#cli/context.ts';
import { about, failedCheck, findingsOfChecks, passed, skipped, warned } from '#cli/doctor/check.ts';
import { findingsOf, findingsText } from '#cli/output/findings.ts';
import { createReport } from '#cli/output/report.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const checks = [
  passed('NodeVersion', 'Node is new enough.'),
  ...about('StaticExport docs/docs', [warned('LinkAge', 'The refresh is overdue.', 'Read the log.')]),
  skipped('Permissions', 'Not readable.'),
  failedCheck('ApiServer', 'The API server does not answer.', 'Check the kubeconfig.'),
];
const doctor: CommandResult = {
  outcome: 'no',
  kind: 'DoctorReport',
  fields: {},
  lines: ['1 error, 1 warning, 1 ok.'],
  findings: findingsOfChecks(checks),
};
const diff: CommandResult = {
  outcome: 'no',
  kind: 'ArchiveDiff',
  fields: {},
  lines: ['A ##[error]x', '1 added, 0 changed'],
};

test('a check that failed is an error with its remedy, a warning comes after it, and others are left out', () => {
  assert.equal(
    findingsText('doctor', findingsOf(doctor), 'github'),
    [
      '::error title=doctor::The API server does not answer. (ApiServer)%0ACheck the kubeconfig.\n',
      '::warning title=doctor::StaticExport docs/docs: The refresh is overdue. (LinkAge)%0ARead the log.\n',
    ].join(''),
  );
  assert.equal(
    findingsText('doctor', findingsOf(doctor), 'gitlab'),
    [
      'doctor: error: The API server does not answer. (ApiServer)\n  Check the kubeconfig.\n',
      'doctor: warning: StaticExport docs/docs: The refresh is overdue. (LinkAge)\n  Read the log.\n',
    ].join(''),
  );
  assert.equal(findingsText('doctor', findingsOf(doctor), 'none'), '');
});

test('there are at most ten findings, and no warning takes the place of an error', () => {
  const warnings = Array.from({ length: 12 }, () => warned('LinkAge', 'Late.', 'Wait.'));
  const findings = findingsOfChecks([...warnings, failedCheck('Operator', 'No operator.', 'Install it.')]);
  const shown = findingsOf({ ...doctor, findings });
  assert.deepEqual([shown.length, shown[0]?.code], [10, 'Operator']);
});

test('a command without findings of its own has its last line as one, unless it is done', () => {
  const [finding] = findingsOf(diff);
  assert.deepEqual(finding, { level: 'error', code: 'ArchiveDiff', lines: ['1 added, 0 changed'] });
  assert.deepEqual(findingsOf({ ...diff, outcome: 'done' }), []);
});

test('the summary of GitHub names the error of a result that is not done', async (t) => {
  const folder = temporaryFolder(t);
  const summary = join(folder, 'summary');
  const report = createReport({
    command: 'static-export doctor',
    pipeline: 'github',
    resultsDir: undefined,
    env: { GITHUB_STEP_SUMMARY: summary },
    random: systemRandom,
    clock: systemClock,
    stdout: {},
    stderr: { write: () => {} },
    colours: { stdout: false, stderr: false },
    format: 'text',
    quiet: false,
  });
  const { stdout, stderr, exitCode } = await report.ofResult(doctor);
  assert.deepEqual([stdout, exitCode], ['1 error, 1 warning, 1 ok.\n', 1]);
  assert.match(stderr, /^::error .*\n::warning .*\n$/);
  assert.match(readFileSync(summary, 'utf8'), /doctor&#58; failed \(ApiServer\)/);
});
