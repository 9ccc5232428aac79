// Every check of `doctor`, in tables: one fact of a healthy cluster is broken, and one result names it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Surroundings } from '#cli/cluster/related-objects.ts';
import { checkCodes } from '#cli/doctor/check.ts';
import type { ClusterFacts } from '#cli/doctor/cluster-state.ts';
import { ownFields } from '#cli/doctor/definition-fields.ts';
import { checksOf } from '#cli/doctor/doctor-command.ts';
import { installPermissions, type ReviewedPermission } from '#cli/doctor/permissions.ts';
import { isObjectTarget } from '#operator/staticexport/wanted.ts';
import {
  definition,
  facts,
  findings,
  forbidden,
  healthyStatus,
  lease,
  metadata,
  now,
  operator,
  pod,
  published,
  reviewed,
  surroundings,
  withConditions,
} from './healthy-state.ts';

type Row = readonly [name: string, change: Partial<ClusterFacts>, expected: RegExp];
type Condition = [type: string, status: 'True' | 'False', reason: string, message?: string];
const one = (around: Surroundings): Partial<ClusterFacts> => ({ exports: [around] });
const crashing = {
  state: 'CrashLoopBackOff',
  stopped: new Map([['bundle-server', 'CrashLoopBackOff']]),
};
const ended = { phase: 'Failed', state: 'Evicted' };
const without = (...fields: readonly string[]): ReadonlySet<string> =>
  ownFields().difference(new Set(fields));

test('a healthy cluster has no finding, and a remedy stands only where something is wrong', () => {
  assert.deepEqual(findings({}), []);
  assert.deepEqual(
    findings({ definition: { value: undefined }, operators: { isComplete: true, value: [] } }, true),
    [],
  );
  assert.ok(checksOf(facts(), false).every(({ remedy }) => remedy === undefined));
});

const nodeRows: readonly (readonly [node: string, found: RegExp | undefined])[] = [
  ['24.0.0', /^Node 24\.0\.0 has a reported flaw: its Brotli decoder can write outside of its memory\.$/],
  ['24.22.0', /^Node 24\.22\.0 has a reported flaw/],
  ['24.22.1', undefined],
  ['24.23.0', undefined],
  ['25.9.0', /^Node 25\.9\.0 is no longer supported, and gets no fixes\.$/],
  ['26.0.0-nightly', /^Node 26\.0\.0-nightly has a reported flaw/],
  ['26.12.0', /^Node 26\.12\.0 has a reported flaw/],
  ['26.12.1', undefined],
  ['28.0.0', undefined],
];
for (const [node, found] of nodeRows) {
  test(`Node ${node} is ${found === undefined ? 'no finding' : 'a warning that says what to install'}`, () => {
    for (const isPre of [false, true]) {
      const [check] = checksOf(facts({ program: { version: '0.1.0', node } }), isPre);
      assert.equal(check?.code, 'NodeVersion');
      assert.match(check.message, found ?? new RegExp(`^Node ${node}\\.$`));
      assert.equal(check.state, found === undefined ? 'ok' : 'warning');
      const remedy = 'Install Node 24.22.1 or 26.12.1, or a newer one of these lines.';
      assert.equal(check.remedy, found === undefined ? undefined : remedy);
    }
  });
}

const status = (change: object): Partial<ClusterFacts> =>
  one(surroundings({ storedStatus: { ...healthyStatus, ...change } }));
const condition = (...more: readonly Condition[]): Partial<ClusterFacts> =>
  one(surroundings({ storedStatus: withConditions(['Ready', 'True', 'Published'], ...more) }));
const served = (...args: Parameters<typeof pod>): Partial<ClusterFacts> =>
  one(surroundings({ pods: new Map([['docs', { value: [pod(...args)] }]]) }));
const leased = (found: ClusterFacts['leases'][number]['lease']): Partial<ClusterFacts> => ({
  leases: [{ id: 'ops/sx', readAt: now, lease: found }],
});
const operators = (...value: readonly ReturnType<typeof operator>[]): Partial<ClusterFacts> => ({
  operators: { isComplete: true, value },
});
const crd = (change: Parameters<typeof definition>[0]): Partial<ClusterFacts> => ({
  definition: { value: definition(change) },
});

const clusterRows: readonly Row[] = [
  ['an old API server', { server: { value: 'v1.28.3-eks' } }, /^ApiServerVersion error: .*1\.29 or newer/],
  ['no CRD', { definition: { value: undefined } }, /^CrdInstalled error: .* is not installed\.$/],
  ['a CRD that is not established', crd({ isEstablished: false }), /^CrdInstalled error: .*not established/],
  ['a CRD of another version', crd({ served: ['v2'] }), /^CrdInstalled error: .*does not serve v1alpha1/],
  [
    'a CRD that is older than its operator',
    crd({ fields: without('spec.suspend') }),
    /^CrdSchema error: The CRD is older than this program: it lacks the field spec\.suspend\./,
  ],
  [
    'a CRD as old as its operator',
    {
      definition: { value: definition({ fields: without('spec.suspend', 'status.pages') }) },
      operators: { isComplete: true, value: [operator({ version: '0.1.0-rc.1' })] },
    },
    /^CrdSchema warning: .*lacks 2 fields, such as spec\.suspend/,
  ],
  [
    'a newer CRD',
    crd({ fields: ownFields().union(new Set(['spec.laterField'])) }),
    /^CrdSchema warning: The CRD is newer than this program: it also has the field spec\.laterField\.$/,
  ],
  [
    'no operator',
    { operators: { isComplete: true, value: [] }, leases: [] },
    /^Operator error: No operator is installed\.$/,
  ],
  [
    'an operator outside of a Deployment',
    operators(),
    /^Operator skipped: No Deployment .* but one renews its lease\.$/,
  ],
  [
    'an operator at zero',
    operators(operator({ wanted: 0, ready: 0 })),
    /^Operator error: ops\/sx is scaled to zero/,
  ],
  ['an operator without ready replicas', operators(operator({ ready: 0 })), /^Operator error: 0 of 2/],
  ['an operator with one of two replicas', operators(operator({ ready: 1 })), /^Operator warning: 1 of 2/],
  [
    'a stale lease',
    leased({ value: lease({ renewedAt: now - 60_000 }) }),
    /^OperatorLease error: The lease ops\/sx of sx-0 is stale: not renewed for 60 s\.$/,
  ],
  [
    'a lease that nobody holds',
    leased({ value: lease({ holder: '' }) }),
    /^OperatorLease error: The lease ops\/sx has no holder/,
  ],
  ['no lease', leased({ value: undefined }), /^OperatorLease error: .*does not exist/],
  ['a lease that is not readable', leased(forbidden), /^OperatorLease skipped/],
  [
    'two operators of all namespaces',
    operators(operator(), operator({ lease: { namespace: 'ops', name: 'b' } })),
    /^OperatorOverlap error: ops\/sx and ops\/b manage the same StaticExports\.$/,
  ],
  [
    'two operators that share a namespace',
    operators(
      operator({ watchNamespaces: ['docs', 'a'] }),
      operator({ watchNamespaces: ['a'], lease: { namespace: 'ops', name: 'b' } }),
    ),
    /^OperatorOverlap error/,
  ],
  [
    'an operator of another version',
    operators(operator({ version: '0.2.0', chart: undefined })),
    /^VersionSkew warning: This program is 0\.1\.0, but operator ops\/sx is 0\.2\.0\.$/,
  ],
  [
    'a chart of another version',
    operators(operator({ chart: 'static-export-operator-1.0.0-rc.1' })),
    /^VersionSkew warning: .*chart of ops\/sx is 1\.0\.0-rc\.1/,
  ],
];

/** Deployments of other namespaces than those that were read are not readable. */
const partial = (...found: readonly ReturnType<typeof operator>[]): Partial<ClusterFacts> => ({
  operators: { isComplete: false, value: found },
});
const unobserved = one(surroundings({ storedStatus: { ...healthyStatus, observedGeneration: 0 } }));
const skippedOverlap = /^OperatorOverlap skipped: Not all operators are known/;

/** All findings, in order. */
const partialRows: readonly (readonly [string, Partial<ClusterFacts>, readonly RegExp[]])[] = [
  ['one operator is known', partial(operator()), [skippedOverlap]],
  ['none is known, and one renews its lease', partial(), [skippedOverlap]],
  [
    'none is known, and none renews a lease',
    { ...partial(), leases: [] },
    [/^Operator skipped: None was found, and Deployments of other namespaces/, skippedOverlap],
  ],
  [
    'the known one watches another namespace',
    partial(operator({ watchNamespaces: ['other'] })),
    [skippedOverlap],
  ],
  [
    'the known one watches another namespace, and the spec is new',
    { ...partial(operator({ watchNamespaces: ['other'] })), ...unobserved },
    [skippedOverlap, /^Managed skipped: No operator has observed this spec yet/],
  ],
  [
    'the known one has not observed the spec',
    { ...partial(operator()), ...unobserved },
    [skippedOverlap, /^Managed warning/],
  ],
  [
    'two of the known ones overlap',
    partial(operator(), operator({ lease: { namespace: 'ops', name: 'b' } })),
    [/^OperatorOverlap error/],
  ],
  [
    'none is readable, and one renews its lease',
    { operators: forbidden },
    [/^OperatorOverlap skipped: Not readable/],
  ],
];
for (const [name, change, expected] of partialRows) {
  test(`where Deployments of some namespaces are not readable and ${name}, doctor judges what is known`, () => {
    const found = findings(change);
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern);
  });
}

test('a fresh lease proves an operator whose Deployment is not readable', () => {
  for (const change of [partial(), { operators: forbidden }]) {
    const operators = checksOf(facts(change), false).filter(({ code }) => code === 'Operator');
    assert.deepEqual(
      operators.map(({ state }) => state),
      ['ok'],
    );
  }
});

test('an evicted pod beside a healthy one, and a crashing container beside a server, are no finding', () => {
  const inStep = { state: 'InStep', ...published } as const;
  const pods = [
    pod('old', { state: 'Ended', message: 'Evicted.' }, ended),
    pod('site-0', inStep),
    pod('site-1', inStep, { state: 'CrashLoopBackOff', stopped: new Map([['app', 'CrashLoopBackOff']]) }),
  ];
  const change = one(surroundings({ pods: new Map([['docs', { value: pods }]]) }));
  assert.deepEqual(findings(change), []);
  const servers = checksOf(facts(change), false).filter(({ code }) => code === 'Server');
  assert.equal(servers.length, 2);
});

test('a lease is judged by the time when it was read, however long other facts took', () => {
  assert.deepEqual(
    findings({ now: now + 15 * 60_000 }).filter((text) => /Lease|Overlap|Operator/.test(text)),
    [],
  );
});

const exportRows: readonly Row[] = [
  [
    'a namespace that no operator watches',
    operators(operator({ watchNamespaces: ['other'] })),
    /^Managed error: No operator manages it/,
  ],
  ['a spec that is not observed yet', status({ observedGeneration: 0 }), /^Managed warning/],
  [
    'a resource that waits',
    one(surroundings({ storedStatus: withConditions(['Ready', 'False', 'Exporting']) })),
    /^Ready warning: Exporting/,
  ],
  [
    'a Secret of the key that does not exist',
    one(surroundings({ key: { value: undefined } })),
    /^KeySecret error: The Secret export-api does not exist\.$/,
  ],
  [
    'a Secret that does not name the key',
    one(surroundings({ key: { value: { metadata: metadata('docs', 'export-api'), dataKeys: ['other'] } } })),
    /^KeySecret warning: The Secret export-api seems to lack the key apiKey/,
  ],
  [
    'a key that only the operator may read',
    one(surroundings({ key: forbidden })),
    /^KeySecret skipped: .*the operator reports nothing against it\.$/,
  ],
  [
    'a refused key',
    condition(['Exported', 'False', 'KeyRefused', 'The export API returned 401.']),
    /^KeySecret error: KeyRefused: The export API returned 401\.$/,
  ],
  [
    'an output Secret that does not exist',
    one(surroundings({ outputSecret: { value: undefined } })),
    /^OutputSecret error: The output Secret docs-bundle does not exist, although a version is published\.$/,
  ],
  [
    'an output Secret that the user may not read',
    one(surroundings({ outputSecret: forbidden })),
    /^OutputSecret skipped: The output Secret docs-bundle is not readable for you\.$/,
  ],
  [
    'an expired link',
    status({ active: { ...healthyStatus.active, linkExpirationTime: '2026-11-23T11:59:59Z' } }),
    /^LinkAge error: The link expired at 2026-11-23T11:59:59Z\./,
  ],
  [
    'a link that was not refreshed in time',
    status({ nextRefreshTime: '2026-11-23T11:50:00Z' }),
    /^LinkAge warning: .*its refresh is overdue/,
  ],
  [
    'a link whose refresh fails',
    status({
      failures: {
        link: {
          count: 2,
          lastFailureTime: '2026-11-23T11:59:00Z',
          retryTime: '2026-11-23T12:01:00Z',
          reason: 'ServerError',
        },
      },
    }),
    /^LinkAge warning: .*its refresh fails: ServerError\.$/,
  ],
  [
    'an export that waits for the budget of its key',
    condition(['Exported', 'False', 'StartBudgetUsed', 'All starts are used.']),
    /^Ready warning: A version is published, and the next export waits: StartBudgetUsed: All starts are used\.$/,
  ],
  [
    'an export that a promotion gate holds while a version is published',
    condition(['Exported', 'False', 'PageCountDropped', 'Candidate v2 has 7 pages.']),
    /^Ready warning: .*PageCountDropped: Candidate v2 has 7 pages\.$/,
  ],
  [
    'a copy that is lost',
    condition(['Mirrored', 'False', 'Lost', 'The copy is gone.']),
    /^Mirror error: Lost: The copy is gone\.$/,
  ],
  [
    'a link that the operator calls due',
    condition(['LinkFresh', 'False', 'Due', 'The API is down.']),
    /^LinkAge warning: .*Due: The API is down\.$/,
  ],
  [
    'a server that is behind',
    served('site-0', { state: 'Behind', version: 'v1', message: 'Older.' }),
    /^Server warning: Pod site-0 serves v1\. Older\.$/,
  ],
  [
    'a server without a bundle',
    served('site-0', { state: 'Behind', message: 'Nothing.' }),
    /^Server error: Pod site-0: Nothing\.$/,
  ],
  [
    'a server that crashes',
    served('site-0', { state: 'Unknown', message: 'No.' }, crashing),
    /^Server error/,
  ],
  [
    'a pod that does not start',
    one(
      surroundings({
        pods: new Map([
          [
            'docs',
            {
              value: [
                pod(
                  'site-0',
                  { state: 'Unknown', message: 'No.' },
                  { phase: 'Pending', state: 'ErrImagePull' },
                ),
              ],
            },
          ],
        ]),
      }),
    ),
    /^Server error/,
  ],
  ['pods that have all ended', served('old', { state: 'Ended' }, ended), /^Server skipped: No bundle server/],
  [
    'a server whose status is not readable',
    served('site-0', { state: 'Unknown', message: 'No.' }),
    /^Server skipped/,
  ],
  [
    'pods that are not readable',
    one(surroundings({ pods: new Map([['docs', forbidden]]) })),
    /^Server skipped: Pods are not/,
  ],
  [
    'a site elsewhere',
    one(surroundings({ pods: new Map([['docs', { value: [] }]]) })),
    /^Server skipped: No bundle server/,
  ],
];

for (const [name, change, expected] of [...clusterRows, ...exportRows]) {
  test(`${name}: one finding`, () => {
    const found = findings(change);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', expected);
  });
}

for (const [what, run, remedy] of [
  ['a pending pod', { phase: 'Pending', state: 'ErrImagePull' }, /kubectl describe pod site-0 -n docs$/],
  ['a crashing server', crashing, /kubectl logs site-0 -n docs$/],
] as const) {
  test(`the remedy of ${what} is the command that shows the cause`, () => {
    const unknown = pod('site-0', { state: 'Unknown', message: 'No.' }, run);
    const change = one(surroundings({ pods: new Map([['docs', { value: [unknown] }]]) }));
    const check = checksOf(facts(change), false).find(({ code }) => code === 'Server');
    assert.match(check?.remedy ?? '', remedy);
  });
}

test('the remedy of a lost output Secret is the command that makes the operator write it again', () => {
  const change = one(surroundings({ outputSecret: { value: undefined } }));
  const check = checksOf(facts(change), false).find(({ code }) => code === 'OutputSecret');
  assert.equal(
    check?.remedy,
    'Run: kubectl annotate staticexport docs -n docs staticexport.dev/reconcile=$(date +%s) --overwrite',
  );
});

const target = { name: 'argo', type: 'Values', values: { kind: 'ConfigMap', namespace: 'apps', name: 'v' } };
const consent = (value: string | undefined) => ({
  value: {
    metadata: metadata('apps', 'v', {
      annotations: value === undefined ? {} : { 'staticexport.dev/allow-from': value },
    }),
    dataKeys: undefined,
  },
});
const state = (synced: boolean, reason: string) => ({
  name: 'argo',
  object: 'ConfigMap/apps/v/values.yaml',
  synced,
  reason,
  message: 'Said.',
});

describe('the consent of a target', () => {
  const around = surroundings({ spec: { targets: [target] } });
  const [wanted] = (around.wanted?.targets ?? []).filter(isObjectTarget);
  assert.ok(wanted !== undefined);
  const rows = [
    ['given', consent('docs/docs'), state(true, 'Synced'), /^$/],
    [
      'absent',
      consent(undefined),
      undefined,
      /^TargetConsent error: .*has no annotation staticexport\.dev\/allow-from/,
    ],
    [
      'for another StaticExport',
      consent('docs/other'),
      undefined,
      /^TargetConsent error: .*has another value/,
    ],
    ['without its object', { value: undefined }, undefined, /^TargetConsent error: .*does not exist/],
    [
      'given, but not synced',
      consent('docs/docs'),
      state(false, 'Refused'),
      /^TargetConsent warning: .*Refused: Said\./,
    ],
    ['not readable, but synced', forbidden, state(true, 'Synced'), /^$/],
    [
      'not readable and not granted',
      forbidden,
      state(false, 'NotGranted'),
      /^TargetConsent error: .*NotGranted/,
    ],
    [
      'not readable and refused',
      forbidden,
      state(false, 'Refused'),
      /^TargetConsent warning: .*Refused: Said\./,
    ],
    ['not readable, and without a status', forbidden, undefined, /^TargetConsent skipped/],
  ] as const;
  for (const [name, found, status, expected] of rows) {
    test(name, () => {
      const targets = [{ wanted, found, status }];
      assert.match(
        findings(one(surroundings({ spec: { targets: [target] }, targets }))).join('\n'),
        expected,
      );
    });
  }

  test('the remedy is a command that gives it', () => {
    const targets = [{ wanted, found: consent(undefined), status: undefined }];
    const [check] = checksOf(facts(one(surroundings({ targets }))), false).filter(
      ({ state }) => state === 'error',
    );
    assert.equal(
      check?.remedy,
      'Run: kubectl annotate configmap v -n apps staticexport.dev/allow-from=docs/docs',
    );
  });
});

test('operators with disjoint namespaces or with instances do not overlap', () => {
  const other = { lease: { namespace: 'ops', name: 'b' } };
  const disjoint = [operator({ watchNamespaces: ['docs'] }), operator({ ...other, watchNamespaces: ['b'] })];
  assert.deepEqual(findings({ operators: { isComplete: true, value: disjoint } }), []);
  const instances = [operator(), operator({ ...other, instance: 'blue' })];
  assert.deepEqual(findings({ operators: { isComplete: true, value: instances } }), []);
});

test('an operator that writes the status of a StaticExport that another one manages is an overlap', () => {
  const exports = [surroundings({ storedStatus: { ...healthyStatus, operatorLease: 'other/op' } })];
  const leases = [...facts().leases, { id: 'other/op', readAt: now, lease: { value: lease() } }];
  assert.match(
    findings({ exports, leases }).join(),
    /OperatorOverlap error: Another operator, with the lease other\/op/,
  );
  const ended = { id: 'other/op', readAt: now, lease: { value: lease({ renewedAt: now - 3_600_000 }) } };
  assert.doesNotMatch(findings({ exports, leases: [ended] }).join(), /OperatorOverlap/);
});

test('without an API server only Node and the API server are judged', () => {
  const codes = checksOf(facts({ server: forbidden }), false).map(({ code, state }) => `${code} ${state}`);
  assert.deepEqual(codes, ['NodeVersion ok', 'ApiServer error']);
});

test('a user without permissions gets results that say so, and no error but the lost read of StaticExports', () => {
  const permissions = reviewed(false);
  const around = surroundings({ key: forbidden, pods: new Map([['docs', forbidden]]) });
  const found = findings({
    definition: forbidden,
    operators: forbidden,
    permissions,
    exports: [around],
  });
  const errors = found.filter((text) => text.includes(' error: '));
  assert.equal(errors.length, 1, errors.join('\n'));
  assert.match(
    errors[0] ?? '',
    /^Permissions error: You may not get staticexports\.staticexport\.dev in namespace docs; needed by status/,
  );
  assert.equal(found.filter((text) => text.startsWith('Permissions warning')).length, permissions.length - 1);
});

const unanswered = (permissions: readonly ReviewedPermission[]): readonly ReviewedPermission[] =>
  permissions.map((one) => ({ ...one, isAllowed: forbidden }));

test('a user without credentials passes nothing, because no permission is known', () => {
  const change: Partial<ClusterFacts> = {
    definition: forbidden,
    operators: forbidden,
    objects: forbidden,
    leases: [],
    exports: [],
    permissions: unanswered(reviewed(true)),
  };
  const states = checksOf(facts(change), false).map(({ code, state }) => `${code} ${state}`);
  assert.deepEqual(states, [
    'NodeVersion ok',
    'ApiServer ok',
    'ApiServerVersion ok',
    'CrdInstalled skipped',
    'CrdSchema skipped',
    'Operator skipped',
    'OperatorOverlap skipped',
    'VersionSkew skipped',
    'Permissions error',
    'StaticExport skipped',
  ]);
  const before = findings(change, true);
  assert.equal(before.length, 2, before.join('\n'));
  assert.match(before[0] ?? '', /^InstallPermissions error: Your permissions are not known: you have no/);
});

test('permissions that are not known in part are a warning, and none asked for is no pass', () => {
  const [first, ...others] = reviewed(true);
  assert.ok(first !== undefined);
  const some = [...unanswered([first]), ...others];
  for (const [code, isPre] of [
    ['Permissions', false],
    ['InstallPermissions', true],
  ] as const) {
    const of = (permissions: readonly ReviewedPermission[]) =>
      findings({ permissions }, isPre).filter((text) => text.startsWith(`${code} `));
    assert.match(of(some).join('\n'), new RegExp(`^${code} warning: 1 of \\d+ permissions are not known`));
    assert.match(of([]).join('\n'), new RegExp(`^${code} skipped: No permission was asked for\\.$`));
  }
});

test('a StaticExport that was named and is not readable is an error, and a list is skipped', () => {
  const unread = { objects: forbidden, exports: [] };
  assert.match(
    findings({ ...unread, named: 'docs/docs' }).join('\n'),
    /^StaticExport error: docs\/docs is not/m,
  );
  assert.match(findings(unread).join('\n'), /^StaticExport skipped: Not readable/m);
});

test('a list of StaticExports that is not found tells that the CRD is not installed', () => {
  const absent = { code: 'NotFound', unreadable: 'the list does not exist' } as const;
  for (const named of [undefined, 'docs/docs']) {
    const found = findings({ definition: forbidden, objects: absent, named, exports: [] });
    assert.deepEqual(found, ['CrdInstalled error: The CRD staticexports.staticexport.dev is not installed.']);
  }
});

test('a version that nothing else has to be compared with is skipped', () => {
  const change = {
    operators: { isComplete: true, value: [operator({ version: undefined, chart: undefined })] },
  };
  assert.match(findings({ ...change, exports: [] }).join('\n'), /^VersionSkew skipped: No version/);
});

const preRows: readonly Row[] = [
  [
    'a right that is missing',
    {
      permissions: installPermissions
        .slice(0, 1)
        .map((one) => ({ ...one, namespace: undefined, isAllowed: { value: false } })),
    },
    /^InstallPermissions error: You may not create customresourcedefinitions\.apiextensions\.k8s\.io\.$/,
  ],
  [
    'an operator that is there',
    { operators: { isComplete: true, value: [operator()] } },
    /^InstallConflict warning: An operator is installed already: ops\/sx\.$/,
  ],
  [
    'a newer CRD',
    { definition: { value: definition({ fields: ownFields().union(new Set(['spec.laterField'])) }) } },
    /^InstallConflict error: A newer CRD is installed/,
  ],
  [
    'a CRD that was not installed by Helm',
    { definition: { value: definition({ release: undefined }) } },
    /^InstallConflict warning: .*not by Helm/,
  ],
  [
    'an older CRD of another release',
    { definition: { value: definition({ fields: without('spec.suspend') }) } },
    /^InstallConflict warning: The Helm release ops\/sx has installed an older CRD\.$/,
  ],
];
for (const [name, change, expected] of preRows) {
  test(`before an installation, ${name}: one finding`, () => {
    const clean = { definition: { value: undefined }, operators: { isComplete: true, value: [] } };
    const found = findings({ ...clean, ...change }, true);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', expected);
  });
}

const gitSpec = {
  name: 'fleet',
  type: 'Git',
  git: { url: 'https://git.example.com/fleet.git', path: 'a.yaml', secretRef: { name: 'git' } },
};

function gitTargetsOf(
  change: { readonly spec: object },
  state?: { readonly synced: boolean; readonly reason: string; readonly message?: string },
): Surroundings['gitTargets'] {
  return (surroundings(change).wanted?.targets ?? []).flatMap((wanted) => {
    if (isObjectTarget(wanted)) return [];
    return [{ wanted, status: state && { name: 'fleet', object: wanted.object, ...state } }];
  });
}

describe('a git target', () => {
  const spec = { targets: [gitSpec] };
  const rows = [
    ['synced', { synced: true, reason: 'Synced' }, /^$/],
    ['not reported', undefined, /^GitTarget skipped/],
    [
      'not pushed',
      { synced: false, reason: 'PushFailed', message: 'Unauthorized: write a valid token' },
      /^GitTarget warning: Target fleet: .*PushFailed: Unauthorized/,
    ],
    [
      'without a copy to name',
      { synced: false, reason: 'AwaitingCopy' },
      /^GitTarget warning: Target fleet: .*AwaitingCopy: The published version has no copy in the mirror yet\..*[^.]\.$/,
    ],
  ] as const;
  for (const [name, state, expected] of rows) {
    test(name, () => {
      const gitTargets = gitTargetsOf({ spec }, state);
      const found = findings(one(surroundings({ spec, gitTargets })));
      assert.match(found.join('\n'), expected);
    });
  }
});

test('every code is used by a check', () => {
  const rows = [...clusterRows, ...exportRows].map(([, change]) => checksOf(facts(change), false));
  const before = preRows.map(([, change]) => checksOf(facts(change), true));
  const others = [
    checksOf(facts(), false),
    checksOf(facts({ objects: { value: [] }, exports: [] }), false),
    checksOf(
      facts(
        one(
          surroundings({
            spec: { targets: [target] },
            gitTargets: gitTargetsOf({ spec: { targets: [gitSpec] } }),
            targets:
              surroundings({ spec: { targets: [target] } })
                .wanted?.targets.filter(isObjectTarget)
                .map((wanted) => ({
                  wanted,
                  found: consent('docs/docs'),
                  status: undefined,
                })) ?? [],
          }),
        ),
      ),
      false,
    ),
  ];
  const used = new Set([...rows, ...before, ...others].flat().map(({ code }) => code));
  assert.deepEqual([...used].sort(), [...checkCodes].sort());
});
