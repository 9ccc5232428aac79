// Every archive of the table of src/bundle/README.md that needs only default limits, at the operator's port and at a running
// server: both give the same verdict and the same digest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archivesOfTable, judgeByBoth } from '../../integration/archive-agreement.ts';

test('each archive is judged alike, and gets the same digest', { timeout: 20 * 60_000 }, async (t) => {
  const verdicts = await judgeByBoth(archivesOfTable());
  t.diagnostic(`${verdicts.taken} taken and ${verdicts.rejected} rejected, by both`);
  assert.ok(verdicts.taken >= 41 && verdicts.rejected >= 136, JSON.stringify(verdicts));
});
