import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportServiceProgram } from '#export-service/program.ts';
import { operatorProgram } from '#operator/flags.ts';
import { webhookReceiverProgram } from '#operator/webhook/program.ts';
import {
  type Flags,
  flagName,
  type ProgramDescription,
  readInvocation,
  variableName,
} from '#platform/runtime/flags/flags.ts';
import { bundleServer } from '#server/server-flags.ts';

testHelp(operatorProgram);
testHelp(bundleServer);
testHelp(exportServiceProgram);
testHelp(webhookReceiverProgram);

function testHelp<F extends Flags>(program: ProgramDescription<F>): void {
  test(`--help of ${program.name} fits a terminal of 80 columns and leaves nothing out`, () => {
    const invocation = readInvocation(program, '1.0.0', ['--help'], {});
    const help = invocation.outcome === 'print' ? invocation.text : assert.fail();
    for (const line of help.split('\n')) {
      assert.ok(line.length <= 80 || !line.trim().includes(' '), `${line.length}: ${line}`);
    }
    const words = help.replace(/\s+/g, ' ');
    assert.ok(words.includes(` ${program.summary} `));
    for (const [key, { describe, placeholder = '', defaultText }] of Object.entries(program.flags)) {
      const shown = placeholder === '' ? undefined : defaultText;
      assert.ok(words.includes(` --${flagName(key)} ${placeholder}`.trimEnd()), key);
      assert.ok(words.includes(` ${describe} [`), describe);
      const variable = `${variableName(program.name, key)}]`;
      assert.ok(words.includes(shown ? `default ${shown}; ${variable}` : variable), key);
    }
    assert.doesNotMatch(words, /default false|true\|false\]/);
    assert.ok(program.examples === undefined || help.includes('\n\nExamples:\n'));
    for (const example of program.examples ?? []) assert.ok(help.includes(`\n  ${example}\n`), example);
  });
}
