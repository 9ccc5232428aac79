// Whose state it is: which settings a run may change, and what it says where one may not.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openState } from '#conversations/state.ts';

const first = { '--project': 'p', '--to': '/turns', '--redact': '' };

for (const [change, named] of [
  [{ '--redact': 'email', 'redaction key': '1f' }, '--redact'],
  [{ '--project': 'q', '--to': '/other' }, '--project, --to'],
  [{ 'redaction key': '1f' }, 'redaction key'],
] as const) {
  test(`a run with another ${Object.keys(change).join(' and ')} is refused, with what to do`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'conversation-state-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const used = await openState(folder, first);
    used.registerPart('turns-2026-11-26.ndjson');
    used.close();
    await assert.rejects(openState(folder, { ...first, ...change }), {
      code: 'StateMismatch',
      message: `the state is of another ${named}; use the settings of the first run, or name another --to and another folder with --state`,
    });
    (await openState(folder, first)).close();
  });
}

test('a state without a turn, a part and a window takes the settings of the next run', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-state-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const other = { ...first, '--redact': 'email', 'redaction key': '1f' };
  (await openState(folder, first)).close();
  const state = await openState(folder, other);
  state.closeWindow([{ from: 0, until: 1, readAt: null }], 60_000);
  state.close();
  await assert.rejects(openState(folder, first), { code: 'StateMismatch' });
});
