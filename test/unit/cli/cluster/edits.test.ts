// What each verb changes of a StaticExport, and what it refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EditVerb, gitChangeOf, managerOf, planEdit, questionOf } from '#cli/cluster/edits.ts';
import type { Outcome } from '#cli/exit-code.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { fieldsIn, textRows } from '../../../support/text-rows.ts';
import { words } from '../../../support/words.ts';

const [newest, middle, oldest] = [
  '20260107-030000-cccccccc',
  '20260106-030000-bbbbbbbb',
  '20260105-030000-aaaaaaaa',
];
const versionOf = (version: string) => ({
  version,
  jobId: `job-${version}`,
  exportTime: '2026-01-05T03:00:00Z',
});
const published = {
  ...versionOf(newest),
  publishTime: '2026-01-07T03:00:00Z',
  linkIssueTime: '2026-01-07T03:00:00Z',
  linkExpirationTime: '2026-01-07T03:15:00Z',
};

function objectWith(spec: object = {}, status: object = {}): StaticExportObject {
  return {
    metadata: {
      namespace: 'docs',
      name: 'docs',
      uid: 'u',
      resourceVersion: '1',
      annotations: {},
      labels: {},
      ownerReferences: [],
    },
    spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'k' } }, ...spec },
    status: { active: published, history: [newest, middle, oldest].map(versionOf), ...status },
  };
}

const candidate = { ...versionOf('20260108-030000-dddddddd'), reason: 'TooFewPages' };
/** Rows of `name | verb | version | spec | status | patch | is risky`; `-` where a cell is not there. */
const rows = textRows(`
  a request names its token | request | - | - | - | metadata: {annotations: {staticexport.dev/requestedAt: token}} | no
  a promotion names the candidate | promote | - | - | candidate: $candidate
    | metadata: {annotations: {staticexport.dev/promote: $proposed}} | yes
  a rejection names the candidate | reject | $proposed | - | candidate: $candidate
    | metadata: {annotations: {staticexport.dev/reject: $proposed}} | no
  a request for a link names its token | refresh-link | - | - | -
    | metadata: {annotations: {staticexport.dev/refreshRequestedAt: token}} | no
  a pin replaces a pinned job | pin | $oldest | pin: {jobId: x} | - | spec: {pin: {version: $oldest, jobId: null}} | yes
  a pin that is there changes nothing | pin | $oldest | pin: {version: $oldest} | - | - | no
  a rollback pins the version before | rollback | - | - | - | spec: {pin: {version: $middle, jobId: null}} | yes
  a rollback pins the version that is named | rollback | $oldest | - | - | spec: {pin: {version: $oldest, jobId: null}} | yes
  unpin removes the pin | unpin | - | pin: {version: $oldest} | - | spec: {pin: null} | no
  unpin without a pin changes nothing | unpin | - | - | - | - | no
  suspend sets the field | suspend | - | - | - | spec: {suspend: true} | no
  suspend of a suspended one changes nothing | suspend | - | suspend: true | - | - | no
  resume clears the field | resume | - | suspend: true | - | spec: {suspend: false} | no
  resume of a running one changes nothing | resume | - | - | - | - | no
`);
const known = { candidate, proposed: candidate.version, middle, oldest };
const fields = (cell = '-'): object | undefined => (cell === '-' ? undefined : fieldsIn(cell, known));
const verbs = words('request promote reject refresh-link pin rollback unpin suspend resume');
const isVerb = (word: string): word is EditVerb => verbs.includes(word);
for (const [name, verb = '', named = '-', ...cells] of rows) {
  assert.ok(isVerb(verb), verb);
  const [spec, status, patch] = cells.map(fields);
  const isRisky = cells[3] === 'yes';
  const version: string | undefined = named === '-' ? undefined : fieldsIn(`name: ${named}`, known).name;
  test(name, () => {
    const edit = planEdit(verb, objectWith(spec, status), version, 'token');
    assert.deepEqual(edit?.patch, patch);
    assert.equal(edit?.isRisky ?? false, isRisky);
  });
}

const refusals: readonly (readonly [string, EditVerb, string | undefined, object, string, Outcome?])[] = [
  ['a promotion without a candidate', 'promote', undefined, {}, 'NoCandidate', 'cluster'],
  ['a promotion of another version', 'promote', oldest, { candidate }, 'VersionUnknown', 'cluster'],
  ['a rejection without a candidate', 'reject', undefined, {}, 'NoCandidate', 'cluster'],
  ['a rejection of another version', 'reject', oldest, { candidate }, 'VersionUnknown', 'cluster'],
  [
    'a new link before the first version',
    'refresh-link',
    undefined,
    { active: undefined },
    'NothingPublished',
  ],
  ['a pin of no version', 'pin', 'nonsense', {}, 'VersionInvalid'],
  ['a promotion of no version', 'promote', 'nonsense', { candidate }, 'VersionInvalid'],
  ['a pin without a version', 'pin', undefined, {}, 'VersionMissing'],
  ['a pin of an unknown version', 'pin', '20200101-000000-ffffffff', {}, 'VersionUnknown', 'cluster'],
  [
    'a rollback before the first version',
    'rollback',
    undefined,
    { history: [versionOf(newest)] },
    'NothingBefore',
  ],
];
for (const [name, verb, version, status, code, outcome = 'usage'] of refusals) {
  test(`${name} is refused`, () => {
    assert.throws(() => planEdit(verb, objectWith({}, status), version, 'token'), { code, outcome });
  });
}

test('a new link is refused where the spec publishes none, with the field that says so', () => {
  const mirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
  for (const [spec, message] of [
    [{ output: { link: 'Never' } }, /^spec\.output\.link is Never, so no link is published/],
    [
      { transform: { repair: { rules: [{ name: 'sitemap' }] } } },
      /^spec\.transform is set, so no link is published/,
    ],
    [{ transform: { search: 'Enabled' } }, /^spec\.transform is set, so no link is published/],
  ] as const) {
    const object = objectWith({ mirror, ...spec });
    assert.throws(() => planEdit('refresh-link', object, undefined, 'token'), {
      code: 'NoLinkWanted',
      message,
    });
  }
});

test('the tool that manages the object is known by its marks', () => {
  const of = (metadata: object) => managerOf({ metadata: { ...objectWith().metadata, ...metadata } });
  assert.equal(of({}), undefined);
  assert.equal(of({ labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }), 'Flux');
  assert.equal(of({ labels: { 'helm.toolkit.fluxcd.io/name': 'apps' } }), 'Flux');
  assert.equal(of({ annotations: { 'argocd.argoproj.io/tracking-id': 'x' } }), 'Argo CD');
});

test('a change names the version that readers get, or never get', () => {
  const planned = (verb: EditVerb) => planEdit(verb, objectWith({}, { candidate }), undefined, 'token');
  assert.equal(planned('promote')?.requestedVersion, candidate.version);
  assert.equal(planned('rollback')?.requestedVersion, middle);
  assert.equal(planned('reject')?.rejectedVersion, candidate.version);
  assert.match(planned('promote')?.message ?? '', /^Version \S+ is requested as the published version\.$/);
  assert.match(planned('rollback')?.message ?? '', /^Version \S+ is requested as the pinned version;/);
});

test('the question of a risky change names both versions, with their pages where they are known', () => {
  const status = {
    active: { ...published, pages: 12 },
    candidate: { ...candidate, pages: 1 },
    history: [versionOf(newest), { ...versionOf(middle), pages: 3 }, versionOf(oldest)],
  };
  const question = (verb: EditVerb, version: string, changed: object = {}) =>
    questionOf(verb, version, objectWith({}, { ...status, ...changed }));
  assert.equal(
    question('rollback', middle),
    `docs/docs: This pins ${middle} (3 pages) in place of ${newest} (12 pages) for readers. Continue?`,
  );
  assert.equal(
    question('promote', candidate.version),
    `docs/docs: This publishes ${candidate.version} (1 page) in place of ${newest} (12 pages) for readers. Continue?`,
  );
  assert.match(question('pin', oldest), new RegExp(`This pins ${oldest} in place of `));
  assert.match(question('pin', newest), /\(12 pages\), which readers get already\. Continue\?$/);
  assert.match(question('promote', candidate.version, { active: undefined }), /\(1 page\) for readers\. Con/);
});

test('a change for git is the object with the fields to set, and the paths to remove', () => {
  const of = (verb: EditVerb, spec: object, version?: string) => {
    const object = objectWith(spec);
    return gitChangeOf(object, planEdit(verb, object, version, 'token')?.patch ?? {});
  };
  const manifest = (spec: object) => ({
    apiVersion: 'staticexport.dev/v1alpha1',
    kind: 'StaticExport',
    metadata: { name: 'docs', namespace: 'docs' },
    spec,
  });
  assert.deepEqual(of('suspend', {}), { manifest: manifest({ suspend: true }), removals: [] });
  assert.deepEqual(of('unpin', { pin: { version: oldest } }), { removals: ['spec.pin'] });
  assert.deepEqual(of('pin', {}, oldest), { manifest: manifest({ pin: { version: oldest } }), removals: [] });
  assert.deepEqual(of('pin', { pin: { jobId: 'x' } }, oldest), {
    manifest: manifest({ pin: { version: oldest } }),
    removals: ['spec.pin.jobId'],
  });
});
