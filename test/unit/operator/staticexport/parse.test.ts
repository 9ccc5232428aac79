// Objects as they may be found: written by an older client, past validation, or by hand. Reading never throws; a
// bad spec says which fields, a bad status field is forgotten alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import { applyDefaults } from '#operator/staticexport/wanted.ts';
import * as fc from '../../../support/properties.ts';

const smallest = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };
const settings = { apiBaseUrl: 'https://api.example.com/' };
const identity = { namespace: 'docs', name: 'site' };

test('the smallest spec is readable, and every default is as documented', () => {
  const { spec, problems } = parseStaticExport({ spec: smallest, status: undefined });
  assert.deepEqual(problems, []);
  assert.ok(spec);
  assert.deepEqual(applyDefaults(identity, spec, settings), {
    domain: 'docs.example.com',
    project: undefined,
    baseUrl: 'https://api.example.com',
    keySecret: { name: 'export-api', key: 'apiKey' },
    schedule: undefined,
    timeZone: 'UTC',
    jobTimeoutMs: 3_600_000,
    refreshAtPercent: 66,
    minIntervalMs: 30_000,
    promotion: {
      ...{ isInspected: true, minPages: 1, needsHomePage: true, maxShrinkPercent: 50 },
      ...{ maxBundleBytes: undefined, isManual: false },
    },
    pin: undefined,
    historyLimit: 5,
    isSuspended: false,
    quietPeriodMs: undefined,
    outputName: 'site-bundle',
    publishesLink: true,
    repair: undefined,
    mirror: undefined,
    targets: [],
  });
});

test('of an unreadable spec remains what keeps a published link alive, suspended, or nothing', () => {
  const remainsOf = (spec: unknown) => parseStaticExport({ spec, status: undefined }).remains;
  assert.equal(remainsOf(smallest), undefined);
  const output = { name: 'published' };
  const linkRefresh = { atPercent: 20 };
  assert.deepEqual(remainsOf({ ...smallest, output, linkRefresh, schedule: 7, historyLimit: 'many' }), {
    ...smallest,
    output,
    linkRefresh,
    historyLimit: 50,
    suspend: true,
  });
  assert.deepEqual(remainsOf({ ...smallest, domain: 1 }), {
    ...smallest,
    domain: 'unreadable.invalid',
    suspend: true,
  });
  for (const broken of [
    undefined,
    'text',
    {},
    { ...smallest, api: 1 },
    { ...smallest, output: { name: 1 } },
  ]) {
    assert.equal(remainsOf(broken), undefined);
  }
});

test('what is written in the spec counts before any default', () => {
  const written = {
    domain: 'Docs.Example.com',
    api: {
      ...{ baseUrl: 'https://other.example.com/prefix/', keySecretRef: { name: 'k', key: 'admin' } },
      ...{ projectId: '5f0c9a7e', basePath: '/docs' },
    },
    schedule: ' 0 3 * * * ',
    timeZone: 'Europe/Berlin',
    jobTimeout: '1h30m',
    linkRefresh: { atPercent: 20, minInterval: '5s' },
    promotion: { inspect: 'Never', maxBundleSize: '512Mi', mode: 'Manual' },
    pin: { jobId: 'se_1' },
    historyLimit: 9,
    suspend: true,
    trigger: { webhook: { secretRef: { name: 'hook' } }, quietPeriod: '90s' },
    output: { name: 'published' },
    targets: [{ name: 'argo', type: 'Values', write: ['bundleUrl'], values: { kind: 'Secret', name: 'v' } }],
  };
  const { spec } = parseStaticExport({ spec: written, status: undefined });
  assert.ok(spec);
  assert.deepEqual(applyDefaults(identity, spec, settings), {
    domain: 'docs.example.com',
    project: { id: '5f0c9a7e', basePath: '/docs' },
    baseUrl: 'https://other.example.com/prefix',
    keySecret: { name: 'k', key: 'admin' },
    schedule: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    jobTimeoutMs: 5_400_000,
    refreshAtPercent: 20,
    minIntervalMs: 5000,
    promotion: {
      ...{ isInspected: false, minPages: 1, needsHomePage: true, maxShrinkPercent: 50 },
      ...{ maxBundleBytes: 536_870_912, isManual: true },
    },
    pin: { version: undefined, jobId: 'se_1' },
    historyLimit: 9,
    isSuspended: true,
    quietPeriodMs: 90_000,
    outputName: 'published',
    publishesLink: true,
    repair: undefined,
    mirror: undefined,
    targets: [
      {
        type: 'Values',
        targetName: 'argo',
        object: 'Secret/docs/v/values.yaml',
        objectKind: 'Secret',
        namespace: 'docs',
        name: 'v',
        dataKey: 'values.yaml',
        isDryRun: false,
        writesDigest: false,
        writesVersion: false,
        writesRef: false,
        writesLink: true,
      },
    ],
  });
});

for (const [name, spec, field] of [
  ['nothing', undefined, 'spec'],
  ['a text', 'docs', 'spec'],
  ['no domain', { api: smallest.api }, 'spec.domain'],
  ['a URL as domain', { ...smallest, domain: 'https://docs.example.com' }, 'spec.domain'],
  ['a number as schedule', { ...smallest, schedule: 3 }, 'spec.schedule'],
  ['both pins', { ...smallest, pin: { version: 'a', jobId: 'b' } }, 'spec.pin'],
  ['a target without place', { ...smallest, targets: [{ name: 'argo', type: 'Values' }] }, 'spec.targets.0'],
  [
    'the link in a ConfigMap',
    {
      ...smallest,
      targets: [
        { name: 'argo', type: 'Values', write: ['bundleUrl'], values: { kind: 'ConfigMap', name: 'v' } },
      ],
    },
    'spec.targets.0',
  ],
] as const) {
  test(`a spec of ${name} is unreadable, and the problem names ${field} without its value`, () => {
    const read = parseStaticExport({ spec, status: undefined });
    assert.equal(read.spec, undefined);
    assert.ok(
      read.problems.some((problem) => problem.startsWith(`${field} (`)),
      String(read.problems),
    );
    assert.ok(!read.problems.join().includes('https'));
  });
}

test('a problem of ours says what is right, in the words of the API server’s answer', () => {
  const spec = { ...smallest, domain: 'https://docs.example.com', jobTimeout: '30' };
  const { problems } = parseStaticExport({ spec, status: undefined });
  assert.match(problems.join(), /spec\.domain \(must be a bare host name such as docs\.example\.com/);
  assert.match(problems.join(), /spec\.jobTimeout \(must be a duration such as 30s/);
});

test('fields that a newer version added to the spec are no reason to stop', () => {
  assert.ok(parseStaticExport({ spec: { ...smallest, future: true }, status: undefined }).spec);
});

test('a status field that makes no sense is forgotten alone', () => {
  const job = { id: 'se_1', state: 'running' };
  const good = {
    type: 'Ready',
    status: 'True',
    reason: 'Published',
    message: '',
    lastTransitionTime: '2026-01-05T12:00:00Z',
  };
  const status = parseStatus({
    job,
    active: 'nonsense',
    history: [{ version: 7 }],
    conditions: [good, 'nonsense', { type: 'Odd' }],
    observedGeneration: '3',
  });
  assert.deepEqual(status, { job, conditions: [good] });
});

test('property: nothing that can be stored makes reading throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (spec, status) => {
      parseStaticExport({ spec, status });
    }),
  );
  const shaped = fc.record({
    domain: fc.jsonValue(),
    api: fc.jsonValue(),
    pin: fc.jsonValue(),
    targets: fc.array(fc.jsonValue()),
  });
  fc.assert(
    fc.property(
      shaped,
      fc.record({ job: fc.jsonValue(), conditions: fc.array(fc.jsonValue()), failures: fc.jsonValue() }),
      (spec, status) => {
        parseStaticExport({ spec, status });
      },
    ),
  );
});
