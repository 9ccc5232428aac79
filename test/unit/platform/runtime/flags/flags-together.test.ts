// Rules that concern several flags: a flag of the program's own named `--version`, flags that conflict, and flags set by
// variables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { type ProgramDescription, readInvocation } from '#platform/runtime/flags/flags.ts';

const flags = { version: text.optional('The version to serve'), file: text.optional('A file') };
const program: ProgramDescription<typeof flags> = {
  name: 'demo',
  summary: 'a program',
  flags,
  check: ({ version, file }) =>
    version !== undefined && file !== undefined ? '--version and --file exclude each other' : undefined,
};
const plain: ProgramDescription<Record<never, never>> = { name: 'plain', summary: 'no flags', flags: {} };

test('a program with a flag named version reads its value', () => {
  for (const args of [['--version', 'v7'], ['--version=v7']]) {
    const invocation = readInvocation(program, '1.2.3', args, {});
    assert.equal(invocation.outcome, 'run');
    assert.equal(invocation.outcome === 'run' && invocation.values.version, 'v7');
  }
});

test('--version without a value prints the version, also if the program has such a flag', () => {
  assert.deepEqual(readInvocation(program, '1.2.3', ['--version'], {}), {
    outcome: 'print',
    text: 'demo 1.2.3\n',
  });
  assert.deepEqual(readInvocation(plain, '1.2.3', ['--version'], {}), {
    outcome: 'print',
    text: 'plain 1.2.3\n',
  });
});

test("flags that conflict are refused with the program's message", () => {
  const invocation = readInvocation(program, '1.2.3', ['--version', 'v7'], { DEMO_FILE: 'x' });
  assert.equal(invocation.outcome, 'refuse');
  assert.match(
    invocation.outcome === 'refuse' ? invocation.text : '',
    /^demo: --version and DEMO_FILE exclude/,
  );
});

test('a value set by its variable is named by that variable, at the start and later', () => {
  const env = { DEMO_FILE: 'x', DEMO_VERSION: 'v7' };
  const both = readInvocation(program, '1.2.3', [], env);
  assert.match(both.outcome === 'refuse' ? both.text : '', /^demo: DEMO_VERSION and DEMO_FILE exclude/);
  const flagsWin = readInvocation(program, '1.2.3', ['--version=v7', '--file=y'], env);
  assert.match(flagsWin.outcome === 'refuse' ? flagsWin.text : '', /^demo: --version and --file exclude/);
  const run = readInvocation(program, '1.2.3', [], { DEMO_FILE: 'x' });
  const say = (sentence: string) => (run.outcome === 'run' ? run.nameSources(sentence) : assert.fail());
  assert.equal(
    say('--file cannot be read; see --file-mode, --version and --help'),
    'DEMO_FILE cannot be read; see --file-mode, --version and --help',
  );
  assert.equal(say('an empty variable counts as none'), 'an empty variable counts as none');
});

test('where arguments may follow, a switch takes none of them for its value', () => {
  const command: ProgramDescription<{ yes: ReturnType<typeof toggle> }> = {
    name: 'demo promote',
    variablePrefix: 'demo',
    summary: 'a command',
    flags: { yes: { ...toggle('Do not ask'), short: 'y' } },
    arguments: [{ placeholder: 'NAME', describe: 'A name', isRequired: true }],
  };
  for (const args of [
    ['--yes', 'docs'],
    ['-y', 'docs'],
    ['docs', '--yes'],
    ['docs', '--yes=true'],
  ]) {
    const invocation = readInvocation(command, '1', args, {});
    assert.ok(invocation.outcome === 'run', args.join(' '));
    assert.deepEqual([invocation.args, invocation.values.yes], [['docs'], true]);
  }
  const off = readInvocation(command, '1', ['docs', '--yes=false'], {});
  assert.equal(off.outcome === 'run' && off.values.yes, false);
});

test('an argument that is repeatable takes every value without a flag, and one at least', () => {
  const command: ProgramDescription<{ yes: ReturnType<typeof toggle> }> = {
    name: 'demo verify',
    variablePrefix: 'demo',
    summary: 'a command',
    flags: { yes: toggle('Do not ask') },
    arguments: [{ placeholder: 'KIT', describe: 'A kit', isRequired: true, isRepeatable: true }],
  };
  const invocation = readInvocation(command, '1', ['a', '--yes', 'b', 'c'], {});
  assert.deepEqual(invocation.outcome === 'run' && invocation.args, ['a', 'b', 'c']);
  const missing = readInvocation(command, '1', ['--yes'], {});
  assert.equal(missing.outcome === 'refuse' && missing.reason, 'KIT is missing: A kit');
  const help = readInvocation(command, '1', ['--help'], {});
  assert.match(help.outcome === 'print' ? help.text : '', /^Usage: demo verify KIT\.\.\. \[flags\]$/m);
  const stray = readInvocation(command, '1', ['a', '--no'], {});
  assert.match(stray.outcome === 'refuse' ? stray.reason : '', /^unknown flag --no/);
});
