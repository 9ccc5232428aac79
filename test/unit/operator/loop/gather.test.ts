// Tests what one reconcile reads, as an Observation: the outputs, the key's Secret as a user may write it, tokens, and
// what only the operator knows. The simulation plays refused reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Gathered, gather } from '#operator/loop/gather.ts';
import { resourceId } from '#operator/loop/memory.ts';
import type { KeyState, OutputState } from '#operator/reconcile/observation.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { publishedSimulation } from '../../../simulation/published-simulation.ts';
import { outputName, resource, Simulation, type SimulationOptions } from '../../../simulation/simulation.ts';
import { active, t0 } from '../reconcile/cases/observations.ts';
import { bytesOf, store } from './recorded-simulation.ts';

const output = { namespace: 'docs', name: outputName };

function observe(simulation: Simulation, settings: SettingsChange = {}): Promise<Gathered> {
  const object = simulation.object() ?? assert.fail();
  const parsed = parseStaticExport(object);
  const spec = parsed.spec ?? parsed.remains ?? assert.fail();
  const context = simulation.context();
  const changed = { ...context, settings: { ...context.settings, ...settings } };
  return gather(object, parsed, spec, changed, new AbortController().signal);
}
type SettingsChange = Partial<Simulation['settings']>;

const unpublished = { published: undefined, isConfigMapForeign: false, unreadConfigMap: undefined };
const outputs: readonly (readonly [what: string, (simulation: Simulation) => void, OutputState])[] = [
  [
    'a Secret of another owner is foreign',
    ({ cluster }) => cluster.putSecret(output, {}),
    { kind: 'foreign', objectKind: 'Secret' },
  ],
  [
    'a ConfigMap of another owner is foreign where no Secret exists',
    ({ cluster }) => cluster.putConfigMap(output, {}),
    { kind: 'foreign', objectKind: 'ConfigMap' },
  ],
];
for (const [what, arrange, state] of outputs) {
  test(what, async () => {
    const simulation = new Simulation();
    arrange(simulation);
    const { observation, handles } = await observe(simulation);
    assert.deepEqual([observation.output, handles.published], [state, undefined]);
  });
}

for (const data of [{}, { 'bundle.json': '{"version":' }]) {
  test(`an output Secret that holds ${JSON.stringify(data)} publishes nothing`, async () => {
    const simulation = await publishedSimulation();
    simulation.cluster.putSecret(output, data);
    const { observation, handles } = await observe(simulation);
    assert.deepEqual(observation.output, { kind: 'ours', ...unpublished });
    assert.equal(handles.published, undefined);
  });
}

const present = (hasUsualPrefix: boolean): KeyState => ({
  kind: 'present',
  secretVersion: '',
  hasUsualPrefix,
});
const keys: readonly (readonly [what: string, bytes: Uint8Array | undefined, KeyState])[] = [
  ['a Secret without the key', undefined, { kind: 'missing', isSecretThere: true }],
  ['a key of blanks', bytesOf(' \n'), { kind: 'empty' }],
  ['a key with a line break inside', bytesOf('svc_a\r\nHost: b'), { kind: 'invalid' }],
  ['a key that is not UTF-8', Uint8Array.of(0x73, 0xff, 0xfe), { kind: 'invalid' }],
  ['a key with a zero byte', Uint8Array.of(0x73, 0, 0x76), { kind: 'invalid' }],
  ['a key of 4097 characters', bytesOf('a'.repeat(4097)), { kind: 'invalid' }],
  ['a key of 4096 characters', bytesOf('a'.repeat(4096)), present(false)],
  ['a key with a line break at its end', bytesOf('svc_valid\n'), present(true)],
];
for (const [what, bytes, state] of keys) {
  test(`${what} reads as ${state.kind}, and only a present key leaves the Secret`, async () => {
    const simulation = new Simulation();
    const secret = simulation.cluster.secrets.get('docs/export-api') ?? assert.fail();
    simulation.cluster.secrets.set('docs/export-api', { ...secret, data: bytes ? { apiKey: bytes } : {} });
    const { observation, handles } = await observe(simulation);
    const isPresent = state.kind === 'present';
    const { uid, resourceVersion } = secret.metadata;
    const secretVersion = `${uid}/${resourceVersion}`;
    assert.deepEqual(observation.key, isPresent ? { ...state, secretVersion } : state);
    assert.equal(handles.key, isPresent ? new TextDecoder().decode(bytes).trim() : undefined);
  });
}

test('the tokens of annotations are bounded, printable and not empty', async () => {
  const simulation = new Simulation();
  simulation.annotate({ 'staticexport.dev/requestedAt': `a\u202eb\nc${'a'.repeat(300)}` });
  simulation.annotate({ 'staticexport.dev/promote': '', 'staticexport.dev/reject': 'v1' });
  const { request, promote, reject } = (await observe(simulation)).observation;
  assert.match(request ?? '', /^a[^\p{C}]{1,16}ca{200,254}/u);
  assert.ok((request ?? '').length <= 256);
  assert.deepEqual([promote, reject], [undefined, 'v1']);
});

test('what this process knows of another job is not taken for the tracked job', async () => {
  const simulation = new Simulation();
  store(simulation, { job: { id: 'se_1' } });
  for (const [jobId, polledAt, pollAfterMs] of [
    ['se_1', t0, 5000],
    ['se_2', undefined, undefined],
  ] as const) {
    simulation.memory().polls.set(resourceId(resource), { jobId, at: t0, retryAfterMs: 5000 });
    const nothing = { candidate: undefined, refresh: undefined, mirror: undefined };
    const { process } = (await observe(simulation)).observation;
    assert.deepEqual(process, { polledAt, pollAfterMs, ...nothing });
  }
});

test('what remains of an unreadable spec keeps the inputs of the job that exists', async () => {
  const simulation = new Simulation();
  store(simulation, { active, job: { id: 'se_2', inputHash: 'of-the-job' } });
  simulation.editSpec({ domain: 7 });
  const { inputHash, specProblems, wanted } = (await observe(simulation)).observation;
  assert.equal(inputHash, 'of-the-job');
  assert.deepEqual(specProblems, ['spec.domain (must be text; put it in quotes)']);
  assert.equal(wanted.isSuspended, true);
});

const ofPods = {
  name: 'fleet',
  type: 'Workload',
  write: ['ref'],
  workload: { kind: 'Deployment', name: 'docs' },
};
const address = 'oci://registry.example.com/{namespace}/{name}';
const defaultMirror = { address, endpoint: undefined, region: 'us-east-1', pathStyle: false };
const mirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
const cases: readonly (readonly [
  what: string,
  SimulationOptions['spec'],
  SettingsChange,
  problem?: RegExp,
])[] = [
  [
    'no mirror',
    {},
    {},
    /^spec\.targets \(ref needs spec\.mirror, .*; add a mirror, or remove ref from write\)$/,
  ],
  ['a mirror', { mirror }, {}],
  ['the default mirror of the operator', {}, { defaultMirror }],
  [
    'archives that are not inspected',
    { promotion: { inspect: 'Never' } },
    { defaultMirror },
    /^spec\.targets \(.* spec\.promotion\.inspect: Always; set it, or remove ref from write\)$/,
  ],
];
for (const [what, spec, settings, problem] of cases) {
  test(`a target that writes the reference with ${what} is ${problem === undefined ? 'valid' : 'a problem of the spec'}`, async () => {
    const simulation = new Simulation({ spec: { ...spec, targets: [ofPods] } });
    const { specProblems, wanted } = (await observe(simulation, settings)).observation;
    assert.match(specProblems.join(), problem ?? /^$/);
    assert.equal(wanted.isSuspended, problem !== undefined, 'half a spec starts nothing');
  });
}

test('a repair without a mirror is a problem of the spec, and with the default mirror of the operator it is valid', async () => {
  const simulation = new Simulation({ spec: { transform: { repair: { rules: [{ name: 'sitemap' }] } } } });
  const without = (await observe(simulation)).observation;
  assert.match(without.specProblems.join(), /^spec\.transform \(needs spec\.mirror, .*; add a mirror, /);
  assert.equal(without.wanted.isSuspended, true);
  const { specProblems, wanted } = (await observe(simulation, { defaultMirror })).observation;
  assert.deepEqual([specProblems, wanted.isSuspended, wanted.repair], [[], false, 'sitemap']);
});

test('neither the key nor the link is in the observation', async () => {
  const simulation = await publishedSimulation();
  const { observation, handles } = await observe(simulation);
  assert.equal(handles.key, simulation.vendor.validKey);
  const shown = JSON.stringify(observation);
  assert.equal(shown.includes(simulation.vendor.validKey) || shown.includes('storage.test'), false);
});
