// The log of a resource for a reader without the cluster: each call with its details, each transition of a condition
// once, no line for a reconcile without a change, and never a key or a link.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoggedReconcile, logLinesOf } from '#operator/loop/log-lines.ts';
import { findChanges } from '#operator/reconcile/status/status-changes.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import {
  minuteMs,
  nextVerdict,
  publishedSimulation,
  request,
} from '../../../simulation/published-simulation.ts';
import { Simulation } from '../../../simulation/simulation.ts';

/** Lines since the last call, without debug lines. */
function reader(simulation: Simulation) {
  let read = simulation.logs.length;
  return (): readonly { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] => {
    const lines = simulation.logs.slice(read);
    read = simulation.logs.length;
    return lines.map((line) => {
      const at = line.indexOf(' {');
      return { message: line.slice(0, at), fields: JSON.parse(line.slice(at)) };
    });
  };
}

test('a first export has lines from its start to its publication, with job, host, version and expiry', async () => {
  const simulation = new Simulation();
  const read = reader(simulation);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const lines = read();
  assert.deepEqual(
    lines.map(({ message }) => message),
    [
      'export started',
      'export completed',
      'link to the export received',
      'published',
      'Ready False->True Published',
    ],
  );
  const { job, active } = simulation.status();
  const [started, completed, , published] = lines.map(({ fields }) => fields);
  assert.deepEqual(started, { object: 'docs/site', jobId: job?.id, cause: 'First', host: 'api.example.com' });
  assert.equal(completed?.['jobId'], job?.id);
  assert.deepEqual(
    [published?.['version'], published?.['pages'], published?.['jobId'], published?.['linkExpirationTime']],
    [active?.version, active?.pages, job?.id, active?.linkExpirationTime],
  );
});

test('what visitors would miss of an export is logged with its paths, whether it is held or published', async () => {
  const notes = [
    { code: 'HomePageMissing', count: 1, example: '"en/index.html"' },
    { code: 'NotServed', count: 3, example: '"a"', paths: ['"a"', '"b"'] },
    { code: 'WrappingFolderRemoved', count: 1, example: '"site"' },
  ];
  for (const requireHomePage of [true, false]) {
    const simulation = new Simulation({ spec: { promotion: { requireHomePage } } });
    const read = reader(simulation);
    simulation.vendor.contents.set('docs.example.com', { name: 'odd', pages: 20, notes });
    const [type, wanted] = requireHomePage
      ? ['Stalled', 'True/HomePageMissing']
      : ['Ready', 'True/Published'];
    await simulation.until(() => simulation.condition(type) === wanted);
    const found = read().map(({ fields }) => [fields['reason'], fields['count'], fields['paths']]);
    assert.deepEqual(
      found.filter(([, count]) => count !== undefined),
      [
        ['HomePageMissing', 1, '"en/index.html"'],
        ['NotServed', 3, '"a", "b"'],
      ],
    );
  }
});

test('a reconcile that changes nothing has no line', async () => {
  const simulation = await publishedSimulation();
  const read = reader(simulation);
  for (let look = 0; look < 3; look += 1) await simulation.step();
  assert.deepEqual(read(), []);
});

test('a refresh has one line, with the version and the expiry', async () => {
  const simulation = await publishedSimulation();
  const read = reader(simulation);
  const before = simulation.status().active?.linkExpirationTime;
  await simulation.until(() => simulation.status().active?.linkExpirationTime !== before);
  const [line, ...more] = read();
  assert.deepEqual(more, []);
  assert.equal(line?.message, 'link refreshed');
  assert.equal(line.fields['version'], simulation.status().active?.version);
  assert.equal(line.fields['linkExpirationTime'], simulation.status().active?.linkExpirationTime);
});

for (const [what, change, verdict, message] of [
  ['the content that is published', {}, 'Unchanged', 'unchanged'],
  ['other content', { name: 'second', pages: 20 }, 'Promoted', 'published'],
  ['too few pages', { name: 'shrunk', pages: 3 }, 'Held', 'candidate held'],
] as const) {
  test(`an export with ${what} is logged as ${message}`, async () => {
    const simulation = await publishedSimulation();
    if ('name' in change) simulation.vendor.contents.set('docs.example.com', change);
    const read = reader(simulation);
    request(simulation, 'again');
    assert.equal(await nextVerdict(simulation), verdict);
    await simulation.run(minuteMs);
    const lines = read().filter((line) => line.message === message);
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.fields['jobId'], simulation.status().job?.id);
    assert.match(String(lines[0]?.fields['version']), /^\d{8}-/);
  });
}

for (const [what, spec, message] of [
  ['a schedule that never fires', { schedule: '99 99 * * *' }, 'Ready True->False InvalidSchedule'],
  ['an unknown version', { pin: { version: 'none' } }, 'Ready True->False PinnedVersionUnknown'],
  [
    'an API that is not allowed',
    { api: { baseUrl: 'https://elsewhere.example.com', keySecretRef: { name: 'export-api' } } },
    'Ready True->False HostNotAllowed',
  ],
] as const) {
  test(`${what} has one line, the transition of Ready, with the remedy`, async () => {
    const simulation = await publishedSimulation();
    const read = reader(simulation);
    simulation.editSpec(spec);
    await simulation.run(10 * minuteMs);
    const lines = read().filter((line) => line.message.startsWith('Ready'));
    assert.deepEqual(
      lines.map((line) => line.message),
      [message],
    );
    assert.equal(lines[0]?.fields['from'], 'True/Published');
    assert.ok(String(lines[0]?.fields['message']).length > 20);
  });
}

const none = { kind: 'none' } as const;
const reconcile = (more: Partial<LoggedReconcile>): LoggedReconcile => ({
  changes: [],
  after: {},
  action: none,
  result: none,
  wanted: { baseUrl: 'https://api.example.com/v', domain: 'docs.example.com', project: undefined },
  ...more,
});

test('a failed call has its reason, count, retry time and request id', () => {
  const failure = {
    code: 'ServerError',
    retryAfterMs: undefined,
    why: 'HTTP 502',
    requestId: 'r-1',
  } as const;
  const link = { count: 3, lastFailureTime: '', retryTime: '2026-11-21T10:00:00Z', reason: 'ServerError' };
  const lines = logLinesOf(
    reconcile({
      action: {
        ...{ kind: 'issue', jobId: 'j', cause: 'refresh' },
        issuer: { baseUrl: 'https://other.example.com', projectId: undefined },
      },
      result: { kind: 'issue-failed', failure },
      after: {
        failures: { link },
        active: { version: 'v1', jobId: 'j', linkExpirationTime: '2026-11-21T11:00:00Z' },
      },
    }),
  );
  assert.deepEqual(lines, [
    {
      level: 'warn',
      message: 'issuing the link failed',
      fields: {
        jobId: 'j',
        version: 'v1',
        linkExpirationTime: '2026-11-21T11:00:00Z',
        host: 'other.example.com',
        reason: 'ServerError',
        message: 'the export API at other.example.com returned a server error: HTTP 502',
        requestId: 'r-1',
        count: 3,
        retryTime: '2026-11-21T10:00:00Z',
      },
    },
  ]);
});

test('an operation that fails again for the same reason is not another warning, and has the words of the export API', () => {
  const failure = { code: 'BadRequest', retryAfterMs: undefined, said: 'unknown domain' } as const;
  const record = { key: 'k', inputHash: 'i', cause: 'First', attempts: 1, lastAttemptTime: '' } as const;
  const stored = (reason: string) => ({
    failures: { export: { count: 1, lastFailureTime: '', retryTime: '', reason } },
  });
  for (const [before, level] of [
    [undefined, 'warn'],
    [stored('NetworkError'), 'warn'],
    [stored('BadRequest'), 'info'],
  ] as const) {
    const [line] = logLinesOf(
      reconcile({
        action: { kind: 'start', cause: 'First', record: undefined },
        result: { kind: 'start-failed', record, failure },
        ...(before && { before }),
      }),
    );
    assert.equal(line?.level, level);
    assert.equal(line.fields['answer'], 'unknown domain');
    assert.match(
      String(line.fields['message']),
      /returned 400 or 422; check that it exports docs\.example\.com$/,
    );
  }
});

type Step = readonly [status: 'True' | 'False', reason: string];

const withCondition = (type: string, [status, reason]: Step): Status => ({
  conditions: [{ type, status, reason, message: 'words', lastTransitionTime: '' }],
});

for (const [type, was, is, told] of [
  ['Ready', undefined, ['False', 'StartPending'], undefined],
  ['Ready', ['False', 'Exporting'], ['False', 'Inspecting'], undefined],
  ['Ready', undefined, ['False', 'KeyMissing'], 'warn Ready Unknown->False KeyMissing'],
  ['Ready', ['True', 'Published'], ['False', 'Exporting'], 'info Ready True->False Exporting'],
  ['Ready', ['False', 'Exporting'], ['False', 'KeyRefused'], 'error Ready False->False KeyRefused'],
  ['Ready', ['True', 'Published'], ['False', 'LinkExpired'], 'error Ready True->False LinkExpired'],
  [
    'Ready',
    ['False', 'Inspecting'],
    ['False', 'AwaitingPromotion'],
    'warn Ready False->False AwaitingPromotion',
  ],
  ['LinkFresh', ['False', 'Due'], ['False', 'Expired'], 'error LinkFresh False->False Expired'],
  ['Ready', ['False', 'LinkExpired'], ['True', 'Published'], 'info Ready False->True Published'],
  ['Exported', ['True', 'Promoted'], ['False', 'KeyMissing'], 'warn Exported True->False KeyMissing'],
  ['Exported', ['False', 'StartRefused'], ['True', 'Promoted'], 'info Exported False->True Promoted'],
  ['LinkFresh', ['True', 'Fresh'], ['False', 'Due'], 'warn LinkFresh True->False Due'],
  ['LinkFresh', ['False', 'Due'], ['True', 'Fresh'], undefined],
  ['LinkFresh', undefined, ['False', 'NotPublished'], undefined],
  ['TargetsSynced', ['True', 'Synced'], ['True', 'Synced'], undefined],
] as const) {
  test(`${type} from ${was?.join('/') ?? 'nothing'} to ${is.join('/')} is ${told === undefined ? 'no line' : 'a line'}`, () => {
    const before = was === undefined ? {} : withCondition(type, was);
    const after = withCondition(type, is);
    const lines = logLinesOf(reconcile({ changes: findChanges(before, after), after }));
    assert.deepEqual(
      lines.map(({ level, message }) => `${level} ${message}`),
      told === undefined ? [] : [told],
    );
  });
}
