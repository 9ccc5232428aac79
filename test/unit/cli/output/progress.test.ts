// Progress on standard error: lines in a log, a bar on a terminal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pipeline } from '#cli/output/pipeline.ts';
import { createProgress } from '#cli/output/progress.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** Back to the start of the line, and all of it removed. */
const clear = '\r\u001b[K';

function progressOn(stream: { isTTY?: boolean; columns?: number }, pipeline?: Pipeline) {
  const clock = virtualClock();
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  return { clock, progress: createProgress({ ...stream, write }, clock, pipeline), text: () => text };
}

test('a log gets a line for each phase, and one every 30 s', async () => {
  const { clock, progress, text } = progressOn({});
  progress.phase('Exporting');
  for (let second = 0; second < 65; second += 1) {
    progress.advance(second, `${second} pages`);
    progress.phase('Exporting');
    await clock.pass(1000);
  }
  progress.note('Retrying in 5 s');
  progress.phase('Writing');
  progress.end();
  assert.equal(
    text(),
    'Exporting\nExporting: 30 %, 30 pages\nExporting: 60 %, 60 pages\nRetrying in 5 s\nWriting\n',
  );
});

test('a terminal gets one line that is drawn again, with a bar, and it is removed at the end', async () => {
  const { clock, progress, text } = progressOn({ isTTY: true, columns: 80 });
  progress.phase('Exporting');
  await clock.pass(200);
  progress.advance(50, 'running, 12 pages');
  assert.ok(text().endsWith(`${clear}Exporting [############------------] 50 %, running, 12 pages`));
  progress.note('Retrying in 5 s');
  assert.ok(text().endsWith(`${clear}Retrying in 5 s\n${clear}Exporting`));
  progress.end();
  assert.ok(text().endsWith(clear));
});

test('no line of a terminal is wider than it, and a narrow one has no bar', async () => {
  const { clock, progress, text } = progressOn({ isTTY: true, columns: 30 });
  progress.phase('Downloading and checking');
  await clock.pass(200);
  progress.advance(50, 'x'.repeat(100));
  const drawn = text()
    .split(clear)
    .filter((line) => line !== '');
  assert.ok(drawn.every((line) => line.length < 30));
  assert.ok(drawn.every((line) => !line.includes('[')));
});

test('text from outside cannot move the cursor or add a line', async () => {
  for (const stream of [{}, { isTTY: true }]) {
    const { clock, progress, text } = progressOn(stream);
    progress.phase('Exporting');
    await clock.pass(60_000);
    progress.advance(1, 'evil\u001b[2Jstate\n::error::x');
    assert.ok(!text().includes('\u001b[2J') && !text().includes('\n::error'));
  }
});

test('GitLab gets a section for each phase, with its times', async () => {
  const { clock, progress, text } = progressOn({}, 'gitlab');
  const second = Math.floor(clock.now() / 1000);
  progress.phase('Exporting');
  await clock.pass(2000);
  progress.note('Retrying in 5 s');
  progress.phase('Writing');
  progress.end();
  progress.end();
  const start = (at: number, id: number, name: string) =>
    `section_start:${at}:static_export_${id}\r\u001b[0K${name}\n`;
  const end = (at: number, id: number) => `section_end:${at}:static_export_${id}\r\u001b[0K\n`;
  assert.equal(
    text(),
    `${start(second, 1, 'Exporting')}Retrying in 5 s\n${end(second + 2, 1)}` +
      `${start(second + 2, 2, 'Writing')}${end(second + 2, 2)}`,
  );
});

test('GitHub shows a warning apart from the log, and a note within it', () => {
  const { progress, text } = progressOn({}, 'github');
  progress.note('Continuing export job 7');
  progress.note('the job failed\n::error::x', 'warning');
  assert.equal(
    text(),
    'Continuing export job 7\n::warning title=static-export::the job failed\\u{a}::error::x\n',
  );
});
