// The reconcile's log and sentences as `run` shows them: they fit a reader without a cluster as they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oddAnswer } from '#bundle/refusal.ts';
import { createPlainLog } from '#cli/folder/plain-log.ts';
import { stepsAfter } from '#cli/folder/run-end.ts';
import { stalledReasons, targetReasons } from '#operator/staticexport/reasons.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

test('a message says that it is retried only by its time', () => {
  const lines: string[] = [];
  const log = createPlainLog((line) => void lines.push(line));
  const { message } = oddAnswer('PrivateLink');
  log.warn(
    { jobId: 'j', reason: 'PrivateLink', message, retryTime: '2026-01-05T12:00:00Z' },
    'inspecting the archive failed',
  );
  assert.match(
    lines.join(),
    /^Inspecting the archive failed\. The link leads to a loopback, .* never allowed \(PrivateLink\)\. Retrying at 2026-01-05T12:00:00Z$/,
  );
});

test('no sentence that run shows speaks of an operator, a chart, a Secret to change, or of what happens next', () => {
  const sentences = [
    ...(['KeyEmpty', 'KeyInvalid', 'KeyRefused', 'KeyForbidden', 'StartRefused'] as const),
    ...(['BaseUrlMissing', 'HostNotAllowed', 'AwaitingPromotion', 'Rejected'] as const),
  ].map((reason) => stalledReasons[reason]);
  for (const text of [...sentences, targetReasons.PushFailed, targetReasons.Contested]) {
    assert.doesNotMatch(text, /operator|chart|its Secret|requestedAt|Retrying|Rechecked/, text);
  }
});

test('a key is asked for where the user gave it', () => {
  const rules = { keySource: 'the file of --secret export-api', spec: undefined };
  const written = 'Write a valid key into the file of --secret export-api, and run the command again.';
  assert.deepEqual(stepsAfter('KeyRefused', {}, rules), [written]);
  assert.deepEqual(stepsAfter('JobFailed', {}, rules), []);
});

test('the log is lines for a person, and what is an event is not said twice', () => {
  const lines: string[] = [];
  const log = createPlainLog((line) => void lines.push(line));
  const error = new ClusterError('Unavailable', 'the state folder cannot be written; check its space');
  log.warn({ error }, 'reconcile failed');
  const retryTime = '2026-01-05T12:00:00Z';
  log.warn(
    { jobId: 'j', reason: 'ServerError', message: 'the export API failed', count: 1, retryTime },
    'polling the export job failed',
  );
  log.warn({ object: 'docs/docs', secret: 'docs/key' }, 'API key does not begin with svc_.');
  log.warn(
    { from: 'True/Published', to: 'False/LinkExpired', message: 'said' },
    'Ready True->False LinkExpired',
  );
  log.warn({ jobId: 'j', reason: 'BundleRejected', message: 'said' }, 'export failed');
  log.info({}, 'export started');
  const unretried = { cause: 'First', reason: 'Unauthorized', host: 'x', retryTime: undefined };
  log.warn(unretried, 'starting the export failed');
  assert.deepEqual(lines, [
    'reconcile failed: the state folder cannot be written; check its space (Unavailable)',
    'Polling the export job failed. The export API failed (ServerError). Retrying at 2026-01-05T12:00:00Z',
    'API key does not begin with svc_.',
    'Starting the export failed (Unauthorized)',
  ]);
});
