// Colours: few, on finished lines, and never wider or other text than without them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { tableOf } from '../../../../src/cli/cluster/summary.ts';
import { formatFailure, formatResult } from '../../../../src/cli/output/format.ts';
import { painted, paintLines } from '../../../../src/cli/output/paint.ts';
import { createProgress } from '../../../../src/cli/output/progress.ts';
import * as fc from '../../../support/properties.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const rows: readonly (readonly [string, string, string])[] = [
  ['StaticExportStatus', '  Ready:        True (Published)', painted('True', 'good')],
  ['StaticExportStatus', '  Ready=False (KeyRefused): x', painted('False', 'bad')],
  ['DoctorReport', '  error   KeyMissing: there is no key', painted('error', 'bad')],
  ['DoctorReport', '  ok      ApiReachable: x', painted('ok', 'good')],
  ['DoctorReport', '  warning LinkAge: x', painted('warning', 'unsure')],
  ['DoctorReport', '  skipped Server: x', painted('skipped', 'quiet')],
  ['ExportResult', 'Exported docs.example.com', painted('Exported', 'good')],
  ['ExportResult', 'Unchanged: docs.example.com has the same content', painted('Unchanged:', 'quiet')],
  ['ArchiveVerdict', 'The archive is whole. Digest: x', painted('whole', 'good')],
  ['ArchiveVerdict', 'The archive is rejected: x (ParentPath).', painted('rejected', 'bad')],
  ['ArchiveDiff', 'D old.html', painted('D', 'bad')],
];
for (const [kind, line, word] of rows) {
  test(`"${line}" of ${kind} is painted in one word`, () => {
    const [shown = ''] = paintLines(kind, [line]);
    assert.ok(shown.includes(word));
    assert.equal(stripVTControlCharacters(shown), line);
  });
}

test('the column READY of a table is painted, other columns are not, and columns stay straight', () => {
  const lines = tableOf(
    ['NAMESPACE', 'NAME', 'READY', 'REASON'],
    [
      ['team', 'True', 'False', 'True'],
      ['a', 'docs', 'True', 'Published'],
    ],
  );
  const shown = paintLines('StaticExportList', lines);
  assert.deepEqual(shown.map(stripVTControlCharacters), lines);
  assert.equal(shown[0], lines[0]);
  assert.ok(shown[1]?.includes(`True   ${painted('False', 'bad')}   True`));
  assert.ok(shown[2]?.includes(painted('True', 'good')));
});

test('painted lines have the same text, whatever it is', () => {
  const kinds = fc.constantFrom(
    'StaticExportList',
    'StaticExportStatus',
    'DoctorReport',
    'ArchiveDiff',
    'Other',
  );
  fc.assert(
    fc.property(kinds, fc.array(fc.string()), (kind, lines) => {
      assert.deepEqual(
        paintLines(kind, lines).map((line) => stripVTControlCharacters(line)),
        lines.map((line) => stripVTControlCharacters(line)),
      );
    }),
  );
});

describe('a stream without colours', () => {
  const result = { outcome: 'done', kind: 'ExportResult', fields: {}, lines: ['Exported x'] } as const;
  const failure = {
    outcome: 'key',
    code: 'KeyMissing',
    message: 'there is no key',
    retryable: false,
    next: ['Use --key-file.'],
    known: {},
  } as const;

  test('gets the same text without them, and documents have none', async () => {
    assert.equal(await formatResult(result, 'text', false), 'Exported x\n');
    assert.notEqual(await formatResult(result, 'text', true), 'Exported x\n');
    assert.equal(await formatResult(result, 'json', true), await formatResult(result, 'json', false));
    const plain = await formatFailure('static-export export', failure, 'text', false);
    assert.equal(plain.stderr, 'static-export export: there is no key (KeyMissing)\n  Use --key-file.\n');
    const coloured = await formatFailure('static-export export', failure, 'text', true);
    assert.equal(stripVTControlCharacters(coloured.stderr), plain.stderr);
    assert.ok(coloured.stderr.startsWith(painted('static-export export:', 'bad')));
  });
});

test('a coloured bar is not wider than the terminal', async () => {
  const clock = virtualClock();
  let text = '';
  const stream = {
    isTTY: true,
    columns: 12,
    write: (part: string) => {
      text += part;
    },
  };
  const progress = createProgress(stream, clock, 'none', true);
  progress.phase('Downloading and checking');
  await clock.pass(200);
  progress.advance(50, 'x'.repeat(40));
  for (const line of text.split('\r')) assert.ok(stripVTControlCharacters(line).length < 12, line);
  assert.ok(text.includes(painted('Downloading', 'strong')));
});
