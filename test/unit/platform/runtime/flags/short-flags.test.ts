// Joined short flags, and switches before an argument.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { type ProgramDescription, readInvocation } from '#platform/runtime/flags/flags.ts';

const flags = {
  output: { ...text.withDefault('text', 'A format'), short: 'o' },
  quiet: { ...toggle('No progress'), short: 'q' },
  yes: { ...toggle('Do not ask'), short: 'y' },
  keyFile: text.optional('A file'),
  keyStdin: toggle('From standard input'),
};
const command: ProgramDescription<typeof flags> = {
  name: 'demo promote',
  variablePrefix: 'demo',
  summary: 'a command',
  flags,
  arguments: [{ placeholder: 'NAME', describe: 'A name', isRequired: true }],
};
const withoutArguments: ProgramDescription<typeof flags> = { name: 'demo', summary: 'a program', flags };

const rows: readonly (readonly [readonly string[], string, boolean, boolean])[] = [
  [['-qo', 'json'], 'json', true, false],
  [['-qojson'], 'json', true, false],
  [['-qyo', 'json'], 'json', true, true],
  [['-ojson'], 'json', false, false],
  [['-o=json'], 'json', false, false],
  [['-qy'], 'text', true, true],
  [['-yq=false'], 'text', false, true],
  [['-o', '-qy'], '-qy', false, false],
  [['--output', '-q'], '-q', false, false],
];
for (const [args, output, quiet, yes] of rows) {
  test(`"${args.join(' ')}" is read, before and after an argument`, () => {
    for (const line of [
      [...args, 'docs'],
      ['docs', ...args],
    ]) {
      const read = readInvocation(command, '1', line, {});
      assert.ok(read.outcome === 'run', read.outcome === 'refuse' ? read.text : '');
      const { values } = read;
      assert.deepEqual([read.args, values.output, values.quiet, values.yes], [['docs'], output, quiet, yes]);
    }
    const read = readInvocation(withoutArguments, '1', args, {});
    assert.equal(read.outcome === 'run' && read.values.output, output);
  });
}

const refusals: readonly (readonly [readonly string[], RegExp])[] = [
  [['docs', '-qxo'], /^unknown flag -xo$/],
  [['docs', '-qo'], /^-qo needs a value$/],
  [['docs', '--output', '--quiet'], /^--output needs a value$/],
  [['docs', '--key', 'svc_secret'], /^unknown flag --key; did you mean --key-file or --key-stdin\?$/],
  [['docs', '--quite'], /^unknown flag --quite; did you mean --quiet\?$/],
  [['docs', '--abc'], /^unknown flag --abc$/],
];
for (const [args, wanted] of refusals) {
  test(`"${args.join(' ')}" is refused, and the refusal names what is meant`, () => {
    const read = readInvocation(command, '1', args, {});
    assert.match(read.outcome === 'refuse' ? read.reason : '', wanted);
    assert.ok(read.outcome === 'refuse' && read.text.startsWith(`demo promote: ${read.reason}\n`));
  });
}

test('help shows a switch without a value, because it is off by default', () => {
  const help = readInvocation(command, '1', ['--help'], {});
  assert.ok(help.outcome === 'print');
  assert.match(help.text, /^ {2}--key-stdin$/m);
  assert.match(help.text, /^ {2}-o, --output TEXT$/m);
});
