// When the copy of the published version is looked at, and when it is copied again. What is published by its copy
// needs no link, and a copy counts only at the place that the spec names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import {
  classifyMirror,
  copyLink,
  expiredDigests,
  isInMirror,
  isOfOtherRules,
  listedDigests,
  mirrorPlaceName,
  needsCopy,
  needsLink,
  readsMirror,
} from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { Action, MirrorState, Subject } from '#operator/reconcile/state.ts';
import { nextWake } from '#operator/reconcile/wake.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import {
  copied,
  failure,
  linkless,
  ref,
  withMirrorFailure,
  withoutCopy,
  withStatus,
  withWanted,
} from './cases/conditions.ts';
import { active, at, calm, fresh, mirror, published, publishedLink, t0 } from './cases/observations.ts';

const dayMs = 24 * 3_600_000;
const uncopied = withWanted(calm, { mirror });
const s3: WantedMirror = { ...mirror, address: 's3://bucket/docs', endpoint: 'https://s3.example.com' };

const withWork = (base: Observation, work: NonNullable<Observation['process']['mirror']>): Observation => ({
  ...base,
  process: { ...base.process, mirror: work },
});

test('a place is named by its address, endpoint and Secret', () => {
  assert.equal(mirrorPlaceName(mirror), 'oci://registry.example.com/team/docs  registry');
  assert.equal(mirrorPlaceName({ ...mirror, secretName: undefined }), mirror.address);
  assert.equal(mirrorPlaceName(s3), 's3://bucket/docs https://s3.example.com registry');
  assert.equal(mirrorPlaceName({ ...mirror, address: 'x'.repeat(600) }).length, 512);
});

for (const [repair, repairRevision, stepRevisions, isOther] of [
  [undefined, undefined, { sitemap: 2 }, false],
  ['sitemap', 'sitemap:1', { sitemap: 1 }, false],
  ['sitemap', 'sitemap:1', { sitemap: 2 }, true],
  ['sitemap', 'sitemap:2', { sitemap: 1 }, true],
  ['sitemap', undefined, { sitemap: 1 }, false],
  ['sitemap', undefined, { sitemap: 2 }, true],
  ['canonical=strip search', undefined, { canonical: 1, search: 1, sitemap: 4 }, false],
  ['canonical=strip search', 'canonical:1 search:1', { canonical: 1, search: 2 }, true],
  ['search', 'search:1', {}, true],
] as const) {
  test(`${repair} of revision ${repairRevision} and an operator of ${JSON.stringify(stepRevisions)}`, () => {
    assert.equal(isOfOtherRules({ repair, repairRevision }, { stepRevisions }), isOther);
  });
}

for (const [name, reference, place, isThere] of [
  ['a manifest of the repository', ref, mirror, true],
  ['an object below the prefix', `${s3.address}/bundles/a.json`, s3, true],
  ['a manifest of a repository below it', `${mirror.address}/more@sha256:a`, mirror, false],
  ['a repository whose name only begins with it', `${mirror.address}-old@sha256:a`, mirror, false],
  ['another kind of object below the prefix', `${s3.address}/other/a.json`, s3, false],
  ['no reference', undefined, mirror, false],
  ['no mirror', ref, undefined, false],
] as const) {
  test(`${name} ${isThere ? 'is' : 'is not'} a copy at the place of the spec`, () => {
    assert.equal(isInMirror(reference, place), isThere);
  });
}

test('a version needs a link unless the spec wants none and there is a reference', () => {
  assert.equal(needsLink(calm), true);
  assert.equal(needsLink(copied), true);
  assert.equal(needsLink(linkless), false);
  assert.equal(needsLink(withWanted(uncopied, { publishesLink: false })), true);
});

const subject: Subject = { jobId: 'se_2', cause: 'pin', version: 'v', digest: published.digest, ref };

test('an archive is copied before its publication where the spec requires it and no copy is known', () => {
  assert.equal(needsCopy({ ...subject, ref: undefined }, uncopied), true);
  assert.equal(needsCopy(subject, uncopied), false);
  assert.equal(needsCopy({ ...subject, ref: 'oci://elsewhere@sha256:a' }, uncopied), true);
  const bestEffort = withWanted(calm, { mirror: { ...mirror, isRequired: false } });
  assert.equal(needsCopy({ ...subject, ref: undefined }, bestEffort), false);
  assert.equal(needsCopy({ ...subject, ref: undefined }, calm), false);
});

const copyFailed = (subjectId: string, reason: string): Observation =>
  withStatus(uncopied, { failures: { poll: { ...failure, reason, subject: subjectId } } });
const readings: readonly (readonly [string, Subject, Observation, boolean, boolean])[] = [
  ['a pinned version with a copy', subject, uncopied, true, true],
  ['a pinned version with a copy, while the export API may not be called', subject, uncopied, false, true],
  ['a pinned version without a digest', { ...subject, digest: undefined }, uncopied, true, false],
  [
    'a pinned version whose copy is elsewhere',
    { ...subject, ref: 'oci://b@sha256:a' },
    uncopied,
    true,
    false,
  ],
  ['a new export', { ...subject, cause: 'job' }, uncopied, true, false],
  ['a promoted candidate that needs a link', { ...subject, cause: 'release' }, uncopied, true, false],
  [
    'a promoted candidate that needs no link',
    { ...subject, cause: 'release' },
    withWanted(uncopied, { publishesLink: false }),
    true,
    true,
  ],
  ['a copy that could not be read', subject, copyFailed('se_2', 'MirrorUnreachable'), true, false],
  [
    'a copy that could not be read, while the export API may not be called',
    subject,
    copyFailed('se_2', 'MirrorUnreachable'),
    false,
    true,
  ],
  ['a link that could not be read', subject, copyFailed('se_2', 'NetworkError'), true, true],
  ['a copy of another job that could not be read', subject, copyFailed('se_9', 'MirrorDenied'), true, true],
];

for (const [name, one, observation, isOpen, isRead] of readings) {
  test(`${name}: ${isRead ? 'the copy is read' : 'a link is used'}`, () => {
    assert.equal(readsMirror(one, observation, isOpen), isRead);
  });
}

const seenAt = (seconds: number): Observation =>
  withStatus(copied, { active: { ...active, ref, mirrorCheckTime: at(seconds) } });
const states: readonly (readonly [string, Observation, MirrorState])[] = [
  ['without a mirror there is no work', calm, { kind: 'none' }],
  ['before the first version there is no work', withWanted(fresh, { mirror }), { kind: 'none' }],
  [
    'a version without a digest cannot be copied',
    withStatus(uncopied, { active: { ...active, digest: undefined } }),
    { kind: 'none' },
  ],
  [
    "over another owner's Secret there is no work",
    { ...copied, output: { kind: 'foreign', objectKind: 'Secret' } },
    { kind: 'none' },
  ],
  [
    'while the Secret is unreadable there is no work',
    { ...copied, output: { kind: 'unreadable', why: 'no "get" on secrets' } },
    { kind: 'none' },
  ],
  ['a version without a copy is copied', uncopied, { kind: 'due', work: 'copy' }],
  [
    'a version whose copy is at the place of an earlier spec is copied',
    withWanted(copied, { mirror: s3 }),
    { kind: 'due', work: 'copy' },
  ],
  ['a lost copy is copied again', withoutCopy(copied), { kind: 'due', work: 'copy' }],
  ['a copy that was never looked at is looked at', seenAt(-2 * 86_400), { kind: 'due', work: 'look' }],
  ['a look in the future means that the clock was set back', seenAt(60), { kind: 'due', work: 'look' }],
  [
    'a lost output is written again after a look',
    { ...linkless, output: { kind: 'absent' } },
    { kind: 'due', work: 'look' },
  ],
  [
    'a lost output of a version without a copy waits for its next link',
    { ...withoutCopy(copied), output: { kind: 'absent' } },
    { kind: 'none' },
  ],
  [
    'a lost output of a version without a link and a copy is copied again',
    { ...withoutCopy(linkless), output: { kind: 'absent' } },
    { kind: 'due', work: 'copy' },
  ],
  [
    'a look that runs is awaited',
    withWork(copied, { isRunning: true, link: undefined }),
    { kind: 'working', work: 'look' },
  ],
  [
    'a copy that is being made is awaited',
    withWork(uncopied, { isRunning: true, link: undefined }),
    { kind: 'working', work: 'copy' },
  ],
  ['a suspended resource copies nothing', withWanted(uncopied, { isSuspended: true }), { kind: 'held' }],
  [
    'a copy that failed waits for its back-off',
    withMirrorFailure(uncopied, 'Denied'),
    { kind: 'waiting', until: t0 + 60_000 },
  ],
  [
    'a failure at another place is no back-off here',
    withWanted(withMirrorFailure(uncopied, 'Denied'), { mirror: { ...mirror, secretName: 'other' } }),
    { kind: 'due', work: 'copy' },
  ],
];

for (const [name, observation, state] of states) {
  test(name, () => {
    assert.deepEqual(classifyMirror(observation), state);
  });
}

test('a copy is looked at once a day, up to a tenth earlier, and the same for each look', () => {
  const times = Array.from({ length: 50 }, (_, index) => {
    const state = classifyMirror({ ...seenAt(-60), uid: `uid-${index}` });
    assert.equal(state.kind, 'copied');
    return state.kind === 'copied' ? state.lookAt : 0;
  });
  for (const time of times) {
    assert.ok(time > t0 - 60_000 + 0.9 * dayMs - 1000 && time <= t0 - 60_000 + dayMs, String(time));
    assert.equal(time % 1000, 0);
  }
  assert.ok(new Set(times).size > 40, 'resources do not look together');
  assert.deepEqual(classifyMirror(seenAt(-60)), classifyMirror(seenAt(-60)));
});

test('a suspended resource still looks at its copy', () => {
  const suspended = withWanted(seenAt(-2 * 86_400), { isSuspended: true });
  assert.deepEqual(classifyMirror(suspended), { kind: 'due', work: 'look' });
});

test('a look that failed waits for its back-off, although a look is due', () => {
  const failed = withMirrorFailure(seenAt(-2 * 86_400), 'Unreachable');
  assert.deepEqual(classifyMirror(failed), { kind: 'copied', lookAt: t0 + 60_000 });
});

const valid = { issuedAt: t0, expiresAt: t0 + 6000 };
const tooShort = { issuedAt: t0, expiresAt: t0 + 5000 };
const withLink = (
  base: Observation,
  link: Observation['output'] & { readonly kind: 'ours' },
): Observation => ({
  ...base,
  output: link,
});
const links: readonly (readonly [string, Observation, ReturnType<typeof copyLink>])[] = [
  ['the published link', uncopied, 'published'],
  [
    'the next link where the published one expires',
    withLink(uncopied, { kind: 'ours', published: { ...published, link: tooShort } }),
    'none',
  ],
  [
    'the next link where the published one is from the future',
    withLink(uncopied, {
      kind: 'ours',
      published: { ...published, link: { ...publishedLink, issuedAt: t0 + 600_000 } },
    }),
    'none',
  ],
  ['a new link where none is published', withoutCopy(linkless), 'issue'],
  [
    'the link that was issued for it',
    withWork(withoutCopy(linkless), { isRunning: false, link: valid }),
    'issued',
  ],
  [
    'another one where that expires',
    withWork(withoutCopy(linkless), { isRunning: false, link: tooShort }),
    'issue',
  ],
];

for (const [name, observation, source] of links) {
  test(`a copy is made from ${name}`, () => {
    assert.equal(copyLink(observation), source);
  });
}

const actionOf = (observation: Observation): Action => {
  const seen = adopt(observation);
  return choose(classify(seen), seen).action;
};
const copyAgain: Action = { kind: 'mirror', work: 'copy' };
const actions: readonly (readonly [string, Observation, Action])[] = [
  ['the published version is copied from its link', uncopied, copyAgain],
  [
    'a link is issued where none is published',
    withoutCopy(linkless),
    {
      ...{ kind: 'issue', jobId: 'se_1', cause: 'mirror' },
      issuer: { baseUrl: calm.wanted.baseUrl, projectId: undefined },
    },
  ],
  [
    'no link is issued while the export API may not be called',
    { ...withoutCopy(linkless), isHostAllowed: false },
    { kind: 'none' },
  ],
  [
    'no link is issued before Retry-After',
    {
      ...withoutCopy(linkless),
      rateLimit: { closedUntil: t0 + 30_000, closedAt: t0, refused: undefined },
    },
    { kind: 'none' },
  ],
  [
    'a link in memory is used although the export API may not be called',
    { ...withWork(withoutCopy(linkless), { isRunning: false, link: valid }), isHostAllowed: false },
    copyAgain,
  ],
  [
    'a look needs no export API',
    { ...seenAt(-2 * 86_400), key: { kind: 'missing' } },
    { kind: 'mirror', work: 'look' },
  ],
  [
    'a version that is published by its copy needs no refresh',
    { ...linkless, now: t0 + 840_000 },
    { kind: 'none' },
  ],
];

for (const [name, observation, action] of actions) {
  test(name, () => {
    assert.deepEqual(actionOf(observation), action);
  });
}

test('running work is checked once a minute, in case its end was not seen', () => {
  const seen = adopt(withWork(linkless, { isRunning: true, link: undefined }));
  const plan = choose(classify(seen), seen);
  assert.deepEqual(plan.action, { kind: 'none' });
  assert.equal(nextWake(seen, plan), t0 + 60_000);
});

test('retention keeps what is published, held or in the history', () => {
  const status = {
    active,
    candidate: { version: 'v2', jobId: 'se_2', digest: 'c'.repeat(64), reason: 'TooFewPages' },
    history: [
      { ...active },
      { version: 'v0', jobId: 'se_0', digest: 'd'.repeat(64) },
      { version: 'v', jobId: 'j' },
    ],
  };
  assert.deepEqual(listedDigests(status), [active.digest, 'c'.repeat(64), 'd'.repeat(64)]);
  assert.deepEqual(listedDigests({}), []);
});

test('a copy expires when it was unlisted for the time of the spec, and is not listed now', () => {
  const unlisted = (digest: string, seconds: number) => ({ digest, firstSeenTime: at(seconds) });
  const copies = [
    unlisted('e'.repeat(64), -86_400),
    unlisted('f'.repeat(64), -86_399),
    unlisted(active.digest, -90_000),
  ];
  const retained = withWanted(withStatus(copied, { unlistedCopies: copies }), {
    mirror: { ...mirror, unlistedMs: dayMs },
  });
  assert.deepEqual(expiredDigests(retained), ['e'.repeat(64)]);
  assert.deepEqual(expiredDigests(withWanted(retained, { mirror })), [], 'no retention');
  assert.deepEqual(expiredDigests(withWanted(retained, { mirror: undefined })), [], 'no mirror');
  assert.deepEqual(expiredDigests(withWanted(retained, { isSuspended: true })), [], 'suspended');
});
