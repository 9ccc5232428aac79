// A fixed sample of the fuzzing of the readers, so that it cannot rot; test/fuzz/archives.ts runs as many cases as
// one wants.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCampaign } from '../../../fuzz/campaign.ts';

test('600 mutants of real archives: rejected, or exactly files of the archive', {
  timeout: 120_000,
}, async () => {
  const report = await runCampaign({ cases: 600, seed: 20 });
  assert.deepEqual(report.wrong, []);
  assert.ok(report.read > 50, `only ${report.read} were read: the mutants are too wild`);
  assert.ok(
    Object.keys(report.rejected).length > 15,
    'too few kinds of rejections: the mutants are too tame',
  );
  assert.ok(report.peakBytes < 192 * 1024 * 1024, `${Math.round(report.peakBytes / 2 ** 20)} MiB`);
});
