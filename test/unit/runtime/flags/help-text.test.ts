import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportServiceProgram } from '../../../../src/export-service/program.ts';
import { operatorProgram } from '../../../../src/operator/flags.ts';
import { text } from '../../../../src/runtime/flags/flag-kinds.ts';
import { flagName, variableName } from '../../../../src/runtime/flags/flag-names.ts';
import { type DescribedProgram, helpText } from '../../../../src/runtime/flags/help-text.ts';
import { bundleServer } from '../../../../src/site/server-flags.ts';

const programs: readonly DescribedProgram[] = [operatorProgram, bundleServer, exportServiceProgram];
for (const program of programs) {
  test(`--help of ${program.name} fits a terminal of 80 columns and leaves nothing out`, () => {
    const help = helpText(program);
    for (const line of help.split('\n')) {
      assert.ok(line.length <= 80 || !line.trim().includes(' '), `${line.length}: ${line}`);
    }
    const words = help.replace(/\\\n/g, '').replace(/\s+/g, ' ');
    for (const [key, { describe, placeholder = '' }] of Object.entries(program.flags)) {
      assert.ok(words.includes(` --${flagName(key)} ${placeholder}`.trimEnd()), key);
      assert.ok(words.includes(` ${describe} [`), describe);
      assert.ok(words.includes(`${variableName(program.name, key)}]`), key);
    }
    for (const example of program.examples ?? []) assert.ok(words.includes(` ${example} `), example);
  });
}

test('an example is parted where a shell reads it as one line, never within quotes', () => {
  const quoted = `'${'a b '.repeat(30)}'`;
  const help = helpText({
    name: 'demo',
    summary: 'a program',
    flags: { file: text.optional('A file') },
    examples: [`demo --one ${'x'.repeat(60)} --two ${quoted} --three`],
  });
  assert.ok(
    help.endsWith(
      `Examples:\n  demo --one ${'x'.repeat(60)} \\\n    --two \\\n    ${quoted} \\\n    --three\n`,
    ),
    help,
  );
});
