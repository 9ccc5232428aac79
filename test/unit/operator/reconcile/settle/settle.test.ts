// How each answer changes the stored status: rule 8 as a table, and the verdicts on an archive. The scenarios in
// test/simulation show the same from outside; here every code has its row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult, CallCode } from '#operator/reconcile/result.ts';
import { type Settled, settle } from '#operator/reconcile/settle/settle.ts';
import type { StartRecord } from '#operator/staticexport/status-schema.ts';
import { at, calm, fresh, inputHash, published, publishedLink, t0 } from '../cases/observations.ts';

function settled(observation: Observation, result: ActionResult): Settled & { readonly action: string } {
  const seen = adopt(observation);
  const plan = choose(classify(seen), seen);
  return { ...settle(seen, plan, result), action: plan.action.kind };
}

const failed = (code: CallCode, retryAfterMs?: number) => ({ code, retryAfterMs });
const record: StartRecord = { key: 'k', lastAttemptTime: at(0), inputHash, cause: 'First', attempts: 1 };
const running: Observation = {
  ...fresh,
  status: { job: { id: 'se_2', inputHash, cause: 'First', startTime: at(-60) } },
};
const complete: Observation = {
  ...calm,
  status: {
    ...calm.status,
    job: { id: 'se_2', inputHash, cause: 'Schedule', startTime: at(-60), completionTime: at(-1) },
  },
};
const due: Observation = { ...calm, now: t0 + 600_000 };
const clock = { issuedAt: t0, expiresAt: t0 + 900_000 };

const lost: readonly CallCode[] = [
  'ServerError',
  'UnexpectedAnswer',
  'RequestTimeout',
  'NetworkError',
  'ExportApiNotTrusted',
];
const refused: readonly CallCode[] = ['BadRequest', 'NotFound', 'Gone', 'Conflict', 'RateLimited'];

for (const code of lost) {
  test(`start, ${code}: the job may exist, so the start record stays and the start is sent again`, () => {
    const { status } = settled(fresh, { kind: 'start-failed', record, failure: failed(code) });
    assert.deepEqual(status.start, record);
    assert.equal(status.failures?.export?.retryTime, at(60));
  });
}

for (const code of refused) {
  test(`start, ${code}: a clear refusal removes the start record and starts a back-off`, () => {
    const { status } = settled(fresh, { kind: 'start-failed', record, failure: failed(code, 120_000) });
    assert.equal(status.start, undefined);
    assert.deepEqual([status.failures?.export?.count, status.failures?.export?.retryTime], [1, at(120)]);
  });
}

test('a start that was refused is sent again after a minute, and after five seconds where a command waits', () => {
  for (const [isAwaited, seconds] of [
    [false, 60],
    [true, 5],
  ] as const) {
    const result: ActionResult = { kind: 'start-failed', record, failure: failed('RateLimited', 3000) };
    const { status } = settled({ ...fresh, isAwaited }, result);
    assert.equal(status.failures?.export?.retryTime, at(seconds));
  }
});

{
  const code = 'Unauthorized';
  const requestId = 'req-7';
  const calls: Readonly<Record<string, readonly [Observation, ActionResult]>> = {
    start: [fresh, { kind: 'start-failed', record, failure: { ...failed(code), requestId } }],
    poll: [running, { kind: 'poll-failed', failure: { ...failed(code), requestId } }],
    issue: [due, { kind: 'issue-failed', failure: { ...failed(code), requestId } }],
  };
  for (const [call, [observation, result]] of Object.entries(calls)) {
    test(`${call}, ${code}: no resource uses the key, and no operation waits in addition`, () => {
      const { status, rateLimit } = settled(observation, result);
      assert.deepEqual(status.refusedKey, {
        secretVersion: 'u/1',
        reason: code,
        refusalTime: at((observation.now - t0) / 1000),
        request: undefined,
        said: undefined,
        requestId,
      });
      assert.deepEqual(rateLimit, { kind: 'refuse', secretVersion: 'u/1', reason: code });
      assert.equal(status.failures, undefined);
      assert.equal(status.start, undefined);
    });
  }
}

test('a failure of any operation keeps the request id of the export API', () => {
  const failure = { ...failed('ServerError'), requestId: 'req-7' };
  const results: readonly (readonly [Observation, ActionResult, 'export' | 'poll' | 'link'])[] = [
    [fresh, { kind: 'start-failed', record, failure }, 'export'],
    [fresh, { kind: 'start-failed', record, failure: { ...failure, code: 'BadRequest' } }, 'export'],
    [running, { kind: 'poll-failed', failure }, 'poll'],
    [due, { kind: 'issue-failed', failure }, 'link'],
  ];
  for (const [observation, result, operation] of results) {
    const { status } = settled(observation, result);
    assert.equal(status.failures?.[operation]?.requestId, 'req-7', result.kind);
  }
  const next = settled(running, { kind: 'poll-failed', failure: failed('ServerError') });
  assert.equal(next.status.failures?.poll?.requestId, undefined, 'of the last answer only');
});

test('Forbidden with nothing published: this resource waits 15 minutes, other resources with its key do not', () => {
  const { status, rateLimit } = settled(fresh, {
    kind: 'start-failed',
    record,
    failure: failed('Forbidden'),
  });
  assert.equal(status.refusedKey?.reason, 'Forbidden');
  assert.deepEqual(rateLimit, { kind: 'keep' });
});

test('Forbidden with something published: only the operation that was refused waits', () => {
  const { status, rateLimit } = settled(due, { kind: 'issue-failed', failure: failed('Forbidden') });
  assert.equal(status.refusedKey, undefined);
  assert.equal(status.failures?.link?.reason, 'Forbidden');
  assert.deepEqual(rateLimit, { kind: 'keep' });
});

test('a good answer ends the rate limit and the refusal of the key', () => {
  const refusedKey = { secretVersion: 'u/0', reason: 'Unauthorized' as const, refusalTime: at(-60) };
  const { status, rateLimit } = settled(
    { ...running, status: { ...running.status, refusedKey } },
    { kind: 'polled', outcome: 'unfinished', state: 'running', progress: 140, pageCount: -3 },
  );
  assert.equal(status.refusedKey, undefined);
  assert.deepEqual(rateLimit, { kind: 'open' });
  assert.deepEqual([status.job?.progress, status.job?.pageCount], [100, 0]);
});

for (const code of ['NotFound', 'Gone'] as const) {
  test(`poll, ${code}: the first loss starts one new job at once, the second counts as failed`, () => {
    const first = settled(running, { kind: 'poll-failed', failure: failed(code) });
    assert.deepEqual([first.status.job?.verdict, first.status.failures?.export], ['JobLost', undefined]);
    const again: Observation = {
      ...fresh,
      status: { job: { id: 'se_3', inputHash, cause: 'JobLost', startTime: at(-1) } },
    };
    const second = settled(again, { kind: 'poll-failed', failure: failed(code) });
    assert.equal(second.status.failures?.export?.reason, 'JobLost');
  });

  test(`refresh, ${code}: the job is lost, the published version stays`, () => {
    const { status, publish } = settled(due, { kind: 'issue-failed', failure: failed(code) });
    assert.equal(status.failures?.link?.reason, 'JobGone');
    assert.equal(publish, undefined);
    assert.deepEqual(status.active?.version, published.version);
  });
}

test('poll, a server error: polled again with back-off, and Retry-After holds for all resources', () => {
  const { status, rateLimit } = settled(running, {
    kind: 'poll-failed',
    failure: failed('ServerError', 30_000),
  });
  assert.deepEqual([status.failures?.poll?.subject, status.failures?.poll?.retryTime], ['se_2', at(30)]);
  assert.deepEqual(rateLimit, { kind: 'close', until: t0 + 30_000 });
});

test('issuing a link for a complete job, 409: back to polling', () => {
  const { status, action } = settled(complete, { kind: 'issue-failed', failure: failed('Conflict') });
  assert.equal(action, 'issue');
  assert.equal(status.job?.completionTime, undefined);
  assert.equal(status.job?.verdict, undefined);
});

test('a failed refresh is retried within a quarter of the remaining lifetime', () => {
  const late: Observation = { ...calm, now: t0 + 720_000 };
  const { status } = settled(late, { kind: 'issue-failed', failure: failed('NetworkError') });
  assert.equal(status.failures?.link?.retryTime, at(720 + 30));
});

test('a fresher link is published with the same version and clears past failures', () => {
  const { publish, status } = settled(due, {
    kind: 'issued',
    times: { issuedAt: due.now, expiresAt: due.now + 900_000 },
    isPublished: false,
  });
  assert.deepEqual(
    [publish?.version, publish?.jobId, publish?.digest],
    [published.version, 'se_1', published.digest],
  );
  assert.equal(status.failures?.link, undefined);
});

test('a link that is not fresher is not published', () => {
  for (const issued of [
    { times: { issuedAt: due.now, expiresAt: publishedLink.expiresAt }, isPublished: false },
    { times: { issuedAt: due.now, expiresAt: due.now + 900_000 }, isPublished: true },
  ]) {
    const { publish, status } = settled(due, { kind: 'issued', ...issued });
    assert.equal(publish, undefined);
    assert.equal(status.failures?.link?.reason, 'NotFresher');
  }
});

test('a requested link is published at once although it expires no later, and its token is echoed', () => {
  const requested: Observation = { ...calm, refreshRequest: 'leaked' };
  const times = { issuedAt: t0, expiresAt: publishedLink.expiresAt };
  const { publish, status, action } = settled(requested, { kind: 'issued', times, isPublished: false });
  assert.equal(action, 'issue');
  assert.deepEqual([publish?.version, publish?.link?.issuedAt], [published.version, t0]);
  assert.equal(status.lastHandledRefresh, 'leaked');
});

test('an export API that answers a requested link with the published link has not replaced it', () => {
  const requested: Observation = { ...calm, refreshRequest: 'leaked' };
  const times = { issuedAt: publishedLink.issuedAt, expiresAt: publishedLink.expiresAt };
  const { publish, status } = settled(requested, { kind: 'issued', times, isPublished: true });
  assert.equal(publish, undefined);
  const { reason, refreshRequest } = status.failures?.link ?? {};
  assert.deepEqual([status.lastHandledRefresh, reason, refreshRequest], [undefined, 'NotFresher', 'leaked']);
});

for (const code of [
  'NetworkError',
  'ServerError',
  'RateLimited',
  'Forbidden',
  'Conflict',
  'NotFound',
] as const) {
  test(`a requested link, ${code}: tried once more at once, then with the usual back-off`, () => {
    const link = { count: 3, lastFailureTime: at(-1), retryTime: at(60), reason: 'ServerError' };
    const waiting: Observation = {
      ...calm,
      refreshRequest: 'leaked',
      status: { ...calm.status, failures: { link } },
    };
    const first = settled(waiting, { kind: 'issue-failed', failure: failed(code) });
    assert.deepEqual([first.action, first.status.lastHandledRefresh], ['issue', undefined]);
    assert.equal(first.status.failures?.link?.refreshRequest, 'leaked');
    const refresh = { token: 'leaked', isPublished: false };
    const after = { ...waiting, status: first.status, process: { ...calm.process, refresh } };
    const seen = adopt(after);
    assert.notEqual(choose(classify(seen), seen).action.kind, 'issue');
    const later = adopt({ ...after, refreshRequest: 'again' });
    assert.equal(choose(classify(later), later).action.kind, 'issue');
  });
}

test('a link that was published for a token is not issued again where the status cannot hold the token', () => {
  const refresh = { token: 'leaked', isPublished: true };
  const pruned: Observation = { ...calm, refreshRequest: 'leaked', process: { ...calm.process, refresh } };
  const seen = adopt(pruned);
  assert.equal(choose(classify(seen), seen).action.kind, 'none');
  assert.equal(seen.status.lastHandledRefresh, 'leaked');
});

test('a requested link waits for Retry-After', () => {
  const limited: Observation = {
    ...calm,
    refreshRequest: 'leaked',
    rateLimit: { closedUntil: t0 + 30_000, closedAt: t0, refused: undefined },
  };
  const seen = adopt(limited);
  assert.equal(choose(classify(seen), seen).action.kind, 'none');
});

test('a token that was echoed issues no link', () => {
  const seen = adopt({
    ...calm,
    refreshRequest: 'leaked',
    status: { ...calm.status, lastHandledRefresh: 'leaked' },
  });
  assert.equal(choose(classify(seen), seen).action.kind, 'none');
});

test('after the operator’s clock was set back, the same link is published with its lifetime by the present clock', () => {
  const back: Observation = { ...calm, now: publishedLink.issuedAt - 900_000 };
  const remaining = { issuedAt: back.now, expiresAt: back.now + 120_000 };
  const { publish, action } = settled(back, { kind: 'issued', times: remaining, isPublished: true });
  assert.equal(action, 'issue');
  assert.equal(publish?.link?.expiresAt, remaining.expiresAt);
});

const found = { digest: 'b'.repeat(64), pages: 18, sizeBytes: 9 };
const inspecting: Observation = {
  ...complete,
  process: {
    polledAt: undefined,
    pollAfterMs: undefined,
    candidate: { jobId: 'se_2', link: clock, inspection: 'read' },
  },
};

test('a new archive that passes its promotion gates is published with the time at which its job was seen complete', () => {
  const { publish, status } = settled(inspecting, { kind: 'inspected', content: found, link: clock });
  assert.deepEqual(publish, {
    version: '20260105-115959-bbbbbbbb',
    ...found,
    jobId: 'se_2',
    ref: undefined,
    link: clock,
  });
  assert.equal(status.job?.verdict, 'Promoted');
});

test('unchanged content changes only the time of the check', () => {
  const content = { ...found, digest: published.digest };
  const { publish, status } = settled(inspecting, { kind: 'inspected', content, link: clock });
  assert.equal(publish, undefined);
  assert.deepEqual([status.job?.verdict, status.active?.lastCheckTime], ['Unchanged', at(0)]);
});

/** Of a program that publishes elsewhere, and whose status holds no version. */
const compared = (content: { readonly digest: string; readonly pages: number }): Observation => ({
  ...inspecting,
  output: { kind: 'absent' },
  status: { ...inspecting.status, active: undefined },
  baseline: { content, last: { digest: found.digest, version: 'v-last' } },
});

test('the content of a baseline is published, as unchanged and with the version that it had', () => {
  const { publish, status } = settled(compared(found), { kind: 'inspected', content: found, link: clock });
  assert.deepEqual([publish?.version, publish?.link, status.job?.verdict], ['v-last', clock, 'Unchanged']);
});

test('another content than the baseline is published as new, with the version of the same content', () => {
  const { publish, status } = settled(compared({ digest: 'c', pages: 18 }), {
    kind: 'inspected',
    content: found,
    link: clock,
  });
  assert.deepEqual([publish?.version, status.job?.verdict], ['v-last', 'Promoted']);
});

test('an archive with far fewer pages than a baseline is held', () => {
  const content = { ...found, digest: 'd'.repeat(64) };
  const { publish, status } = settled(compared({ digest: 'c', pages: 180 }), {
    kind: 'inspected',
    content,
    link: clock,
  });
  assert.deepEqual([publish, status.candidate?.reason], [undefined, 'PageCountDropped']);
  assert.match(status.candidate?.version ?? '', /-d{8}$/);
});

test('a held archive becomes the candidate, and the published version stays', () => {
  const { publish, status } = settled(inspecting, {
    kind: 'inspected',
    content: { ...found, pages: 3 },
    link: clock,
  });
  assert.equal(publish, undefined);
  assert.deepEqual(
    [status.candidate?.version, status.candidate?.reason],
    ['20260105-115959-bbbbbbbb', 'PageCountDropped'],
  );
});

test('content that was rejected is not offered again, and the published version stays', () => {
  const rejected: Observation = {
    ...inspecting,
    status: {
      ...inspecting.status,
      rejected: {
        generation: 1,
        inputHash,
        versions: [{ version: 'v3', digest: found.digest, rejectionTime: at(-60) }],
      },
    },
  };
  const { publish, status } = settled(rejected, { kind: 'inspected', content: found, link: clock });
  assert.deepEqual([publish, status.candidate], [undefined, undefined]);
  assert.deepEqual([status.job?.verdict, status.job?.message], ['Rejected', 'v3']);
});

for (const [kind, verdict] of [
  ['rejected', 'BundleRejected'],
  ['transient', undefined],
  ['expired-link', undefined],
] as const) {
  test(`inspection fails, ${kind}: ${verdict ?? 'retried'}`, () => {
    const failure = { kind, code: 'Code', message: 'in our words' };
    const { status } = settled(inspecting, { kind: 'inspect-failed', failure });
    assert.equal(status.job?.verdict, verdict);
    assert.equal(status.failures?.poll?.count, verdict === undefined ? 1 : undefined);
  });
}

test('an archive that cannot be downloaded ten times is rejected', () => {
  const poll = {
    count: 30,
    lastFailureTime: at(-400),
    retryTime: at(-100),
    reason: 'Code',
    subject: 'se_2',
    inspectionFailures: 9,
  };
  const nine: Observation = { ...inspecting, status: { ...inspecting.status, failures: { poll } } };
  const failure = { kind: 'transient' as const, code: 'Code', message: 'in our words' };
  const eight: Observation = {
    ...inspecting,
    status: { ...inspecting.status, failures: { poll: { ...poll, inspectionFailures: 8 } } },
  };
  const kept = settled(eight, { kind: 'inspect-failed', failure }).status;
  assert.equal(kept.job?.verdict, undefined, 'links that could not be had are not counted');
  const { status } = settled(nine, { kind: 'inspect-failed', failure });
  assert.equal(status.job?.verdict, 'BundleRejected');
  assert.match(status.job?.message ?? '', /^Code: in our words/);
});

test('a pinned version whose archive has other content is not published', () => {
  const pin = { version: 'old', jobId: undefined };
  const pinned: Observation = {
    ...calm,
    wanted: { ...calm.wanted, pin },
    status: { ...calm.status, history: [{ version: 'old', jobId: 'se_0', digest: 'c'.repeat(64) }] },
    process: {
      polledAt: undefined,
      pollAfterMs: undefined,
      candidate: { jobId: 'se_0', link: clock, inspection: 'read' },
    },
  };
  const { publish, status } = settled(pinned, { kind: 'inspected', content: found, link: clock });
  assert.equal(publish, undefined);
  assert.equal(status.failures?.poll?.reason, 'PinnedContentChanged');
  const same = settled(pinned, {
    kind: 'inspected',
    content: { ...found, digest: 'c'.repeat(64) },
    link: clock,
  });
  assert.equal(same.publish?.version, 'old');
});

test('a job state longer than the schema permits is cut', () => {
  const { status } = settled(running, {
    kind: 'polled',
    outcome: 'unfinished',
    state: 'x'.repeat(500),
    progress: undefined,
    pageCount: undefined,
  });
  assert.equal(status.job?.state?.length, 64);
});
