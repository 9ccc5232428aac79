// Screens: meaning, width and time are decided together, and text is the same with and without them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { paintOf, paintOfExported } from '#cli/cluster/summary.ts';
import { checkBlocks, warned } from '#cli/doctor/check.ts';
import { relativeTime, withRelativeTimes } from '#cli/output/amounts.ts';
import { formatFailure, formatResult } from '#cli/output/format.ts';
import { columnsOf, marked, painted, type Screen } from '#cli/output/paint.ts';
import { createProgress } from '#cli/output/progress.ts';
import {
  type Block,
  markedLine,
  plainScreen,
  prose,
  renderBlocks,
  screenOf,
  stepBlocks,
} from '#cli/output/screen.ts';
import * as fc from '../../../support/properties.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const now = Date.parse('2026-11-28T12:00:00Z');
const terminal = (columns: number, isColoured = false): Screen =>
  screenOf({ isTTY: true, columns }, isColoured, now);

test('what needs a person is red, what is retried yellow, and what is only not done yet has no colour', () => {
  const rows: readonly (readonly [string, string, string, string | undefined])[] = [
    ['Ready', 'True', 'Published', 'good'],
    ['Ready', 'False', 'LinkExpired', 'bad'],
    ['Ready', 'Unknown', 'NotObserved', 'unsure'],
    ['Stalled', 'True', 'KeyRefused', 'bad'],
    ['Stalled', 'False', 'Published', undefined],
    ['Reconciling', 'True', 'BackingOff', 'unsure'],
    ['Reconciling', 'False', 'Published', undefined],
    ['Exported', 'False', 'PageCountDropped', 'bad'],
    ['Exported', 'False', 'KeyMissing', 'bad'],
    ['Exported', 'False', 'InspectionFailed', 'unsure'],
    ['Exported', 'False', 'Pending', undefined],
    ['LinkFresh', 'False', 'Expired', 'bad'],
    ['LinkFresh', 'False', 'Due', 'unsure'],
    ['Mirrored', 'False', 'Denied', 'bad'],
    ['TargetsSynced', 'False', 'NotGranted', 'bad'],
  ];
  for (const [type, status, reason, paint] of rows)
    assert.equal(paintOf({ type, status, reason }), paint, `${type}=${status} (${reason})`);
  const exported = ['Promoted', 'Unchanged', 'Pending', 'JobFailed', 'PageCountDropped', undefined];
  assert.deepEqual(exported.map(paintOfExported), ['good', 'good', undefined, 'unsure', 'bad', undefined]);
});

test('a word keeps its meaning where the line breaks before it', () => {
  const block = prose(
    ['Exported=', marked('False', 'bad'), ' (PageCountDropped): the rest of it'],
    '  ',
    '    ',
  );
  const lines = renderBlocks([block], terminal(20, true));
  assert.deepEqual(lines.map(stripVTControlCharacters), [
    '  Exported=False',
    '    (PageCountDropped):',
    '    the rest of it',
  ]);
  assert.ok(lines[0]?.endsWith(`Exported=${painted('False', 'bad')}`));
});

test('each state of a check has its colour, also one of seven letters', () => {
  const checks = (['ok', 'warning', 'error', 'skipped'] as const).map(
    (state) => ({ code: 'LinkAge', state, message: 'x' }) as const,
  );
  const lines = renderBlocks(checkBlocks(checks), terminal(80, true)).slice(1, 5);
  const words = [
    painted('ok', 'good'),
    painted('warning', 'unsure'),
    painted('error', 'bad'),
    painted('skipped', 'quiet'),
  ];
  assert.deepEqual(
    lines.map((line, at) => line.startsWith(`  ${words[at]} `)),
    [true, true, true, true],
  );
});

test('text has the width of the terminal, at most 120 columns, and none in a pipe', () => {
  const block = prose('word '.repeat(60).trim());
  const widths = [60, 80, 120, 200].map((columns) =>
    Math.max(...renderBlocks([block], terminal(columns)).map(columnsOf)),
  );
  assert.deepEqual(widths, [59, 79, 119, 119]);
  assert.equal(renderBlocks([block], plainScreen).length, 1);
});

test('a command of a remedy is a line of its own and never broken; its effect gives way', () => {
  const command = `kubectl annotate staticexport ${'d'.repeat(40)} -n team staticexport.dev/reconcile=$(date +%s)`;
  const check = renderBlocks(
    checkBlocks([warned('OutputSecret', 'It is missing.', ['Run:', command])]),
    terminal(80),
  );
  assert.ok(check.includes(`            ${command}`), check.join('\n'));
  assert.equal(warned('OutputSecret', 'x', ['Run:', command]).remedy, `Run: ${command}`);
  const step = 'static-export promote docs -n team  # publishes 20261122-192123-6836c104';
  assert.deepEqual(renderBlocks(stepBlocks([step]), terminal(80)), [`  ${step}`]);
  assert.deepEqual(renderBlocks(stepBlocks([step]), terminal(60)), [
    '  # publishes 20261122-192123-6836c104',
    '  static-export promote docs -n team',
  ]);
});

describe('a table', () => {
  const table: Block = {
    kind: 'table',
    columns: [
      { title: 'NAME' },
      { title: 'READY' },
      { title: 'VERSION', rank: 2 },
      { title: 'JOB', rank: 3 },
      { title: 'EXPIRES', rank: 1 },
    ],
    rows: [
      ['docs', marked('False', 'bad'), '20261122-192123-6836c104', '', { instant: '2026-11-28T12:12:00Z' }],
    ],
  };
  const at = (columns: number) => renderBlocks([table], terminal(columns));
  const whole = 'NAME   READY   VERSION                    JOB   EXPIRES';

  test('shortens times and gaps, then loses empty columns, then those of low rank; a row is one line', () => {
    assert.deepEqual(at(120), [
      whole,
      'docs   False   20261122-192123-6836c104         2026-11-28T12:12:00Z (in 12 min)',
    ]);
    assert.deepEqual(at(70)[1], 'docs   False   20261122-192123-6836c104         in 12 min');
    assert.deepEqual(at(55)[0], 'NAME  READY  VERSION                   JOB  EXPIRES');
    assert.deepEqual(at(50), [
      'NAME  READY  VERSION                   EXPIRES',
      'docs  False  20261122-192123-6836c104  in 12 min',
    ]);
    assert.deepEqual(at(45)[0], 'NAME   READY   VERSION');
    assert.deepEqual(at(20), ['NAME   READY', 'docs   False']);
  });

  test('is whole in a pipe, with instants alone', () => {
    assert.deepEqual(renderBlocks([table], { ...plainScreen, now }), [
      whole,
      'docs   False   20261122-192123-6836c104         2026-11-28T12:12:00Z',
    ]);
  });

  test('has straight columns with colours and wide letters', () => {
    const rows = [
      [marked('文档', 'good'), 'a'],
      ['docs', 'b'],
    ];
    const lines = renderBlocks(
      [{ kind: 'table', columns: [{ title: 'NAME' }, { title: 'X' }], rows }],
      terminal(80, true),
    );
    assert.deepEqual(lines.map(stripVTControlCharacters), ['NAME   X', '文档   a', 'docs   b']);
  });

  test('cuts prose where names alone have no room, and never a name', () => {
    const cut: Block = {
      kind: 'table',
      columns: [{ title: 'Question', isCut: true }, { title: 'Id' }],
      rows: [['how do I rotate the key of the webhook', 'a1b2c3d4e5f6']],
    };
    assert.deepEqual(renderBlocks([cut], terminal(40))[1], 'how do I rotate the key o…  a1b2c3d4e5f6');
  });
});

test('times are relative after the instant', () => {
  const rows = [
    ['2026-11-28T12:00:00Z', 'now'],
    ['2026-11-28T12:12:00Z', 'in 12 min'],
    ['2026-11-28T11:59:01Z', '59 s ago'],
    ['2026-11-28T13:59:00Z', 'in 119 min'],
    ['2026-11-25T12:00:00Z', '3 d ago'],
    ['never', undefined],
  ] as const;
  for (const [instant, relative] of rows) assert.equal(relativeTime(instant, now), relative);
  assert.equal(
    withRelativeTimes('valid until 2026-11-28T20:00:00Z.', now),
    'valid until 2026-11-28T20:00:00Z (in\u00a08\u00a0h).',
  );
  const block = prose('It is valid until 2026-11-28T20:00:00Z.');
  assert.deepEqual(renderBlocks([block], terminal(45)), [
    'It is valid until 2026-11-28T20:00:00Z',
    '(in 8 h).',
  ]);
});

test('whatever the text, colours change no letter, and words stay whole', () => {
  const paint = fc.constantFrom('good', 'bad', undefined);
  const span = fc.record({ text: fc.string({ unit: fc.constantFrom('a', 'b', ' ', '文') }), paint });
  fc.assert(
    fc.property(fc.array(span), fc.integer({ min: 20, max: 130 }), (text, columns) => {
      const plain = renderBlocks([prose(text), markedLine(...text)], terminal(columns));
      const shown = renderBlocks([prose(text), markedLine(...text)], terminal(columns, true));
      assert.deepEqual(shown.map(stripVTControlCharacters), plain);
      const words = (lines: readonly string[]) => lines.join(' ').split(/ +/).filter(Boolean);
      assert.deepEqual(words(plain.slice(0, -1)), words(plain.slice(-1)));
    }),
  );
});

describe('a stream without colours', () => {
  const lines = [markedLine(marked('Exported', 'good'), ' x')];
  const result = { outcome: 'done', kind: 'ExportResult', fields: {}, lines } as const;
  const failure = {
    outcome: 'key',
    code: 'KeyMissing',
    message: 'there is no key',
    retryable: false,
    next: ['Use --key-file.'],
    known: {},
  } as const;

  test('gets the same text without them, and documents have none', async () => {
    const coloured = terminal(80, true);
    assert.equal(await formatResult(result, 'text'), 'Exported x\n');
    assert.equal(await formatResult(result, 'text', coloured), `${painted('Exported', 'good')} x\n`);
    assert.equal(await formatResult(result, 'json', coloured), await formatResult(result, 'json'));
    const plain = await formatFailure('static-export export', failure, 'text');
    assert.equal(plain.stderr, 'static-export export: there is no key (KeyMissing)\n  Use --key-file.\n');
    const { stderr } = await formatFailure('static-export export', failure, 'text', coloured);
    assert.equal(stripVTControlCharacters(stderr), plain.stderr);
    assert.ok(stderr.startsWith(painted('static-export export:', 'bad')));
  });

  test('a program on a pipe gets the script, and a person on a terminal the screen', async () => {
    const both = { ...result, script: '# Raw\n', screen: ['Shown'] };
    assert.equal(await formatResult(both, 'text'), '# Raw\n');
    assert.equal(await formatResult(both, 'text', terminal(80)), 'Shown\n');
  });
});

test('a coloured bar is not wider than the terminal, and a note wraps', async () => {
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
  progress.note(' ✓ a claim that holds', 'good');
  for (const line of text.split(/[\r\n]/)) assert.ok(stripVTControlCharacters(line).length <= 12, line);
  assert.ok(text.includes(painted('Downloading', 'strong')));
  assert.ok(text.includes(`${painted(' ✓', 'good')} a claim\n`));
});
