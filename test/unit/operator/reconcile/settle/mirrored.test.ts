// How the outcome of work on copies changes the stored status, and what is published with it. A failure changes no
// reference, and only a copy that was found or read back is published.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import { mirrorPlaceName } from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import {
  linkBeside,
  settleCopied,
  settleCopyFailure,
  settleLooked,
  settleMirrorFailure,
} from '#operator/reconcile/settle/mirrored.ts';
import { outputRefused, settle } from '#operator/reconcile/settle/settle.ts';
import { maxUnlisted, statusSchema } from '#operator/staticexport/status-schema.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import {
  complete,
  copied,
  failure,
  linkless,
  ref,
  withMirrorFailure,
  withoutCopy,
  withStatus,
  withWanted,
} from '../cases/conditions.ts';
import { active, at, calm, copyOf, mirror, published, publishedLink, t0 } from '../cases/observations.ts';

const other = 'b'.repeat(64);
const denied: PublishableFailure = {
  code: 'Denied',
  message: 'registry.example.com returned 401.',
  retryAfterMs: undefined,
};
const looked = (isThere: boolean, unlisted: readonly string[] = []) =>
  ({ kind: 'mirror-looked', isThere, unlisted }) as const;

test('a link is published beside a reference only where the spec wants one', () => {
  assert.equal(linkBeside({ ref }, publishedLink, copied), publishedLink);
  assert.equal(linkBeside({ ref }, publishedLink, linkless), undefined);
  assert.equal(linkBeside({}, publishedLink, linkless), publishedLink);
  assert.equal(linkBeside({ ref: 'oci://elsewhere@sha256:a' }, publishedLink, linkless), publishedLink);
  assert.equal(linkBeside({ ref, repair: 'sitemap' }, publishedLink, copied), undefined);
});

test('a copy that was found has its time, and ends the failures of the mirror', () => {
  const { status, publish } = settleLooked(withMirrorFailure(copied, 'Unreachable'), looked(true));
  assert.equal(publish, undefined);
  assert.deepEqual([status.active?.ref, status.active?.mirrorCheckTime], [ref, at(0)]);
  assert.equal(status.failures?.mirror, undefined);
});

test('a copy that was not found is lost, and what is published stays', () => {
  const { status, publish } = settleLooked(withMirrorFailure(copied, 'Unreachable'), looked(false));
  assert.equal(publish, undefined);
  assert.deepEqual(
    [status.active?.ref, status.active?.mirrorCheckTime, status.active?.copyLossTime],
    [ref, at(-60), at(0)],
  );
  assert.equal(status.failures?.mirror, undefined);
});

test('a copy that is found again is not lost any more', () => {
  const { status } = settleLooked(withoutCopy(copied), looked(true));
  assert.deepEqual([status.active?.mirrorCheckTime, status.active?.copyLossTime], [at(0), undefined]);
});

test('a lost output is written again from the copy that was found, without a link', () => {
  const lost: Observation = { ...linkless, output: { kind: 'absent' } };
  const { publish } = settleLooked(lost, looked(true));
  const { version, digest, pages, jobId } = published;
  assert.deepEqual(publish, { version, digest, pages, sizeBytes: undefined, jobId, ref, link: undefined });
  assert.equal(settleLooked(lost, looked(false)).publish, undefined);
});

test('a look at a version without a reference changes nothing', () => {
  const { status, publish } = settleLooked(calm, looked(true));
  assert.deepEqual([status, publish], [calm.status, undefined]);
});

const retained = (base: Observation): Observation =>
  withWanted(base, { mirror: { ...mirror, unlistedMs: 86_400_000 } });

test('an unlisted copy keeps the time when it was first seen, and is forgotten when it is gone or listed', () => {
  const [gone, again, fresh] = ['c', 'd', 'e'].map((digit) => digit.repeat(64));
  assert.ok(gone !== undefined && again !== undefined && fresh !== undefined);
  const known = withStatus(retained(copied), {
    unlistedCopies: [gone, again, active.digest].map((digest) => ({ digest, firstSeenTime: at(-600) })),
  });
  const { status } = settleLooked(known, looked(true, [again, fresh, active.digest]));
  assert.deepEqual(status.unlistedCopies, [
    { digest: again, firstSeenTime: at(-600) },
    { digest: fresh, firstSeenTime: at(0) },
  ]);
});

test('copies that cannot be removed or listed are remembered, and each failed check counts', () => {
  const remembered = [{ digest: other, firstSeenTime: at(-90_000) }];
  let observation = withStatus(retained(copied), { unlistedCopies: remembered });
  for (const [count, unlisted] of [[1, undefined] as const, [2, [other]] as const]) {
    const result = { kind: 'mirror-looked', isThere: true, unlisted, retentionFailure: denied } as const;
    const { status } = settleLooked(observation, result);
    assert.deepEqual(status.unlistedCopies, remembered);
    const failure = status.failures?.retention ?? assert.fail();
    assert.deepEqual([failure.count, failure.reason, failure.message], [count, 'Denied', denied.message]);
    assert.equal(status.failures?.mirror, undefined);
    observation = withStatus(observation, status);
  }
  const { status } = settleLooked(observation, looked(true, []));
  assert.deepEqual([status.failures?.retention, status.unlistedCopies], [undefined, undefined]);
});

test('a resource without retention remembers no unlisted copies', () => {
  const known = withStatus(copied, { unlistedCopies: [{ digest: other, firstSeenTime: at(-600) }] });
  assert.equal(settleLooked(known, looked(true, [other])).status.unlistedCopies, undefined);
  assert.equal(settleLooked(retained(copied), looked(true)).status.unlistedCopies, undefined);
});

test('of too many unlisted copies those stay that are known', () => {
  const digests = Array.from({ length: maxUnlisted + 9 }, (_, index) => index.toString(16).padStart(64, '0'));
  const last = digests.at(-1) ?? '';
  const known = withStatus(retained(copied), { unlistedCopies: [{ digest: last, firstSeenTime: at(-600) }] });
  const { unlistedCopies } = settleLooked(known, looked(true, digests)).status;
  assert.equal(unlistedCopies?.length, maxUnlisted);
  assert.deepEqual(unlistedCopies[0], { digest: last, firstSeenTime: at(-600) });
});

test('a new copy is published with the link of the published version', () => {
  const uncopied = withMirrorFailure(withWanted(calm, { mirror }), 'Unreachable');
  const { status, publish } = settleCopied(uncopied, { kind: 'mirror-copied', ref, link: publishedLink });
  const { version, digest, pages, jobId } = published;
  assert.deepEqual(publish, {
    version,
    digest,
    pages,
    sizeBytes: undefined,
    jobId,
    ref,
    link: publishedLink,
  });
  assert.deepEqual([status.active?.ref, status.active?.mirrorCheckTime], [ref, at(0)]);
  assert.equal(status.failures?.mirror, undefined);
});

test('a new copy is published without the link where the spec wants none', () => {
  const lost = withoutCopy(linkless);
  const { status, publish } = settleCopied(lost, { kind: 'mirror-copied', ref, link: publishedLink });
  assert.deepEqual([publish?.ref, publish?.link], [ref, undefined]);
  assert.equal(status.active?.copyLossTime, undefined);
});

test('a failure of the mirror counts up at one place, and changes neither reference nor time of a copy', () => {
  const first = settleMirrorFailure(copied, denied);
  assert.deepEqual(first.active, copied.status.active);
  assert.deepEqual(first.failures?.mirror, {
    count: 1,
    lastFailureTime: at(0),
    retryTime: at(30),
    reason: 'Denied',
    message: denied.message,
    subject: mirrorPlaceName(mirror),
  });
  const second = settleMirrorFailure({ ...copied, status: first }, denied).failures?.mirror;
  assert.deepEqual([second?.count, second?.retryTime], [2, at(60)]);
  const moved = { ...mirror, address: 'oci://registry.example.com/team/other' };
  const elsewhere = settleMirrorFailure(withWanted({ ...copied, status: first }, { mirror: moved }), denied)
    .failures?.mirror;
  assert.deepEqual([elsewhere?.count, elsewhere?.subject], [1, mirrorPlaceName(moved)]);
});

test('a failure without a mirror is dropped', () => {
  assert.equal(settleMirrorFailure(calm, denied), calm.status);
});

for (const [name, one, seconds] of [
  ['Retry-After is respected', { ...denied, retryAfterMs: 120_000 }, 120],
  ['Retry-After shortens no back-off', { ...denied, retryAfterMs: 1000 }, 30],
  ['other content of the published job is not tried again soon', { ...denied, code: 'ContentChanged' }, 3600],
] as const) {
  test(`a failure of the mirror: ${name}`, () => {
    assert.equal(settleMirrorFailure(copied, one).failures?.mirror?.retryTime, at(seconds));
  });
}

test('a failed copy of an export has the job as its subject, and is no failure of the archive', () => {
  const poll = { ...failure, reason: 'NetworkError', subject: 'se_2', inspectionFailures: 3 };
  const base = withStatus(withWanted(calm, { mirror }), { job: complete, failures: { poll } });
  const status = settleCopyFailure(base, 'se_2', denied);
  assert.deepEqual(status.failures?.poll, {
    count: 2,
    lastFailureTime: at(0),
    retryTime: at(60),
    reason: 'MirrorDenied',
    message: denied.message,
    subject: 'se_2',
    inspectionFailures: 3,
  });
  assert.equal(status.job?.verdict, undefined);
  const next = settleCopyFailure(base, 'se_3', denied).failures?.poll;
  assert.deepEqual([next?.count, next?.inspectionFailures], [1, undefined]);
});

test('texts longer than the schema permits are cut', () => {
  const long = { code: 'C'.repeat(200), message: 'm'.repeat(2000), retryAfterMs: undefined };
  const job = 'j'.repeat(2000);
  for (const status of [settleMirrorFailure(copied, long), settleCopyFailure(copied, job, long)]) {
    assert.ok(statusSchema.safeParse(status).success);
  }
});

function settledBy(observation: Observation, result: ActionResult) {
  const seen = adopt(observation);
  const plan = choose(classify(seen), seen);
  return { action: plan.action, ...settle(seen, plan, result) };
}

test('a link that is not issued for a copy is a failure of the mirror, and not one of the link', () => {
  const failed = { code: 'NetworkError', why: 'ECONNREFUSED', retryAfterMs: 90_000 } as const;
  const { action, status } = settledBy(withoutCopy(linkless), { kind: 'issue-failed', failure: failed });
  assert.deepEqual([action.kind, action.kind === 'issue' && action.cause], ['issue', 'mirror']);
  const { reason, message, retryTime } = status.failures?.mirror ?? {};
  assert.deepEqual(
    [reason, message, retryTime],
    ['NetworkError', 'No link for copying again: ECONNREFUSED.', at(90)],
  );
  assert.equal(status.failures?.link, undefined);
});

test('a link that is issued for a copy is not published', () => {
  const times = { issuedAt: t0, expiresAt: t0 + 900_000 };
  const { status, publish } = settledBy(withoutCopy(linkless), { kind: 'issued', times, isPublished: false });
  assert.equal(publish, undefined);
  assert.deepEqual(status.active, adopt(withoutCopy(linkless)).status.active);
});

test('an export is published although its copy failed where the spec does not require one', () => {
  const bestEffort = withWanted(calm, { mirror: { ...mirror, isRequired: false } });
  const link = { issuedAt: t0, expiresAt: t0 + 900_000 };
  const observation: Observation = {
    ...withStatus(bestEffort, { job: complete }),
    process: { ...calm.process, candidate: { jobId: 'se_2', link, inspection: 'read' } },
  };
  const content = { digest: other, pages: 20, sizeBytes: 9 };
  const { status, publish } = settledBy(observation, { kind: 'inspected', content, link, uncopied: denied });
  assert.deepEqual([publish?.digest, publish?.ref, publish?.link], [other, undefined, link]);
  assert.deepEqual([status.job?.verdict, status.failures?.mirror?.reason], ['Promoted', 'Denied']);
  const done = settledBy(observation, {
    kind: 'inspected',
    content: { ...content, ref: copyOf(other) },
    link,
  });
  assert.deepEqual([done.publish?.ref, done.publish?.link], [copyOf(other), link]);
  assert.equal(done.status.failures?.mirror, undefined);
});

test('an export with the published content republishes it where its copy is new', () => {
  const link = { issuedAt: t0, expiresAt: t0 + 900_000 };
  const observation: Observation = {
    ...withStatus(withWanted(calm, { mirror }), { job: complete }),
    process: { ...calm.process, candidate: { jobId: 'se_2', link, inspection: 'read' } },
  };
  const content = { digest: published.digest, pages: 20, sizeBytes: 9, ref };
  const { status, publish } = settledBy(observation, { kind: 'inspected', content, link });
  assert.deepEqual(
    [status.job?.verdict, publish?.version, publish?.ref],
    ['Unchanged', published.version, ref],
  );
  assert.equal(status.active?.mirrorCheckTime, at(0));
});

test('an output that refuses the new copy is a failure of the mirror operation', () => {
  const seen = adopt(withWanted(calm, { mirror }));
  const plan = choose(classify(seen), seen);
  assert.deepEqual(plan.action, { kind: 'mirror', work: 'copy' });
  const status = outputRefused(seen, plan, 'a quota refused to patch secrets "site-bundle"');
  const { reason, message } = status.failures?.mirror ?? {};
  assert.deepEqual(
    [reason, message],
    ['OutputWriteFailed', 'a quota refused to patch secrets "site-bundle"'],
  );
  assert.equal(status.failures?.poll, undefined);
});
