// Polling a job always passes; starting one and issuing a link only while the lease is held, judged at each call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportApi } from '#export-api/answers.ts';
import { fenceCalls } from '#operator/election/fence.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { Link } from '#platform/wire/link.ts';

test('with the lease all calls are sent; without it only the poll of a job', async () => {
  const sent: string[] = [];
  let isHeld = true;
  const api: ExportApi = {
    startJob: async () => {
      sent.push('start');
      return { jobId: 'job', raw: {} };
    },
    readJob: async () => {
      sent.push('poll');
      return { outcome: 'unfinished', state: 'running', progress: 1, pageCount: 1, raw: {} };
    },
    issueLink: async () => {
      sent.push('issue');
      const link = Link.parse('https://files.example.com/a.tgz');
      assert.ok(link);
      return { link, expiresAt: undefined, serverDate: undefined, raw: {} };
    },
  };
  const fenced = fenceCalls({ connect: () => api }, () => isHeld).connect(
    { baseUrl: 'https://api.example.com', project: undefined },
    'svc_x',
  );
  const never = new AbortController().signal;
  const callAll = () =>
    Promise.allSettled([
      fenced.startJob({ domain: 'docs.example.com', idempotencyKey: 'a' }, never),
      fenced.issueLink({ jobId: 'job', idempotencyKey: 'b' }, never),
      fenced.readJob('job', never),
    ]);
  await callAll();
  assert.deepEqual(sent.splice(0), ['start', 'issue', 'poll']);
  isHeld = false;
  const [start, issue, poll] = await callAll();
  assert.deepEqual(sent, ['poll']);
  assert.equal(poll.status, 'fulfilled');
  for (const refused of [start, issue]) {
    assert.ok(refused.status === 'rejected' && refused.reason instanceof ClusterError);
    assert.equal(refused.reason.code, 'Aborted');
  }
});
