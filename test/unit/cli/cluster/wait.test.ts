// `--wait` over virtual time: which status ends it and how, and what it outlasts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import { awaitedExport, awaitedLink, awaitedVersion, publishedWords, waitFor } from '#cli/cluster/wait.ts';
import { silentProgress } from '#cli/output/progress.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const [earlier, token] = ['2026-01-04T12:00:00.000Z', '2026-01-05T12:00:00.000Z'];
const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: '2026-01-05T12:00:00Z',
});
const ready = condition('Ready', 'True', 'Published');
const failed = condition('Exported', 'False', 'JobFailed');
const exported = condition('Exported', 'True', 'Published');
const job = { id: 'j', inputHash: 'h', cause: 'Request', requestTime: token, startTime: token };

const objectWith = (status: object, spec: object = {}): StaticExportObject => ({
  metadata: {
    namespace: 'docs',
    name: 'docs',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    labels: {},
    ownerReferences: [],
  },
  spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'k' } }, ...spec },
  status: { observedGeneration: 1, ...status },
});

/** The request before this one failed. */
const before = {
  conditions: [ready, failed],
  job: { ...job, id: 'i', verdict: 'JobFailed' },
  lastHandledRequest: earlier,
  lastCompletedRequest: earlier,
};
const running = { ...before, job: { ...job, state: 'running' }, lastHandledRequest: token };
const complete = { ...running, conditions: [ready, exported], lastCompletedRequest: token };
const promoted = { ...complete, job: { ...job, verdict: 'Promoted' } };
const failedAgain = { ...complete, conditions: [ready, failed], job: { ...job, verdict: 'JobFailed' } };
const unavailable = new ClusterError('Unavailable', 'the Kubernetes API server answered 503');

/** What the API server answers to one read after another; the last answer stays. */
async function wait(
  answers: readonly (StaticExportObject | Error)[],
  timeoutMs = 3_600_000,
  awaited = awaitedExport(token),
) {
  const clock = virtualClock();
  const caller = new AbortController();
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  let reads = 0;
  let said: string | undefined;
  const read = async (): Promise<StaticExportObject> => {
    const answer = answers[Math.min(reads, answers.length - 1)];
    reads += 1;
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  };
  const shown: string[] = [];
  const advance = (_percent: number | undefined, detail: string): void => void shown.push(detail);
  const progress = { ...silentProgress, note, advance };
  const context = { clock, signal: caller.signal, progress };
  const waiting = waitFor(awaited, { name: 'docs', timeoutMs }, { read }, context);
  const ended = await clock.finish(
    waiting.then(
      ({ message }) => message,
      (error: unknown) => {
        if (!(error instanceof CliError)) return error;
        said = error.message;
        return [error.outcome, error.code];
      },
    ),
  );
  return { ended, said, reads, notes, shown, tookMs: clock.monotonic() };
}

test('a failure of an earlier request does not end the wait: this export is published', async () => {
  const { ended, reads } = await wait(
    [before, before, running, running, promoted].map((one) => objectWith(one)),
  );
  assert.deepEqual([ended, reads], ['because of Published', 5]);
});

test('a failure of this request ends it, although the version before is ready', async () => {
  const { ended, reads } = await wait([before, running, failedAgain].map((one) => objectWith(one)));
  assert.deepEqual([ended, reads], [['exportFailed', 'JobFailed'], 3]);
});

test('a job that is lost is replaced once, and the wait goes on', async () => {
  const lost = {
    ...running,
    conditions: [ready, condition('Exported', 'False', 'JobLost')],
    job: { ...job, verdict: 'JobLost' },
  };
  const replaced = { ...running, job: { ...job, id: 'k', cause: 'JobLost', state: 'running' } };
  const { ended, reads } = await wait([running, lost, replaced, promoted].map((one) => objectWith(one)));
  assert.deepEqual([ended, reads], ['because of Published', 4]);
});

test('a 503 of the Kubernetes API server is waited out', async () => {
  const { ended, reads } = await wait([
    objectWith(before),
    unavailable,
    unavailable,
    objectWith(running),
    unavailable,
    objectWith(promoted),
  ]);
  assert.deepEqual([ended, reads], ['because of Published', 6]);
});

test('a Kubernetes API server that answers 503 until --timeout ends the wait at its deadline', async () => {
  const { ended, tookMs } = await wait([unavailable], 60_000);
  assert.deepEqual([ended, tookMs], [['deadline', 'DeadlineExceeded'], 60_000]);
});

test('an export that takes longer than --timeout ends the wait at its deadline', async () => {
  const { ended, tookMs } = await wait([objectWith(running)], 60_000);
  assert.deepEqual([ended, tookMs], [['deadline', 'DeadlineExceeded'], 60_000]);
});

test('an object that is deleted ends the wait at once', async () => {
  const gone = new CliError('cluster', 'NotFound', 'it does not exist');
  const { ended, reads } = await wait([objectWith(running), gone]);
  assert.deepEqual([ended, reads], [['cluster', 'NotFound'], 2]);
});

const refusedKey = { secretVersion: 's', reason: 'Unauthorized', refusalTime: '2026-01-05T12:00:00Z' };

test('a key that is refused for this request ends the wait, because no job starts', async () => {
  const refused = objectWith({ ...before, refusedKey: { ...refusedKey, request: token } });
  assert.deepEqual((await wait([objectWith(before), refused])).ended, ['key', 'KeyRefused']);
});

test('a key that was refused for an earlier request is tried again first', async () => {
  const refused = objectWith({ ...before, refusedKey: { ...refusedKey, request: earlier } });
  assert.equal((await wait([refused, objectWith(promoted)])).ended, 'because of Published');
});

for (const [name, spec] of [
  ['suspended', { suspend: true }],
  ['pinned', { pin: { version: '20260105-030000-aaaaaaaa' } }],
] as const) {
  test(`a StaticExport that is ${name} ends the wait, because no job starts`, async () => {
    const { ended, reads } = await wait([objectWith(before, spec)]);
    assert.deepEqual([ended, reads], [['held', 'RequestPending'], 1]);
  });
}

const failure = { count: 1, lastFailureTime: '2026-01-05T12:00:00Z', retryTime: '2026-01-05T12:01:00Z' };

test('while the operator retries what was requested, the reason is noted once', async () => {
  const refused = objectWith({
    ...before,
    conditions: [ready, condition('Exported', 'False', 'StartRefused')],
    failures: { export: { ...failure, reason: 'ServerError', request: token } },
  });
  const { ended, notes } = await wait([refused, refused, objectWith(promoted)]);
  assert.deepEqual(
    [ended, notes],
    ['because of Published', ['Exported=False (StartRefused): because of StartRefused']],
  );
});

const inspecting = (reason: string, exportedReason: string) =>
  objectWith({
    ...running,
    job: { ...job, state: 'completed', progress: 100, completionTime: token },
    conditions: [
      ready,
      condition('Exported', 'False', exportedReason),
      condition('Reconciling', 'True', 'BackingOff'),
    ],
    failures: { poll: { ...failure, subject: job.id, reason } },
  });

for (const [reason, exportedReason] of [
  ['LinkRefused', 'InspectionFailed'],
  ['PrivateLink', 'InspectionFailed'],
  ['CertificateNotTrusted', 'InspectionFailed'],
  ['MirrorDenied', 'MirrorFailed'],
  ['MirrorRepositoryMissing', 'MirrorFailed'],
] as const) {
  test(`an archive that only a person can let through (${reason}) ends the wait at once`, async () => {
    const answers = [objectWith(running), inspecting(reason, exportedReason)];
    const { ended, reads, said } = await wait(answers);
    assert.deepEqual([ended, reads], [['temporary', reason], 2]);
    assert.equal(
      said,
      `Exported=False: because of ${exportedReason} The operator retries, but needs a change first.`,
    );
  });
}

for (const [reason, exportedReason, seen] of [
  ['DownloadFailed', 'InspectionFailed', 'Exported=False (InspectionFailed): because of InspectionFailed'],
  ['MirrorUnreachable', 'MirrorFailed', 'Exported=False (MirrorFailed): because of MirrorFailed'],
  // The condition is still about the export before.
  ['ServerError', 'JobFailed', 'Reconciling=True (BackingOff): because of BackingOff'],
] as const) {
  test(`a failure that may pass (${reason}) is noted once, and named at the deadline`, async () => {
    const { ended, notes, said, shown } = await wait([inspecting(reason, exportedReason)], 60_000);
    assert.deepEqual([ended, notes], [['deadline', 'DeadlineExceeded'], [seen]]);
    assert.equal(said, `--timeout has passed (60 s); the export goes on. The last condition seen: ${seen}`);
    assert.deepEqual(shown.slice(0, 1), ['the exported archive is inspected']);
  });
}

const links: readonly (readonly [string, object, unknown])[] = [
  [
    'a new link that is published ends the wait',
    { active: { version: 'v', jobId: 'j', linkExpirationTime: '2026-01-05T13:00:00Z' } },
    'The new link is valid until 2026-01-05T13:00:00Z.',
  ],
  [
    'the published link issued again ends the wait',
    {
      lastHandledRefresh: earlier,
      failures: { link: { ...failure, reason: 'NotFresher', refreshRequest: token } },
    },
    ['temporary', 'SameLink'],
  ],
];
for (const [name, status, expected] of links) {
  test(name, async () => {
    const answers = [{ lastHandledRefresh: earlier }, { lastHandledRefresh: token, ...status }];
    const { ended, reads } = await wait(
      answers.map((one) => objectWith(one)),
      60_000,
      awaitedLink(token),
    );
    assert.deepEqual([ended, reads], [expected, 2]);
  });
}

for (const [reason, failures] of [
  ['KeyMissing', undefined],
  ['ExportApiUnreachable', { export: { request: earlier, count: 3, reason: 'NetworkError' } }],
] as const) {
  test(`what keeps the requested export from its start (${reason}) is noted, and named at the deadline`, async () => {
    const blocked = condition('Exported', 'False', reason);
    const status = objectWith({ ...before, conditions: [ready, blocked], failures });
    const { notes, said } = await wait([status], 60_000);
    const seen = `Exported=False (${reason}): because of ${reason}`;
    assert.deepEqual(notes, [seen]);
    assert.match(said ?? '', /^--timeout has passed \(60 s\); no export has started for this request/);
    assert.ok(said?.endsWith(`The last condition seen: ${seen}`), said);
  });
}

test('a refresh that only a person can help ends the wait too', async () => {
  const reason = 'LinkRefused';
  const refused = {
    lastHandledRefresh: earlier,
    conditions: [ready, condition('LinkFresh', 'True', 'Fresh')],
    failures: { link: { ...failure, reason, refreshRequest: token } },
  };
  const { ended, reads } = await wait([objectWith(refused)], 60_000, awaitedLink(token));
  assert.deepEqual([ended, reads], [['temporary', reason], 1]);
});

test('a failure of another job does not end the wait for an export', async () => {
  const failing = inspecting('LinkRefused', 'InspectionFailed');
  const poll = { ...failure, subject: 'another', reason: 'LinkRefused' };
  const other = { ...failing, status: { ...Object(failing.status), failures: { poll } } };
  assert.deepEqual((await wait([other, objectWith(promoted)])).reads, 2);
});

const pinned = '20260104-030000-aaaaaaaa';
const newer = '20260105-030000-bbbbbbbb';
const activeWith = (version: string) => ({ version, jobId: 'j' });
const stalled = (reason: string) => [
  condition('Ready', 'False', reason),
  condition('Stalled', 'True', reason),
];
const pin = { pin: { version: pinned } };
const promotable = { version: newer, jobId: 'k', reason: 'TooFewPages' };
const versions: readonly (readonly [string, 'pin' | 'promote', object, object, unknown])[] = [
  [
    'a pinned version that is published ends the wait, although the export before failed',
    'pin',
    pin,
    { active: activeWith(pinned), conditions: [ready, failed] },
    `Version ${pinned} is published.`,
  ],
  [
    'a key that is refused for the pinned version ends the wait',
    'pin',
    pin,
    { active: activeWith(newer), conditions: stalled('KeyRefused') },
    ['key', 'KeyRefused'],
  ],
  [
    'a pinned job that is gone ends the wait',
    'pin',
    pin,
    { active: activeWith(newer), conditions: stalled('PinnedJobGone') },
    ['exportFailed', 'PinnedJobGone'],
  ],
  [
    'a missing key ends the wait for a pin',
    'pin',
    pin,
    { active: activeWith(newer), conditions: [condition('Ready', 'False', 'KeyMissing')] },
    ['key', 'KeyMissing'],
  ],
  [
    'a pin of a suspended StaticExport stays requested',
    'pin',
    { ...pin, suspend: true },
    { active: activeWith(newer), conditions: [condition('Ready', 'False', 'Suspended')] },
    ['held', 'RequestPending'],
  ],
  [
    'a pin that another client replaced ends the wait',
    'pin',
    { pin: { version: newer } },
    { active: activeWith(newer), conditions: [ready] },
    ['temporary', 'PinReplaced'],
  ],
  [
    'a promoted candidate that is published ends the wait',
    'promote',
    {},
    { active: activeWith(newer), conditions: [ready] },
    `Version ${newer} is published.`,
  ],
  [
    'a key that is refused for a promotion ends the wait',
    'promote',
    {},
    {
      active: activeWith(pinned),
      candidate: promotable,
      conditions: [ready, condition('Exported', 'False', 'KeyRefused')],
    },
    ['key', 'KeyRefused'],
  ],
  [
    'a promotion of a pinned StaticExport stays requested',
    'promote',
    pin,
    { active: activeWith(pinned), candidate: promotable, conditions: [ready] },
    ['held', 'RequestPending'],
  ],
  [
    'a candidate that was rejected ends the wait for its promotion',
    'promote',
    {},
    {
      active: activeWith(pinned),
      rejected: {
        generation: 1,
        inputHash: 'h',
        versions: [{ version: newer, rejectionTime: '2026-01-05T12:00:00Z' }],
      },
      conditions: [ready],
    },
    ['held', 'Rejected'],
  ],
  [
    'a candidate that is gone ends the wait for its promotion',
    'promote',
    {},
    { active: activeWith(pinned), conditions: [ready] },
    ['exportFailed', 'CandidateGone'],
  ],
];
for (const [name, by, spec, status, expected] of versions) {
  test(name, async () => {
    const awaited = awaitedVersion(by === 'pin' ? pinned : newer, by);
    const unobserved = objectWith({ ...status, observedGeneration: 0 }, spec);
    const { ended, reads } = await wait([unobserved, objectWith(status, spec)], 60_000, awaited);
    assert.deepEqual([ended, reads], [expected, 2]);
  });
}

test('a gate that still holds the first candidate does not end the wait for its promotion', async () => {
  const held = { candidate: promotable, conditions: stalled('TooFewPages') };
  const answers = [held, { active: activeWith(newer), conditions: [ready] }].map((one) => objectWith(one));
  assert.equal((await wait(answers, 60_000, awaitedVersion(newer, 'promote'))).reads, 2);
});

const pinnable = {
  version: pinned,
  jobId: 'i',
  digest: 'sha256:aa',
  exportTime: '2026-01-04T12:00:00Z',
  publishTime: '2026-01-04T12:00:00Z',
};
const inspection = condition('Exported', 'False', 'InspectionFailed');
const held = condition('Exported', 'False', 'AwaitingPromotion');
const pinPending = condition('Ready', 'False', 'PinPending');
for (const [what, by, subject, conditions, before, ends] of [
  ['its own job', 'pin', 'i', [pinPending], undefined, 'Ready=False: because of PinPending'],
  ['its own job', 'promote', 'k', [inspection], undefined, 'Exported=False: because of InspectionFailed'],
  ['its own job again', 'pin', 'i', [pinPending], { count: 1 }, 'Ready=False: because of PinPending'],
  ['another job', 'pin', 'k', [pinPending], undefined, undefined],
  ['another job', 'promote', 'i', [inspection], undefined, undefined],
  ['its own job before the request', 'pin', 'i', [pinPending], {}, undefined],
  ['its own job before the request', 'promote', 'k', [inspection], {}, undefined],
  ['its own job, while Ready is True', 'pin', 'i', [ready], undefined, undefined],
  ['its own job, while it is held', 'promote', 'k', [held], undefined, undefined],
] as const) {
  test(`a failure of ${what} ${ends === undefined ? 'does not end' : 'ends'} the wait to ${by}`, async () => {
    const poll = { ...failure, count: 2, subject, reason: 'LinkRefused' };
    const [version, spec] = by === 'pin' ? [pinned, pin] : [newer, {}];
    const status = { candidate: promotable, history: [pinnable], conditions, failures: { poll } };
    const answers = [status, { active: activeWith(version), conditions: [ready] }];
    const awaited = awaitedVersion(version, by, before && { ...poll, ...before });
    const { ended, said, reads } = await wait(
      answers.map((one) => objectWith(one, spec)),
      60_000,
      awaited,
    );
    if (ends === undefined) assert.deepEqual([ended, reads], [`Version ${version} is published.`, 2]);
    else {
      assert.deepEqual([ended, reads], [['temporary', 'LinkRefused'], 1]);
      assert.equal(said, `${ends} The operator retries, but needs a change first.`);
    }
  });
}

test('a pin that is retried until --timeout ends the wait at its deadline, and the reason is noted', async () => {
  const status = {
    active: activeWith(newer),
    conditions: [condition('Ready', 'False', 'PinPending')],
    history: [pinnable],
    failures: { poll: { ...failure, subject: pinnable.jobId, reason: 'ServerError' } },
  };
  const { ended, notes } = await wait([objectWith(status, pin)], 60_000, awaitedVersion(pinned, 'pin'));
  assert.deepEqual(
    [ended, notes],
    [['deadline', 'DeadlineExceeded'], ['Ready=False (PinPending): because of PinPending']],
  );
});

const blocked = (reason: string) => ({ conditions: [ready, condition('Exported', 'False', reason)] });
for (const [what, awaited, status, seen] of [
  ['an export that is not retried', awaitedExport(token), running, undefined],
  [
    'an export whose start fails',
    awaitedExport(token),
    {
      ...before,
      ...blocked('ExportApiUnreachable'),
      failures: { export: { ...failure, reason: 'NetworkError', request: token } },
    },
    'Exported=False (ExportApiUnreachable): because of ExportApiUnreachable',
  ],
  ['a link without an obstacle', awaitedLink(token), before, undefined],
  [
    'a link without a key',
    awaitedLink(token),
    blocked('KeyMissing'),
    'Exported=False (KeyMissing): because of KeyMissing',
  ],
  [
    'a link that fails for this request',
    awaitedLink(token),
    {
      conditions: [ready, condition('LinkFresh', 'False', 'Due')],
      failures: { link: { ...failure, reason: 'ServerError', refreshRequest: token } },
    },
    'LinkFresh=False (Due): because of Due',
  ],
] as const) {
  test(`at --timeout the wait for ${what} names ${seen === undefined ? 'no condition' : 'the last condition seen'}`, async () => {
    const { ended, said } = await wait([objectWith(status)], 60_000, awaited);
    assert.deepEqual(ended, ['deadline', 'DeadlineExceeded']);
    const isStarted = what !== 'an export whose start fails';
    const ofExport = isStarted
      ? 'the export goes on'
      : 'no export has started for this request, and the operator keeps it';
    const goesOn = awaited.phase === 'Waiting for the link' ? 'the operator goes on' : ofExport;
    const more = seen === undefined ? '' : `. The last condition seen: ${seen}`;
    assert.equal(said, `--timeout has passed (60 s); ${goesOn}${more}`);
  });
}

test('an obstacle that has ended is not named at --timeout', async () => {
  const answers = [objectWith(blocked('KeyMissing')), objectWith(before)];
  const { said, notes } = await wait(answers, 60_000, awaitedLink(token));
  assert.deepEqual(notes, ['Exported=False (KeyMissing): because of KeyMissing']);
  assert.equal(said, '--timeout has passed (60 s); the operator goes on');
});

test('the result says what readers get, and whether it is new', () => {
  assert.equal(publishedWords(undefined, newer), `Version ${newer} is published.`);
  assert.equal(publishedWords(pinned, newer), `Version ${newer} is published; it replaces ${pinned}.`);
  assert.equal(publishedWords(newer, newer), `The content is unchanged; version ${newer} stays published.`);
});
