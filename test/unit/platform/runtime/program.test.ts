// The frame around a program whose standard output is data: whatever it logs, a pipe gets the data alone.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const program = join(import.meta.dirname, 'data-program.ts');

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env: {} });
}

const messagesIn = (log: string): readonly string[] =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg);

test('a program that prints data logs to standard error', () => {
  const { status, stdout, stderr } = run();
  assert.equal(status, 0);
  assert.equal(stdout, '{"digest":"d"}\n');
  assert.deepEqual(messagesIn(stderr), ['started']);
});

test('a program that prints data reports its failure on standard error too', () => {
  const { status, stdout, stderr } = run('--fail');
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.deepEqual(messagesIn(stderr), ['started', 'data-program ends: no data']);
});

test('--help says to which stream a program logs', () => {
  assert.match(run('--help').stdout, /How much to log, as JSON lines on\s+standard\s+error/);
});
