// The operator's messages in the words of `run`. Each text that is replaced must still be one that the operator says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { oddAnswer } from '#bundle/refusal.ts';
import { describeKeyPrefix } from '#cli/api-key.ts';
import { createPlainLog } from '#cli/folder/plain-log.ts';
import { inRunWords, operatorWords } from '#cli/folder/run-words.ts';
import { reconcilingReasons, stalledReasons, targetReasons } from '#operator/staticexport/reasons.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

const file = { name: 'export-api', isFile: true };

test('each replaced text is still said by the operator', () => {
  const sources = [
    'operator/staticexport/reasons.ts',
    'operator/reconcile/status/reason-details.ts',
    'operator/reconcile/status/failure-words.ts',
    'bundle/refusal.ts',
    'operator/git/git-fault.ts',
  ].map((name) => readFileSync(resolve(import.meta.dirname, '../../../../src', name), 'utf8'));
  const sentences: readonly string[] = [
    ...Object.values(stalledReasons),
    ...Object.values(reconcilingReasons),
    ...Object.values(targetReasons),
  ];
  for (const [text] of operatorWords(file)) {
    const isSaid = sentences.includes(text) || sources.some((source) => source.includes(text.trim()));
    assert.ok(isSaid, text);
  }
});

test('a key is asked for where the user gave it', () => {
  const said = `${stalledReasons.KeyRefused} Secret export-api, key apiKey. A new key is used within a minute.`;
  assert.equal(
    inRunWords(said, file),
    'The export API returned 401 for this key. Write a valid key into the file of --secret export-api, and run the command again. Secret export-api, key apiKey.',
  );
  assert.match(
    inRunWords(stalledReasons.KeyEmpty, { ...file, isFile: false }),
    /into the Secret of the manifest\.$/,
  );
});

test('an unusual key has the same note as in export', () => {
  const said = 'API key in Secret docs/export-api does not begin with svc_. Check that it is an admin key.';
  assert.equal(inRunWords(said, file), describeKeyPrefix('pk_other'));
});

test('a message says that it is retried only by its time', () => {
  const lines: string[] = [];
  const log = createPlainLog((line) => void lines.push(line));
  const { message } = oddAnswer('PrivateLink');
  log.warn(
    { jobId: 'j', reason: 'PrivateLink', message, retryTime: '2026-01-05T12:00:00Z' },
    'inspection failed',
  );
  assert.equal(
    inRunWords(lines.join(), file),
    'Inspecting the archive failed. The link leads to a loopback, link-local or private address; add --allow-private-links if that is intended; link-local and metadata addresses are never allowed (PrivateLink). Retrying at 2026-01-05T12:00:00Z',
  );
});

test('no message about a key or a host speaks of an operator, a chart, or a Secret to change', () => {
  for (const reason of [
    'KeyEmpty',
    'KeyInvalid',
    'KeyRefused',
    'KeyForbidden',
    'BaseUrlMissing',
    'HostNotAllowed',
  ] as const) {
    assert.doesNotMatch(
      inRunWords(stalledReasons[reason], file),
      /operator|chart|its Secret|requestedAt/,
      reason,
    );
  }
});

test('the log is lines for a person, and what is an event is not said twice', () => {
  const lines: string[] = [];
  const log = createPlainLog((line) => void lines.push(line));
  const error = new ClusterError('Unavailable', 'the state folder cannot be written; check its space');
  log.warn({ error }, 'reconcile failed');
  const retryTime = '2026-01-05T12:00:00Z';
  log.warn(
    { jobId: 'j', reason: 'ServerError', message: 'the export API failed', count: 1, retryTime },
    'poll failed',
  );
  log.warn(
    { object: 'docs/docs', secret: 'docs/key' },
    'API key in Secret docs/key does not begin with svc_.',
  );
  log.warn(
    { from: 'True/Published', to: 'False/LinkExpired', message: 'said' },
    'Ready True->False LinkExpired',
  );
  log.warn({ jobId: 'j', reason: 'BundleRejected', message: 'said' }, 'export failed');
  log.info({}, 'export started');
  log.warn({ cause: 'First', reason: 'Unauthorized', host: 'x' }, 'start failed');
  assert.deepEqual(lines, [
    'reconcile failed: the state folder cannot be written; check its space (Unavailable)',
    'Polling the export job failed. The export API failed (ServerError). Retrying at 2026-01-05T12:00:00Z',
    'API key in Secret docs/key does not begin with svc_.',
    'Starting the export failed (Unauthorized)',
  ]);
});
