// Tests what one reconcile reads: each scenario of gather.ts as an Observation, and the key's Secret as a user may
// write it. A refused read is a state only after it has lasted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Gathered, gather } from '../../../src/loop/gather.ts';
import { resourceId } from '../../../src/loop/memory.ts';
import type { KeyState, OutputState } from '../../../src/reconcile/observation.ts';
import { parseStaticExport } from '../../../src/staticexport/parse.ts';
import type { Status } from '../../../src/staticexport/status-schema.ts';
import type { ClusterErrorCode } from '../../../src/wire/cluster-error.ts';
import { active, at, inputHash, published, t0 } from '../reconcile/cases/observations.ts';
import {
  bytesOf,
  exportObject,
  keySecretOf,
  linkOf,
  metaOf,
  openPorts,
  outputName,
  outputSecretOf,
  ownedMeta,
  type Ports,
  publishedBundle,
  resource,
  validKey,
} from './ports.ts';

function observe(ports: Ports, object = ports.cluster.object): Promise<Gathered> {
  assert.ok(object);
  const parsed = parseStaticExport(object);
  const spec = parsed.spec ?? parsed.remains;
  assert.ok(spec);
  return gather(object, parsed, spec, ports.ofCluster, ports.signal);
}

/** The error of the first reconcile, and the observation 10 s later. */
async function observeLater(ports: Ports, code: ClusterErrorCode): Promise<Gathered> {
  await assert.rejects(observe(ports), { code }, 'the first refusal may be short');
  await ports.clock.pass(10_000);
  return observe(ports);
}

const start = { key: 'key-1', inputHash, cause: 'First', attempts: 1, lastAttemptTime: at(-60) } as const;
const earlier = { ...active, version: '20260105-100000-bbbbbbbb' };
const stalled = (reason: string): Status => ({
  active: { ...active, linkIssueTime: at(-60), linkExpirationTime: at(840) },
  conditions: [{ type: 'Stalled', status: 'True', reason, message: '.', lastTransitionTime: at(-60) }],
});
const theirs = metaOf(outputName);
const ours: OutputState = {
  kind: 'ours',
  published,
  isConfigMapForeign: false,
  unreadConfigMap: undefined,
};

interface Scenario {
  readonly status: Status;
  readonly arrange: (ports: Ports) => void;
  readonly output: OutputState;
  /** Whether this reconcile holds the link. */
  readonly hasLink: boolean;
}

const putSecret = ({ cluster }: Ports): void => {
  cluster.secrets.set(outputName, outputSecretOf(publishedBundle));
};

const scenarios: Readonly<Record<string, Scenario>> = {
  'A: before its first export a resource has no status and no output': {
    status: {},
    arrange: () => {},
    output: { kind: 'absent', unreadConfigMap: undefined },
    hasLink: false,
  },
  'B: a published resource has its own output': {
    status: { active },
    arrange: putSecret,
    output: ours,
    hasLink: true,
  },
  'C: after a lost status write the output is newer than the status': {
    status: { active: earlier },
    arrange: putSecret,
    output: ours,
    hasLink: true,
  },
  'D: a lost output is absent, and status names what was published': {
    status: { active },
    arrange: () => {},
    output: { kind: 'absent', unreadConfigMap: undefined },
    hasLink: false,
  },
  'E: after a lost response status has a start record and no job': {
    status: { start },
    arrange: () => {},
    output: { kind: 'absent', unreadConfigMap: undefined },
    hasLink: false,
  },
  'F: a Secret of another owner is foreign': {
    status: {},
    arrange: ({ cluster }) => {
      cluster.secrets.set(outputName, { metadata: theirs, data: {} });
    },
    output: { kind: 'foreign', objectKind: 'Secret' },
    hasLink: false,
  },
  'F: a ConfigMap of another owner is foreign where no Secret exists': {
    status: {},
    arrange: ({ cluster }) => {
      cluster.configMaps.set(outputName, { metadata: theirs, data: {} });
    },
    output: { kind: 'foreign', objectKind: 'ConfigMap' },
    hasLink: false,
  },
  "F: a ConfigMap of another owner is named where the Secret is the resource's own": {
    status: { active },
    arrange: (ports) => {
      putSecret(ports);
      ports.cluster.configMaps.set(outputName, { metadata: theirs, data: {} });
    },
    output: { ...ours, isConfigMapForeign: true },
    hasLink: true,
  },
  'G: an unreadable Secret that status reports is believed at once': {
    status: stalled('OutputUnreadable'),
    arrange: ({ cluster }) => cluster.refuse(`read Secret ${outputName}`, 'Forbidden'),
    output: { kind: 'unreadable', why: `read Secret ${outputName}: Forbidden` },
    hasLink: false,
  },
  "G: an unreadable ConfigMap is named where the Secret is the resource's own": {
    status: stalled('OutputUnreadable'),
    arrange: (ports) => {
      putSecret(ports);
      ports.cluster.refuse(`read ConfigMap ${outputName}`, 'Forbidden');
    },
    output: { ...ours, unreadConfigMap: `read ConfigMap ${outputName}: Forbidden` },
    hasLink: true,
  },
  'a Secret without its bundle.json publishes nothing': {
    status: { active },
    arrange: ({ cluster }) => {
      cluster.secrets.set(outputName, { metadata: ownedMeta(), data: {} });
    },
    output: { ...ours, published: undefined },
    hasLink: false,
  },
  'a Secret with a damaged bundle.json publishes nothing': {
    status: { active },
    arrange: ({ cluster }) => {
      cluster.secrets.set(outputName, {
        metadata: ownedMeta(),
        data: { 'bundle.json': bytesOf('{"version":') },
      });
    },
    output: { ...ours, published: undefined },
    hasLink: false,
  },
};

for (const [name, { status, arrange, output, hasLink }] of Object.entries(scenarios)) {
  test(name, async () => {
    const ports = openPorts();
    ports.cluster.object = exportObject(status);
    arrange(ports);
    const { observation, handles } = await observe(ports);
    assert.deepEqual(observation.status, status);
    assert.deepEqual(observation.output, output);
    assert.equal(handles.published?.link?.url.isSame(linkOf('published.zip')) ?? false, hasLink);
    assert.deepEqual(ports.calls, [
      'read Secret export-api',
      `read Secret ${outputName}`,
      `read ConfigMap ${outputName}`,
    ]);
  });
}

const keys: Readonly<Record<string, readonly [Readonly<Record<string, Uint8Array>> | undefined, KeyState]>> =
  {
    'a missing Secret': [undefined, { kind: 'missing', isSecretThere: false }],
    'a Secret without the key': [{ token: bytesOf(validKey) }, { kind: 'missing', isSecretThere: true }],
    'an empty key': [{ apiKey: bytesOf('') }, { kind: 'empty' }],
    'a key of blanks': [{ apiKey: bytesOf(' \n') }, { kind: 'empty' }],
    'a key with a blank inside': [{ apiKey: bytesOf('svc_a b') }, { kind: 'invalid' }],
    'a key with a line break inside': [{ apiKey: bytesOf('svc_a\r\nHost: b') }, { kind: 'invalid' }],
    'a key with a letter outside ASCII': [{ apiKey: bytesOf('svc_ä') }, { kind: 'invalid' }],
    'a key that is not UTF-8': [{ apiKey: Uint8Array.of(0x73, 0xff, 0xfe) }, { kind: 'invalid' }],
    'a key with a zero byte': [{ apiKey: Uint8Array.of(0x73, 0, 0x76) }, { kind: 'invalid' }],
    'a key of 4097 characters': [{ apiKey: bytesOf('a'.repeat(4097)) }, { kind: 'invalid' }],
    'a key of 4096 characters': [
      { apiKey: bytesOf('a'.repeat(4096)) },
      { kind: 'present', secretVersion: 'uid-of-export-api/1', hasUsualPrefix: false },
    ],
    'a key with a line break at its end': [
      { apiKey: bytesOf(`${validKey}\n`) },
      { kind: 'present', secretVersion: 'uid-of-export-api/1', hasUsualPrefix: true },
    ],
  };

for (const [name, [data, state]] of Object.entries(keys)) {
  test(`${name} reads as ${state.kind}, and only a present key leaves the Secret`, async () => {
    const ports = openPorts();
    if (data === undefined) ports.cluster.secrets.delete('export-api');
    else ports.cluster.secrets.set('export-api', keySecretOf(data));
    const { observation, handles } = await observe(ports);
    assert.deepEqual(observation.key, state);
    const isPresent = state.kind === 'present';
    assert.equal(handles.key, isPresent ? new TextDecoder().decode(data?.['apiKey']).trim() : undefined);
  });
}

for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
  test(`a key named ${name} is missing where the Secret has no such entry`, async () => {
    const ports = openPorts();
    const object = exportObject();
    const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api', key: name } } };
    const { observation, handles } = await observe(ports, { ...object, spec });
    assert.deepEqual(observation.key, { kind: 'missing', isSecretThere: true });
    assert.equal(handles.key, undefined);
  });
}

const required = [
  ['read Secret export-api', 'key', 'KeyUnreadable'],
  [`read Secret ${outputName}`, 'output', 'OutputUnreadable'],
] as const;
for (const [call, read, reason] of required) {
  test(`"${call}" fails the reconcile while a refusal may be short, and is a state after 10 s`, async () => {
    const ports = openPorts();
    ports.cluster.refuse(call, 'Forbidden');
    const { observation, handles } = await observeLater(ports, 'Forbidden');
    assert.deepEqual(observation[read], { kind: 'unreadable', why: `${call}: Forbidden` });
    assert.equal(read === 'key' ? handles.key : handles.published, undefined);
  });

  test(`"${call}" is a state at once where status reports ${reason}`, async () => {
    const ports = openPorts();
    ports.cluster.object = exportObject(stalled(reason));
    ports.cluster.refuse(call, 'Forbidden');
    assert.equal((await observe(ports)).observation[read].kind, 'unreadable');
  });

  test(`"${call}" that succeeds in between makes a later refusal a new one`, async () => {
    const ports = openPorts();
    ports.cluster.refuse(call, 'Forbidden');
    await assert.rejects(observe(ports), { code: 'Forbidden' });
    const { before } = ports.cluster;
    ports.cluster.before = () => {};
    await ports.clock.pass(10_000);
    await observe(ports);
    ports.cluster.before = before;
    await assert.rejects(observe(ports), { code: 'Forbidden' });
  });

  test(`"${call}" that says nothing about the object fails every reconcile`, async () => {
    const ports = openPorts();
    ports.cluster.refuse(call, 'TooManyRequests');
    for (let minute = 0; minute < 3; minute += 1) {
      await assert.rejects(observe(ports), { code: 'TooManyRequests' });
      await ports.clock.pass(60_000);
    }
  });
}

test('the tokens of annotations are bounded, printable and not empty', async () => {
  const request = 'staticexport.dev/requestedAt';
  const promote = 'staticexport.dev/promote';
  const ports = openPorts();
  const annotated = (annotations: Record<string, string>) =>
    observe(ports, exportObject({}, { annotations }));
  const long = (await annotated({ [request]: 'a'.repeat(300), [promote]: 'v1' })).observation;
  assert.equal(long.request, 'a'.repeat(256));
  assert.equal(long.promote, 'v1');
  const strange = (await annotated({ [request]: 'a\u202eb\nc', [promote]: '' })).observation;
  assert.match(strange.request ?? '', /^a[^\p{C}]+c$/u);
  assert.equal(strange.promote, undefined);
});

test('what this process knows of another job is not taken for the tracked job', async () => {
  const ports = openPorts();
  const { polls } = ports.ofCluster.memory;
  ports.cluster.object = exportObject({ job: { id: 'se_1' } });
  polls.set(resourceId(resource), { jobId: 'se_1', at: t0, retryAfterMs: 5000 });
  const others = { candidate: undefined, refresh: undefined, mirror: undefined };
  const known = { polledAt: t0, pollAfterMs: 5000, ...others };
  assert.deepEqual((await observe(ports)).observation.process, known);
  polls.set(resourceId(resource), { jobId: 'se_2', at: t0, retryAfterMs: 5000 });
  const nothing = { polledAt: undefined, pollAfterMs: undefined, ...others };
  assert.deepEqual((await observe(ports)).observation.process, nothing);
});

test('resources with one key share its rate limit, and another base URL has its own', async () => {
  const ports = openPorts({ allowedApiHosts: ['other.example.com'] });
  const { handles } = await observe(ports);
  const limit = { closedUntil: t0 + 60_000, closedAt: t0, refused: undefined };
  ports.ofCluster.memory.rateLimits.set(handles.rateLimitId, limit);
  const second = exportObject({}, { name: 'second', uid: 'uid-2' });
  assert.deepEqual((await observe(ports, second)).observation.rateLimit, limit);
  const api = { keySecretRef: { name: 'export-api' }, baseUrl: 'https://other.example.com' };
  const elsewhere = { ...exportObject(), spec: { domain: 'docs.example.com', api } };
  assert.equal((await observe(ports, elsewhere)).observation.rateLimit.closedUntil, undefined);
});

test("another operator's refused key is not this operator's", async () => {
  const ports = openPorts();
  const refusedKey = { secretVersion: 'u/1', reason: 'Unauthorized', refusalTime: at(-60) } as const;
  ports.cluster.object = exportObject({ refusedKey, operatorLease: 'operators/other' });
  assert.equal((await observe(ports)).observation.status.refusedKey, undefined);
  ports.cluster.object = exportObject({ refusedKey, operatorLease: 'operators/own' });
  assert.deepEqual((await observe(ports)).observation.status.refusedKey, refusedKey);
});

for (const [baseUrl, isAllowed] of [
  ['https://api.example.com/v1/', true],
  ['https://api.example.com:8443', false],
  ['http://api.example.com', false],
  ['https://other.example.com', false],
] as const) {
  test(`a key ${isAllowed ? 'may' : 'may not'} be sent to ${baseUrl}`, async () => {
    const ports = openPorts();
    const api = { keySecretRef: { name: 'export-api' }, baseUrl };
    const { observation } = await observe(ports, {
      ...exportObject(),
      spec: { domain: 'docs.example.com', api },
    });
    assert.equal(observation.isHostAllowed, isAllowed);
    assert.deepEqual(observation.allowedHosts, ['api.example.com']);
  });
}

test('what remains of an unreadable spec keeps the inputs of the job that exists', async () => {
  const ports = openPorts();
  const spec = { domain: 7, api: { keySecretRef: { name: 'export-api' } } };
  const object = { ...exportObject({ active, job: { id: 'se_2', inputHash: 'of-the-job' } }), spec };
  const { observation } = await observe(ports, object);
  assert.equal(observation.inputHash, 'of-the-job');
  assert.deepEqual(observation.specProblems, ['spec.domain (must be text; put it in quotes)']);
  assert.equal(observation.wanted.isSuspended, true);
});

const toReference = { name: 'fleet', type: 'Workload', write: ['ref'] as const };
const ofPods = { ...toReference, workload: { kind: 'Deployment', name: 'docs' } };
const defaultMirror = {
  ...{ address: 'oci://registry.example.com/{namespace}/{name}', endpoint: undefined },
  ...{ region: 'us-east-1', pathStyle: false },
};
const ownMirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
for (const [name, spec, settings, problem] of [
  [
    'no mirror',
    {},
    {},
    /^spec\.targets \(ref needs spec\.mirror, .*; add a mirror, or remove ref from write\)$/,
  ],
  ['a mirror', { mirror: ownMirror }, {}, undefined],
  ['the default mirror of the operator', {}, { defaultMirror }, undefined],
  [
    'archives that are not inspected',
    { promotion: { inspect: 'Never' } },
    { defaultMirror },
    /^spec\.targets \(.* spec\.promotion\.inspect: Always; set it, or remove ref from write\)$/,
  ],
] as const) {
  test(`a target that writes the reference with ${name} is ${problem === undefined ? 'valid' : 'a problem of the spec'}`, async () => {
    const ports = openPorts(settings);
    const whole = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } }, ...spec };
    const object = { ...exportObject(), spec: { ...whole, targets: [ofPods] } };
    const { observation } = await observe(ports, object);
    const { specProblems, wanted } = observation;
    if (problem === undefined) assert.deepEqual(specProblems, []);
    else assert.match(specProblems.join(), problem);
    assert.equal(wanted.isSuspended, problem !== undefined, 'half a spec starts nothing');
  });
}

test('neither the key nor the link is in the observation', async () => {
  const ports = openPorts();
  putSecret(ports);
  const { observation, handles } = await observe(ports);
  assert.equal(handles.key, validKey);
  const shown = JSON.stringify(observation);
  assert.equal(shown.includes(validKey), false);
  assert.equal(shown.includes('storage.example.com'), false);
});
