// What the image's entrypoint does with its first argument: the table of right and wrong ones, each tried as a
// process, for the exit code and the stream are the contract.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const entrypoint = join(import.meta.dirname, '../../../src/bin/entrypoint.ts');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], nodeFlags: readonly string[] = []): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...nodeFlags, entrypoint, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

test('the named program runs with the arguments after its name', async () => {
  const ended = await start(['bundle-server', '--version']);
  assert.equal(ended.code, 0);
  assert.match(ended.stdout, /^bundle-server \d/);
});

test('a wrong flag is still the program’s own to refuse', async () => {
  const ended = await start(['bundle-server', '--lisen=127.0.0.1:0']);
  assert.equal(ended.code, 2);
  assert.match(ended.stderr, /--listen/);
});

/** A program that waits for its thread, which it does for 10 s at most, would not end. */
const withoutLongTimers = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`const begin = globalThis.setTimeout;
globalThis.setTimeout = (fire, ms) => begin(fire, ms < 10_000 ? ms : 1_000_000_000);`)}`,
];

for (const [args, code] of [
  [['--help'], 0],
  [['--lisen=127.0.0.1:0'], 2],
] as const) {
  test(`the server that has started a thread ahead ends at once, given ${args.join()}`, async () => {
    const ended = await start(['bundle-server', '--store', '/nowhere', ...args], withoutLongTimers);
    assert.equal(ended.code, code);
  });
}

test('asked for help, it lists the programs and nothing that is not one', async () => {
  const ended = await start(['--help']);
  assert.equal(ended.code, 0);
  assert.match(ended.stdout, /bundle-server, export-service, operator/);
  assert.doesNotMatch(ended.stdout, /worker|entrypoint/);
});

for (const [args, what] of [
  [[], 'no name at all'],
  [['operatr'], 'a name that is no program'],
  [['bundle-worker'], 'a worker'],
  [['crawl-worker'], 'the worker of a program'],
  [['../bin/operator'], 'a path'],
  [['entrypoint'], 'itself'],
] as const) {
  test(`${what} ends with 2 and the list on standard error`, async () => {
    const ended = await start(args);
    assert.equal(ended.code, 2);
    assert.equal(ended.stdout, '');
    assert.match(ended.stderr, /Programs: .*operator/);
  });
}
