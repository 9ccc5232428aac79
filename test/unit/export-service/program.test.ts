// The command line without a process: defaults and refusals.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportServiceProgram } from '#export-service/program.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';

const needed = ['--keys-file', 'keys', '--data', 'data'];
const read = (args: readonly string[]) => readInvocation(exportServiceProgram, '1.0.0', args, {});

test('only --keys-file and --data are required', () => {
  const invocation = read(needed);
  assert.ok(invocation.outcome === 'run');
  const { values } = invocation;
  assert.deepEqual(values.listen, { host: '127.0.0.1', port: 8480 });
  assert.deepEqual([values.linkLifetime, values.crawlTimeout, values.drainLinger], [900_000, 3_600_000, 0]);
  assert.deepEqual([values.origin, values.publicUrl, values.adminListen], [[], undefined, undefined]);
  assert.deepEqual([values.project, values.projectStartsPerHour], [[], undefined]);
  assert.equal(values.conversationsProject, 'default');
});

test('the stable flags are read', () => {
  const invocation = read([
    ...needed,
    '--origin=a.example.com=http://127.0.0.1:1',
    '--origin=b.example.com=http://127.0.0.1:2',
    '--origin-header=a.example.com=Host: a.example.com',
    '--origin-header=a.example.com=Accept-Language: de, en',
    '--ignore-robots=a.example.com',
    '--listen=0.0.0.0:80',
    '--public-url=https://exports.example.com/x/',
    '--link-lifetime=30s',
    '--conversations=c.ndjson',
    '--project=p=a.example.com',
    '--project=q=b.example.com',
    '--project-starts-per-hour=10',
    '--verify-in-browser=/usr/bin/chromium',
  ]);
  assert.ok(invocation.outcome === 'run');
  const { values } = invocation;
  assert.deepEqual(values.origin, ['a.example.com=http://127.0.0.1:1', 'b.example.com=http://127.0.0.1:2']);
  assert.deepEqual(values.ignoreRobots, ['a.example.com']);
  assert.deepEqual(values.originHeader, [
    'a.example.com=Host: a.example.com',
    'a.example.com=Accept-Language: de, en',
  ]);
  assert.equal(values.publicUrl, 'https://exports.example.com/x');
  assert.deepEqual([values.linkLifetime, values.conversations], [30_000, 'c.ndjson']);
  assert.deepEqual(values.project, ['p=a.example.com', 'q=b.example.com']);
  assert.equal(values.projectStartsPerHour, 10);
  assert.equal(values.verifyInBrowser, '/usr/bin/chromium');
});

test('--public-url is not required if --listen is one address', () => {
  for (const listen of ['127.0.0.1:8480', '[::1]:8480', 'localhost:8480', '10.0.0.0:1', '[fd00::]:1']) {
    assert.equal(read([...needed, '--listen', listen]).outcome, 'run', listen);
  }
  const rows = ['0.0.0.0:8480', '[::]:8480', ':8480'].map((listen) =>
    read([...needed, '--listen', listen, '--public-url', 'http://exports.example.com']),
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['run', 'run', 'run'],
  );
});

test('a missing or malformed flag is refused with the expected form', () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['--data', 'data'], /--keys-file .*is required/],
    [['--keys-file', 'keys'], /--data .*is required/],
    [[...needed, '--orgin', 'x'], /did you mean --origin/],
    [[...needed, '--link-lifetime', '15'], /duration/],
    [[...needed, '--concurrency', '0'], /at least 1/],
    [[...needed, '--keep-jobs', '-1'], /at least 1/],
    [[...needed, '--listen', '8480'], /HOST:PORT/],
    [[...needed, '--public-url', 'exports.example.com'], /http/],
    [[...needed, '--listen', '0.0.0.0:8480'], /needs --public-url/],
    [[...needed, '--listen', ':8480'], /needs --public-url/],
    [[...needed, '--listen', '0:8480'], /needs --public-url/],
    [[...needed, '--listen', '[::]:8480'], /needs --public-url/],
    [[...needed, '--listen', '[0:0:0:0:0:0:0:0]:8480'], /needs --public-url/],
    [[...needed, '--listen', '[::ffff:0.0.0.0]:8480'], /needs --public-url/],
  ];
  for (const [args, words] of rows) {
    const invocation = read(args);
    assert.ok(invocation.outcome === 'refuse', args.join(' '));
    assert.match(invocation.text, words);
  }
});
