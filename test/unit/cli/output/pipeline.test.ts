// What pipelines read: which one runs the command, and that text of others stays text in each of their formats.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { formatResult } from '#cli/output/format.ts';
import { annotation, outputEntries, summaryText } from '#cli/output/github-workflow.ts';
import { dotenvText } from '#cli/output/gitlab-log.ts';
import { detectPipeline, outputsOf } from '#cli/output/pipeline.ts';
import { createProgress } from '#cli/output/progress.ts';
import { usageText, warningLine } from '#cli/output/report.ts';
import { printable } from '#platform/wire/printable-text.ts';
import * as fc from '../../../support/properties.ts';

/** Text that tries to be a command, another line, a cell or a tag. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '::error::x',
        '##[group]x',
        '###[group]x',
        '##vso[a]b',
        '\n',
        '\r\n',
        '%0A',
        ' ',
        ',',
        ':',
        '|',
        '`',
      ),
      fc.constantFrom('<b>', '&amp;', '[a](http://b)', 'www.example.com', '@all', '#', '##', '\u001b[2J'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** As the runner of GitHub Actions reads a line: its newer form at the beginning, its older one anywhere. */
const commandOf = (line: string): string | undefined =>
  /^\s*::([a-zA-Z-]+)/.exec(line)?.[1] ?? /##(?:vso)?\[([^\]]*)\]/.exec(line)?.[1];

test('a pipeline is found by its documented variable, and a flag decides otherwise', () => {
  assert.equal(detectPipeline('auto', {}), 'none');
  assert.equal(detectPipeline('auto', { GITHUB_ACTIONS: 'true' }), 'github');
  assert.equal(detectPipeline('auto', { GITLAB_CI: 'true' }), 'gitlab');
  assert.equal(detectPipeline('auto', { GITHUB_ACTIONS: 'false', CI: 'true' }), 'none');
  assert.equal(detectPipeline('none', { GITHUB_ACTIONS: 'true' }), 'none');
  assert.equal(detectPipeline('gitlab', { GITHUB_ACTIONS: 'true' }), 'gitlab');
});

test('outputs are the named fields alone: what else a document holds, a link too, is none', () => {
  const link = 'https://storage.example.com/x?signature=1';
  const fields = { version: 'v', pages: 3, changed: false, bundleUrl: link, items: [1], digest: undefined };
  assert.deepEqual(
    [...outputsOf(fields, 0)],
    [
      ['version', 'v'],
      ['pages', '3'],
      ['changed', 'false'],
      ['exitCode', '0'],
    ],
  );
  assert.equal(outputsOf({ paths: ['/site'] }, 0).get('path'), '/site');
  assert.equal(outputsOf({ paths: ['/a', '/b'] }, 0).get('path'), undefined);
});

describe('GitHub Actions', () => {
  test('an annotation has its title, and its lines are one line of the log', () => {
    assert.equal(
      annotation('error', 'static-export export: x, y', ['100 % lost', 'Run it again.']),
      '::error title=static-export export%3A x%2C y::100 %25 lost%0ARun it again.',
    );
  });

  test('no text of others ends an annotation, begins a command or adds a property', () => {
    fc.assert(
      fc.property(hostile, hostile, (title, message) => {
        const line = annotation('warning', title, [message]);
        assert.doesNotMatch(line, /[\r\n]/);
        const [, properties = '', data = ''] = /^::warning title=(.*?)::(.*)$/.exec(line) ?? assert.fail();
        assert.doesNotMatch(properties, /[:,]/);
        const read = (text: string): string =>
          text
            .replaceAll('%2C', ',')
            .replaceAll('%3A', ':')
            .replaceAll('%0A', '\n')
            .replaceAll('%0D', '\r')
            .replaceAll('%25', '%');
        assert.deepEqual([read(properties), read(data)], [printable(title), printable(message)]);
      }),
    );
  });

  test('the file of outputs gives back each value and no other output', () => {
    fc.assert(
      fc.property(hostile, hostile, (version, path) => {
        const entries = outputEntries(outputsOf({ version, path }, 7), 'delimiter-1');
        const read = new Map<string, string>();
        const lines = entries.split('\n');
        while (lines.length > 1) {
          const [name = '', delimiter = ''] = (lines.shift() ?? '').split('<<');
          const end = lines.indexOf(delimiter);
          read.set(name, lines.splice(0, end).join('\n'));
          lines.shift();
        }
        assert.deepEqual(
          [...read],
          [
            ['version', printable(version)],
            ['path', printable(path)],
            ['exitCode', '7'],
          ],
        );
      }),
    );
  });

  test('the summary is one heading and one table, whatever the values are', () => {
    fc.assert(
      fc.property(hostile, hostile, (path, message) => {
        const failure = { code: 'TooFewPages', lines: [message] };
        const text = summaryText('static-export export', outputsOf({ path }, 7), failure);
        const lines = text.split('\n').filter((line) => line !== '');
        const marks = lines.map((line) => line.replace(/&#\d+;/g, '').replace(/[^#|<>`*_[\]!@:.~\\]/g, ''));
        const isEmpty = printable(message).trim() === '';
        assert.equal(marks.filter((mark) => mark !== '').join(' '), '### ||| ||| ||| |||');
        assert.ok(lines.length === 6 || isEmpty);
      }),
    );
  });
});

test('the dotenv report of GitLab holds plain values, and says which it leaves out', () => {
  const plain = outputsOf({ version: '20261122-192123-6836c104', path: 'public', changed: true }, 0);
  assert.deepEqual(dotenvText(plain), {
    text: 'EXPORT_VERSION=20261122-192123-6836c104\nEXPORT_CHANGED=true\nEXPORT_PATH=public\nEXPORT_EXIT_CODE=0\n',
    leftOut: [],
  });
  fc.assert(
    fc.property(hostile, (path) => {
      const { text, leftOut } = dotenvText(outputsOf({ path }, 0));
      for (const line of text.trimEnd().split('\n')) assert.match(line, /^EXPORT_[A-Z_]+=[!-~]+$/);
      assert.equal(text.includes(`EXPORT_PATH=${path}\n`), leftOut.length === 0);
    }),
  );
});

for (const format of ['json', 'yaml'] as const) {
  test(`a document in ${format} keeps every text, and none of its lines is a command`, async () => {
    await fc.assertAsync(
      fc.asyncProperty(
        hostile.map((text) => printable(text)),
        async (text) => {
          const fields = { message: `${text} ${'x '.repeat(60)}${text}`, entries: [text, { path: text }] };
          const result = { outcome: 'done', kind: 'Error', fields, lines: [] } as const;
          const printed = await formatResult(result, format);
          for (const line of printed.split('\n')) assert.equal(commandOf(line), undefined);
          const { apiVersion: _version, kind: _kind, ...read } = parse(printed);
          assert.deepEqual(read, fields);
        },
      ),
    );
  });
}

test('no line of a text result is a command, whatever an archive holds', async () => {
  await fc.assertAsync(
    fc.asyncProperty(hostile, async (text) => {
      const lines = [printable(text), `M ${printable(text)}`];
      const result = { outcome: 'done', kind: 'ArchiveDiff', fields: {}, lines, names: lines } as const;
      for (const format of ['text', 'wide', 'name'] as const) {
        const printed = (await formatResult(result, format)).trimEnd().split('\n');
        assert.deepEqual(
          printed.map(commandOf),
          printed.map(() => undefined),
        );
      }
    }),
  );
});

test('no progress, warning or wrong usage with text of others is a command', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const written: string[] = [];
      const stream = { write: (line: string) => void written.push(line) };
      let now = 0;
      const clock = { now: () => now, monotonic: () => now };
      const progress = createProgress(stream, clock);
      progress.phase(text);
      progress.note(text);
      progress.note(text, 'warning');
      now = 60_000;
      progress.advance(undefined, text);
      written.push(warningLine({ command: 'export', pipeline: 'none' }, printable(text)));
      for (const env of [{}, { GITHUB_ACTIONS: 'true' }])
        written.push(usageText('export', `export: x\n${printable(text)}\n`, env));
      const commandsOf = written
        .join('')
        .split('\n')
        .flatMap((line) => commandOf(line) ?? []);
      // The one of the program itself.
      assert.deepEqual(commandsOf, ['error']);
    }),
  );
});
