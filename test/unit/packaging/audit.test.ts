// A release names what npm knows of the packages in its programs, and is refused for what is severe.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Audit, judgeAudit, npmReason, readAudit } from '../../../packaging/release/audit.ts';

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
    'packages were not audited: npm audit answered in an unknown form. ' +
      'Set npm_config_registry to a registry that answers npm audit.\n',
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
    const verdict = judgeAudit(audit, { accepted, isRequired: false });
    assert.equal(verdict.text, text);
    if (refusal === undefined) assert.equal(verdict.refusal, undefined);
    else assert.match(verdict.refusal ?? '', refusal);
  });
}

test('a required audit refuses packages that could not be audited, with the reason and what to do, and no others', () => {
  const demands = { accepted: [], isRequired: true };
  assert.deepEqual(judgeAudit({ why: 'npm audit failed: 405 Method Not Allowed' }, demands), {
    text: '',
    refusal:
      'Packages in the programs could not be audited: npm audit failed: 405 Method Not Allowed. ' +
      'Set npm_config_registry to a registry that answers npm audit, or release without --require-audit.',
  });
  assert.equal(judgeAudit(readAudit(report({}), parts), demands).refusal, undefined);
});

const log = 'npm error A complete log of this run can be found in: /home/ci/.npm/_logs/1-debug-0.log';
const end = `npm error audit endpoint returned an error\n${log}`;
for (const [stderr, reason] of [
  [
    `npm warn audit 403 Forbidden - POST https://ci:pa55@npm.example.com/-/npm/v1/bulk - ask Ada\n${end}`,
    '403 Forbidden',
  ],
  [
    `npm warn audit request to http://npm.example.com:81/x failed, reason: connect ECONNREFUSED 192.0.2.7:81\n${end}`,
    'request to … failed, reason: connect ECONNREFUSED',
  ],
  [
    `npm warn config old\nnpm error code ENOLOCK\nnpm error audit This command requires an existing lockfile.\n${log}`,
    'ENOLOCK: This command requires an existing lockfile',
  ],
  [
    'npm error code ENOTFOUND\nnpm error errno getaddrinfo ENOTFOUND npm.internal.example.com',
    'ENOTFOUND: errno getaddrinfo ENOTFOUND',
  ],
  [`npm error bearer npm_${'a1B2'.repeat(9)} is not valid`, 'bearer [redacted] is not valid'],
  ['', 'it gave no reason'],
] as const) {
  test(`npm's reason has no address and no token: ${reason}`, () => {
    assert.equal(npmReason(`npm audit failed:\n${stderr}`), `npm audit failed: ${reason}`);
  });
}
