// A release names what npm knows of the packages in its programs, and is refused for what is severe.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Audit, judgeAudit, readAudit } from '../../../packaging/release/audit.ts';

const advisory = (severity: string, id: string): object => ({
  ...{ source: 1, name: 'parser', dependency: 'parser', title: 'Reads too far', severity },
  ...{ url: `https://advisories.example.com/${id}`, range: '<2' },
});
const report = (vulnerabilities: Readonly<Record<string, readonly unknown[]>>): unknown => ({
  auditReportVersion: 2,
  vulnerabilities: Object.fromEntries(
    Object.entries(vulnerabilities).map(([name, via]) => [name, { name, severity: 'high', via }]),
  ),
  metadata: {},
});
const parts = new Set(['parser', 'server']);

test('advisories of packages in the programs count, the worst first, each at its own package', () => {
  const found = readAudit(
    report({
      parser: [advisory('low', 'GHSA-1'), advisory('critical', 'GHSA-2')],
      server: ['parser'],
      'test-tool': [advisory('critical', 'GHSA-3')],
    }),
    parts,
  );
  assert.deepEqual(found, {
    advisories: [
      { packageName: 'parser', id: 'GHSA-2', severity: 'critical', title: 'Reads too far' },
      { packageName: 'parser', id: 'GHSA-1', severity: 'low', title: 'Reads too far' },
    ],
    packages: 2,
  });
});

const audits: readonly [string, Audit, readonly string[], string, RegExp | undefined][] = [
  [
    'nothing is known',
    readAudit(report({}), parts),
    [],
    'npm knows no advisory for the 2 packages in the programs\n',
    undefined,
  ],
  [
    'npm answers in another form',
    readAudit({ error: {} }, parts),
    [],
    'packages were not audited: npm audit answered in an unknown form\n',
    undefined,
  ],
  [
    'one is moderate',
    readAudit(report({ parser: [advisory('moderate', 'GHSA-1')] }), parts),
    [],
    'advisories for packages in the programs:\n  moderate parser: Reads too far (GHSA-1)\n',
    undefined,
  ],
  [
    'one is high',
    readAudit(report({ parser: [advisory('high', 'GHSA-1')] }), parts),
    ['GHSA-2'],
    'advisories for packages in the programs:\n  high parser: Reads too far (GHSA-1)\n',
    /Update them, or release with --accept-advisory GHSA-1\.$/,
  ],
  [
    'a high one is accepted',
    readAudit(report({ parser: [advisory('high', 'GHSA-1')] }), parts),
    ['GHSA-1'],
    'advisories for packages in the programs:\n  high parser: Reads too far (GHSA-1, accepted)\n',
    undefined,
  ],
];
for (const [name, audit, accepted, text, refusal] of audits) {
  test(`${refusal === undefined ? 'a release goes on' : 'a release is refused'} where ${name}`, () => {
    const verdict = judgeAudit(audit, accepted);
    assert.equal(verdict.text, text);
    if (refusal === undefined) assert.equal(verdict.refusal, undefined);
    else assert.match(verdict.refusal ?? '', refusal);
  });
}
