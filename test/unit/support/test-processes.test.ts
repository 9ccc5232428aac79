import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { aloneFiles, longFiles, planProcesses } from '../../support/test-processes.ts';

const runner = join(import.meta.dirname, '../../support/run-tests.ts');
const alone = Object.keys(aloneFiles);
const root = join(import.meta.dirname, '../../..');

test('each unit-test file runs in exactly one process, a new one without being listed', () => {
  const files = [
    ...globSync('test/{unit,charts,simulation}/**/*.test.ts', { cwd: root }),
    'test/unit/new/new.test.ts',
  ];
  const processes = planProcesses(files, { alone, first: longFiles, size: 16 });
  assert.deepEqual(processes.flat().sort(), files.sort());
  for (const file of alone)
    assert.deepEqual(
      processes.filter((group) => group.includes(file)),
      [[file]],
    );
  assert.ok(processes.every((group) => group.length <= 16));
});

test('every listed file exists', () => {
  const missing = [...alone, ...longFiles].filter((file) => !existsSync(join(root, file)));
  assert.deepEqual(missing, []);
});

test('listed files start first, in the order of their list', () => {
  const processes = planProcesses(['a', 'b', 'c', 'd'], { alone: ['b'], first: ['d', 'b'], size: 1 });
  assert.deepEqual(processes, [['d'], ['b'], ['a'], ['c']]);
});

const fixtures = {
  passes: "test('one that passes', () => {});",
  fails: "test('one that fails', () => { throw new Error('broken'); });",
  breaks: "throw new Error('not loaded');",
  spins: "test('one that spins', () => { for (;;); });",
};

async function runTogether(names: readonly (keyof typeof fixtures)[], ...flags: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'run-tests-'));
  try {
    for (const [index, name] of names.entries()) {
      const text = `import { test } from 'node:test';\n${fixtures[name]}\n`;
      await writeFile(join(folder, `${index}-${name}.test.mjs`), text);
    }
    const command = [process.execPath, runner, '--share-processes', ...flags];
    return await runCommand([...command, `${folder}/*.test.mjs`]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('a failure in a shared process names its file and its test, and the other files run', async () => {
  const { code, stdout } = await runTogether(['fails', 'passes']);
  assert.equal(code, 1);
  assert.match(stdout, /0-fails\.test\.mjs:2:1\n✖ one that fails/);
  assert.match(stdout, /1 {2}.* s CPU .* s {2}\S*1-passes\.test\.mjs/);
});

test('a file that does not load is a failure with its name, and the other files run', async () => {
  const { code, stdout } = await runTogether(['breaks', 'passes']);
  assert.equal(code, 1);
  assert.match(stdout, /✖ \S*0-breaks\.test\.mjs[^\n]*\n {2}Error: not loaded/);
  assert.match(stdout, /1 {2}.* s CPU .* s {2}\S*1-passes\.test\.mjs/);
});

test('a test that never gives its thread back is ended, and its file is named', async () => {
  const { code, stdout } = await runTogether(['spins', 'passes'], '--timeout-seconds=1');
  assert.equal(code, 1);
  assert.match(stdout, /ended after 4 s: \S*0-spins\.test\.mjs/);
});

test('files that all pass end with 0', async () => {
  assert.equal((await runTogether(['passes', 'passes'])).code, 0);
});
