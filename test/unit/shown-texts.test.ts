// Whatever a tenant, an export API, a site or a reader sends: nothing that people are shown holds a character that they
// would not see, that moves the text around it, or that starts a line. One property for each place where text is shown. And a message says what
// failed and what to do, never what its caller does next.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { formatPublishedBundle, parseServedBundle } from '#bundle/published-bundle.ts';
import { refusal } from '#bundle/refusal.ts';
import { readJobId, readJobReport } from '#export-api/job-answers.ts';
import { recordOf } from '#operator/loop/publish/target-record.ts';
import { classify } from '#operator/reconcile/classify.ts';
import { recordFailure, refreshFailed } from '#operator/reconcile/settle/failed-call.ts';
import { claimConditions } from '#operator/reconcile/status/conditions.ts';
import { statusOfUnreadable } from '#operator/reconcile/status/status.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../support/properties.ts';
import { calm, published, t0 } from './operator/reconcile/cases/observations.ts';

/** Written out here, so that a class that the code forgets is found. */
const unseen: readonly (readonly [number, number])[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
];

function assertShown(text: string): void {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isUnseen = unseen.some(([first, last]) => code >= first && code <= last);
    assert.ok(!isUnseen, `U+${code.toString(16)} in ${JSON.stringify(text)}`);
  }
}

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      'a',
      '"',
      '\\',
      '<',
      ' ',
      '\u202e',
      '\u2066',
      '\u2028',
      '\u2029',
      '\u200b',
      '\ufeff',
      '\u061c',
    ),
    fc.constantFrom('\n', '\r', '\u001b', '\u0000', '\u007f', '\u0085', '\u009b', '\ud83d', '\ude00'),
    fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
  ),
  minLength: 1,
  maxLength: 60,
});
const check = (place: (text: string) => void): void => fc.assert(fc.property(hostile, place));

test('a line of the log, as it stands and as a viewer shows it', () => {
  check((text) => {
    const lines: string[] = [];
    const logger = createLogger('debug', (line) => lines.push(line));
    logger
      .child({ about: text })
      .warn({ text, deep: { list: [text] }, error: new PublishableError('X', text) }, text);
    assert.equal(lines.length, 1);
    const [line = ''] = lines;
    assert.ok(line.endsWith('}\n'));
    assertShown(line.slice(0, -1));
    const { time, level, ...shown } = JSON.parse(line);
    for (const one of [shown.msg, shown.about, shown.text, shown.deep.list[0], shown.error.message])
      assertShown(one);
  });
});

test('a log line has room for a condition, and for no text without bound', () => {
  const lines: string[] = [];
  createLogger('info', (line) => lines.push(line)).info(
    { why: 'w'.repeat(1024), text: 'x'.repeat(1e6) },
    'words',
  );
  assert.ok((lines[0] ?? '').length < 4096);
  assert.equal(JSON.parse(lines[0] ?? '').why, 'w'.repeat(1024));
});

test('the message of an error, and a path of an archive in it', () => {
  check((text) => {
    assertShown(new PublishableError('X', text).message);
    assertShown(refusal('AbsolutePath', { name: text }).message);
  });
});

test('the status and the id of a job', () => {
  check((text) => {
    assertShown(readJobReport({ status: text })?.state ?? '');
    assertShown(readJobReport({ status: { code: text } })?.state ?? '');
    assertShown(readJobId({ jobId: text }, undefined) ?? '');
    assertShown(readJobId({}, `/static-export/jobs/${encodeURIComponent(text.toWellFormed())}`) ?? '');
  });
});

test('a message that status shortens ends with a whole character, as the API server stores it', () => {
  const target = {
    targetName: 'x',
    object: 'Workload/a/b',
    type: 'Workload',
    objectKind: 'Deployment',
    namespace: 'a',
    name: 'b',
    isDryRun: false,
    writesVersion: true,
    writesDigest: false,
    writesRef: false,
  } as const;
  const need = { owner: { generation: 1 }, now: t0, published: { ...published, link: undefined } };
  const record = recordOf(target, undefined, need);
  for (let length = 1; length < 1100; length += 1) {
    const why = `${'x'.repeat(length)}\u{1f600}${'y'.repeat(1100)}`;
    const failure = { code: 'Forbidden', why, retryAfterMs: undefined } as const;
    const messages = [
      refreshFailed(calm, failure).failures?.link?.message,
      recordFailure(calm, 'poll', 'x', failure).message,
      record.asRefused('Refused', why).message,
    ];
    for (const message of messages) assert.ok(message?.isWellFormed() && message.endsWith('…'), message);
  }
});

test('conditions, whatever the spec and the stored status hold', () => {
  check((text) => {
    const observation = {
      ...calm,
      wanted: { ...calm.wanted, schedule: text, timeZone: text, pin: { version: text, jobId: undefined } },
      promote: text,
      specProblems: [text],
      status: { ...calm.status, job: { id: text, state: text, verdict: 'TimedOut' as const } },
    };
    const targets = [
      { name: 'x', object: 'ConfigMap/a/b/c', synced: false, reason: 'Refused', message: text },
    ];
    for (const specProblems of [[], [text]]) {
      const seen = { ...observation, specProblems };
      for (const { message } of claimConditions(seen, classify(seen), targets)) assertShown(message);
    }
    for (const { message } of statusOfUnreadable({}, [text], 1, 0).conditions ?? []) assertShown(message);
  });
});

test('a spec: text that goes into status, events and logs is refused by name', () => {
  const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'key' } } };
  for (const [odd, problem] of [
    [
      { ...spec, api: { ...spec.api, baseUrl: 'https://api.example.com/\u202e' } },
      /^spec\.api\.baseUrl \(must not/,
    ],
    [{ ...spec, pin: { version: 'v\u2028' } }, /^spec\.pin\.version \(must not contain control/],
    [{ ...spec, pin: { jobId: 'se_\u200b1' } }, /^spec\.pin\.jobId \(must not contain control/],
  ] as const) {
    const { problems } = parseStaticExport({ spec: odd, status: {} });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', problem);
    assertShown(problems[0] ?? '');
  }
});

test('bundle.json: version and job id, which /status, logs and a metric show', () => {
  const bundleUrl = Link.parse('https://cdn.example.com/a.tgz') ?? assert.fail();
  const link = { url: bundleUrl, issuedAt: 0, expiresAt: 0 };
  const rest = { digest: undefined, pages: undefined, sizeBytes: undefined, ref: undefined, link };
  check((text) => {
    const served = parseServedBundle(formatPublishedBundle({ ...rest, version: text, jobId: text }));
    assertShown(served.version ?? '');
    assertShown(served.jobId ?? '');
  });
});

test('a document of the admin port, and what keeps a program from being ready', async () => {
  const text = 'a\u202eb\u2028c\u001bd\ud800';
  const app = adminApp({
    readiness: () => text,
    registry: new Registry(),
    documents: { '/status': () => ({ published: { version: text }, notes: [{ example: text }] }) },
  });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  try {
    for (const path of ['/status', '/readyz']) {
      const body = await (await fetch(`${listener.url}${path}`)).text();
      assertShown(body.trimEnd());
      assert.match(body, /a\\+u\{202e\}b\\+u\{2028\}c\\+u\{1b\}d\\+u\{d800\}/);
    }
  } finally {
    await listener.close({ lingerMs: 0, graceMs: 1_000 });
  }
});

test('no error and no reason says what its caller does next', () => {
  const sources = resolve(import.meta.dirname, '../../src');
  for (const name of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(sources, name), 'utf8');
    const thrown = [...text.matchAll(/(?:Error|Fault|Refused)\(([^;]*?)\);/g)].map(([all]) => all);
    const isOfReasons = name.endsWith('reasons.ts') || name.endsWith('refusal.ts');
    for (const said of isOfReasons ? [text] : thrown) assert.doesNotMatch(said, /Retrying|; retrying/, name);
  }
});
