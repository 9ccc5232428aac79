// Which events of a reconcile `run` shows, and when: each once, and none that its error repeats.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRunEvents } from '#cli/folder/run-events.ts';

const started = { type: 'Normal', reason: 'ExportStarted', message: 'Job j' } as const;
const refused = {
  type: 'Warning',
  reason: 'HostNotAllowed',
  message: 'The host is not allowed.',
} as const;

for (const [name, error, expected] of [
  ['an error that says the same', 'The host is not allowed.', ['Normal ExportStarted: Job j']],
  [
    'an error of another cause',
    'stopped by SIGINT',
    ['Normal ExportStarted: Job j', 'Warning HostNotAllowed: The host is not allowed.'],
  ],
] as const) {
  test(`events before ${name}`, () => {
    const lines: string[] = [];
    const events = createRunEvents((line) => void lines.push(line));
    events.record(started);
    events.record(refused);
    assert.deepEqual(lines, []);
    events.end({ code: 'Stopped', message: error });
    assert.deepEqual(lines, expected);
    events.show();
    assert.deepEqual(lines, expected);
  });
}

test('a run that goes on shows an event before it waits', () => {
  const lines: string[] = [];
  const events = createRunEvents((line, level) => void lines.push(`${level}: ${line}`));
  events.record(refused);
  events.show();
  events.end({ code: 'Stopped', message: refused.message });
  assert.deepEqual(lines, [`warning: Warning HostNotAllowed: ${refused.message}`]);
});
