// Every reason of Mirrored, and its message: what the mirror answered, and when the operator asks again. A reason
// without a row here is untested.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { settleLooked } from '#operator/reconcile/settle/mirrored.ts';
import { statusOf } from '#operator/reconcile/status/status.ts';
import type * as reasons from '#operator/staticexport/reasons.ts';
import {
  complete,
  conditionsOf,
  copied,
  failure,
  linkless,
  ref,
  withMirrorFailure,
  withoutCopy,
  withStatus,
  withWanted,
} from '../cases/conditions.ts';
import { calm, fresh, mirror, published } from '../cases/observations.ts';

/** Published before the spec had a mirror. */
const uncopied = withWanted(calm, { mirror });
const first = withWanted(fresh, { mirror });

const mirrorRetained = withWanted(copied, { mirror: { ...mirror, unlistedMs: 86_400_000 } });

/** A look that found the copy, and could not remove another. */
const withRetentionFailure = (observation: Observation): Observation => {
  const retentionFailure = { code: 'Denied', message: 'The registry returned 405.', retryAfterMs: undefined };
  const result = { kind: 'mirror-looked', isThere: true, unlisted: [], retentionFailure } as const;
  return withStatus(observation, settleLooked(observation, result).status);
};

/** Repaired by an earlier operator, and no longer in the mirror. */
const ofOtherRules: Observation = {
  ...withWanted(withoutCopy(linkless), { repair: 'sitemap' }),
  output: {
    kind: 'ours',
    published: { ...published, ref, link: undefined, repair: 'sitemap', repairRevision: 'sitemap:0' },
  },
};

const pinned = withWanted(withMirrorFailure(withoutCopy(linkless), 'RulesChanged'), {
  pin: { version: calm.status.active?.version, jobId: undefined },
});
const held = { version: '20260105-110000-cccccccc', digest: 'c'.repeat(64), jobId: complete.id };

const mirrored: Readonly<Record<reasons.MirrorReason, readonly [Observation, string]>> = {
  Copied: [copied, 'True'],
  RetentionFailed: [withRetentionFailure(mirrorRetained), 'True'],
  Copying: [uncopied, 'Unknown'],
  NotPublished: [first, 'Unknown'],
  Lost: [withoutCopy(copied), 'False'],
  Denied: [withMirrorFailure(uncopied, 'Denied'), 'False'],
  RepositoryMissing: [withMirrorFailure(uncopied, 'RepositoryMissing'), 'False'],
  HostNotAllowed: [withMirrorFailure(uncopied, 'HostNotAllowed'), 'False'],
  OwnedElsewhere: [withMirrorFailure(uncopied, 'OwnedElsewhere'), 'False'],
  QuotaExceeded: [withMirrorFailure(uncopied, 'QuotaExceeded'), 'False'],
  SecretMissing: [withMirrorFailure(uncopied, 'SecretMissing'), 'False'],
  Unreachable: [withMirrorFailure(uncopied, 'Unreachable'), 'False'],
  OutputWriteFailed: [withMirrorFailure(copied, 'OutputWriteFailed'), 'Unknown'],
  CopyFailed: [withMirrorFailure(uncopied, 'BlobDamaged'), 'False'],
  ContentChanged: [withMirrorFailure(uncopied, 'ContentChanged'), 'False'],
  RulesChanged: [ofOtherRules, 'False'],
};

for (const [reason, [observation, status]] of Object.entries(mirrored)) {
  test(`Mirrored=${status}/${reason}`, () => {
    assert.equal(conditionsOf(observation).get('Mirrored'), `${status}/${reason}`);
  });
}

const others: readonly (readonly [string, Observation, string | undefined])[] = [
  ['a resource without a mirror has no condition', calm, undefined],
  [
    'the first export that is complete is being copied',
    withStatus(first, { job: complete }),
    'Unknown/Copying',
  ],
  [
    'a first export that cannot be copied has the reason of its failure',
    withStatus(first, {
      job: complete,
      failures: { poll: { ...failure, reason: 'MirrorDenied', subject: complete.id } },
    }),
    'False/Denied',
  ],
  [
    'a later export that cannot be copied says nothing about the copy that is published',
    withStatus(copied, {
      job: complete,
      failures: { poll: { ...failure, reason: 'MirrorDenied', subject: complete.id } },
    }),
    'True/Copied',
  ],
  [
    'a failure of the download is not one of the mirror',
    withStatus(first, { job: complete, failures: { poll: { ...failure, subject: complete.id } } }),
    'Unknown/Copying',
  ],
  [
    'a mirror that does not answer says nothing about a copy that was there',
    withMirrorFailure(copied, 'Unreachable'),
    'Unknown/Unreachable',
  ],
  ['a mirror that refuses the look is reported', withMirrorFailure(copied, 'Denied'), 'False/Denied'],
  [
    'a lost copy stays the reason while it cannot be copied again',
    withMirrorFailure(withoutCopy(copied), 'Denied'),
    'False/Lost',
  ],
  [
    'a failure at the place of an earlier spec does not count',
    withStatus(copied, {
      failures: { mirror: { ...failure, reason: 'Denied', subject: 'oci://elsewhere' } },
    }),
    'True/Copied',
  ],
  [
    'a copy at the place of an earlier spec does not count',
    withWanted(copied, { mirror: { ...mirror, address: 'oci://registry.example.com/team/other' } }),
    'Unknown/Copying',
  ],
  [
    'a code that is a name of every object is not a reason',
    withMirrorFailure(uncopied, 'toString'),
    'False/CopyFailed',
  ],
];

for (const [name, observation, expected] of others) {
  test(name, () => {
    assert.equal(conditionsOf(observation).get('Mirrored'), expected);
  });
}

const messages: readonly (readonly [string, Observation, RegExp])[] = [
  [
    'a copy is shown with its version and reference',
    copied,
    new RegExp(`^The published bundle is in the mirror\\. ${calm.status.active?.version}: ${ref}\\.$`),
  ],
  [
    'a failure is shown with the answer of the mirror and its retry time',
    withMirrorFailure(uncopied, 'Denied', 'registry.example.com returned 401.'),
    /^The mirror refused .* Follow the message\. registry\.example\.com returned 401\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  [
    'a lost copy is shown with why it is not copied again',
    withMirrorFailure(withoutCopy(linkless), 'NetworkError', 'No link for copying again: ECONNREFUSED.'),
    /no longer in the mirror\. .* No link for copying again: ECONNREFUSED\. Retrying at /,
  ],
];

const replaced = /A new version replaces it, unless spec\.suspend, spec\.pin or a promotion gate holds it\./;
const holds: readonly (readonly [string, Observation, string])[] = [
  ['nothing', ofOtherRules, ''],
  [
    'a suspension',
    withWanted(ofOtherRules, { isSuspended: true }),
    ' spec.suspend is true. The new version comes after you remove spec.suspend.',
  ],
  ['a pin', pinned, ' spec.pin keeps this version. The new version comes after you remove spec.pin.'],
  [
    'a suspension of a pinned version',
    withWanted(pinned, { isSuspended: true }),
    ' spec.suspend is true. The new version comes after you remove spec.suspend.',
  ],
  [
    'a gate',
    withStatus(ofOtherRules, {
      job: { ...complete, verdict: 'Held', repair: 'sitemap', repairRevision: 'sitemap:1' },
      candidate: { ...held, reason: 'AwaitingPromotion' },
    }),
    ' Candidate 20260105-110000-cccccccc is held. Promote it.',
  ],
];

for (const [hold, observation, sentences] of holds) {
  test(`under other rules, the message names what holds the next version: ${hold}`, () => {
    const seen = adopt(observation);
    const { conditions = [] } = statusOf(seen, classify(seen), []);
    const { reason, message = '' } = conditions.find(({ type }) => type === 'Mirrored') ?? {};
    assert.equal(reason, 'RulesChanged');
    assert.match(message, replaced);
    const ending = sentences === '' ? ' holds it.' : sentences;
    assert.ok(message.endsWith(ending), message);
  });
}

for (const [name, observation, words] of messages) {
  test(name, () => {
    const seen = adopt(observation);
    const { conditions = [] } = statusOf(seen, classify(seen), []);
    assert.match(conditions.find(({ type }) => type === 'Mirrored')?.message ?? '', words);
  });
}
