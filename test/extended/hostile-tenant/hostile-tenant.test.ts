// One operator with two tenants, one of them hostile: slow archives, then the known worst documents, answers, archives,
// schedules and statuses, then a fixed random sample. The served tenant is not affected, and its new exports are published.
// test/fuzz/hostile-tenant.ts is the long run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTenantCampaign } from '../../fuzz/tenant/campaign.ts';
import { reportLines } from '../../fuzz/tenant/report.ts';

// Independent of the machine's speed: the run ends when each vendor has given so many kinds of answer.
const minAnswerKinds = 21;

test('a hostile tenant and its vendor delay neither the refreshes and exports of another tenant nor the probes', {
  timeout: 900_000,
}, async (context) => {
  const report = await runTenantCampaign({
    seed: 1,
    inputs: 24,
    slowArchives: 12,
    maxMs: 60_000,
    settleMs: 1_000,
    minRefreshes: 2,
    minAnswerKinds,
    kits: 20,
    minGitKinds: 5,
    onProgress: (line) => context.diagnostic(line),
  });
  for (const line of reportLines(report)) context.diagnostic(line);
  assert.deepEqual(report.broken, []);
  // The operator must have read documents.
  const read = report.documents.list().filter(([reason]) => /^(Synced|Refused)/.test(reason));
  assert.ok(read.length > 1, 'the documents were read');
  assert.ok(report.gitTasks.list().length > 1, 'the git host was asked');
  assert.ok(
    report.answers.every((tally) => tally.list().length >= minAnswerKinds),
    'the vendor was asked',
  );
});
