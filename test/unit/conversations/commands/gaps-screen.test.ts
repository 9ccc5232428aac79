// The report of gaps on a terminal: no Markdown, no line that is too wide, and no id that is cut.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf } from '#cli/output/paint.ts';
import { renderBlocks, screenOf } from '#cli/output/screen.ts';
import { reportBlocks } from '#conversations/commands/gaps-screen.ts';
import { reportOf, times, turn } from '../../conversations/gaps/sample-report.ts';

for (const columns of [80, 120]) {
  test(`at ${columns} columns it has no sign of Markdown, and each row is one line`, () => {
    const query = 'how do I rotate the signing key of the webhook receiver without losing a delivery '.repeat(
      2,
    );
    const unanswered = times(40, () => turn({ query, resolution_status: 'unanswered' }));
    const report = reportOf(unanswered, { now: '2026-11-20T00:00:00Z' });
    const lines = renderBlocks(reportBlocks(report), screenOf({ isTTY: true, columns }, false, 0));
    for (const line of lines) {
      assert.ok(columnsOf(line) <= columns, line);
      assert.doesNotMatch(line, /^[#|]|`/);
    }
    const ids = report.gaps.map(({ id }) => id);
    assert.ok(ids.length > 0);
    for (const id of ids)
      assert.ok(
        lines.some((line) => line.endsWith(id)),
        id,
      );
  });
}
