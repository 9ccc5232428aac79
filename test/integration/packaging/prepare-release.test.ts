// `npm run release:prepare` on a copy of the whole project in a repository of its own, as a person runs it: what it refuses,
// what it changes, and that the checks of generated files pass afterwards.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../../..');
const copy = join(temporaryFolder(), 'project');
const git = (...args: readonly string[]): Promise<string> =>
  mustRun(['git', '-C', copy, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args]);
const npm = (...args: readonly string[]): Promise<CommandResult> =>
  runCommand(['npm', '--prefix', copy, 'run', '--silent', ...args]);
const prepare = (...args: readonly string[]): Promise<CommandResult> => npm('release:prepare', '--', ...args);
const read = (file: string): string => readFileSync(join(copy, file), 'utf8');
const changed = (): Promise<string> => git('status', '--porcelain');

before(async () => {
  mkdirSync(copy);
  // As it is here, with what is not committed yet.
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    if (file.startsWith('test/') && !file.startsWith('test/support/assert-node')) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  await git('init', '--quiet');
  appendFileSync(join(copy, '.git/info/exclude'), 'node_modules\n');
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'all: start');
});

test('a wrong command line names --help, --help prints the usage, and a tree with changes is refused by its files', async () => {
  for (const args of [[], ['0.2.0', '0.3.0'], ['0.2.0', '--day', '1']]) {
    const { code, stderr } = await prepare(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^release:prepare: [^\n]+; run "npm run release:prepare -- --help"\n$/);
  }
  const unknown = await npm('check:version', '--', '--tags', 'v1');
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [2, `check:version: Unknown option '--tags'; run "npm run check:version -- --help"\n`],
  );
  for (const [script, usage] of [
    ['release:prepare', /^Usage: npm run release:prepare X\.Y\.Z .*\n[\s\S]*--date/],
    ['check:version', /^Usage: npm run check:version .*\n[\s\S]*--tag/],
  ] as const) {
    const help = await npm(script, '--', '--help');
    assert.deepEqual([help.code, help.stderr], [0, '']);
    assert.match(help.stdout, usage);
  }
  appendFileSync(join(copy, 'README.md'), '\nA change.\n');
  const { code, stderr } = await prepare('9.8.7');
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^release:prepare: these files have changes; commit or stash them first:\n M README\.md\n$/,
  );
  await git('checkout', '--quiet', 'README.md');
  assert.equal(await changed(), '');
});

test('outside of git both commands say so in one line', async () => {
  // The repository of another folder does not list the files of this one.
  const env = { GIT_DIR: join(copy, 'none') };
  for (const [script, ...args] of [['release:prepare', '9.8.7'], ['check:version']] as const) {
    const { code, stderr } = await runCommand(
      ['npm', '--prefix', copy, 'run', '--silent', script, '--', ...args],
      { env },
    );
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^${script}: git does not list the files of \\S+; install git, and run this in a clone .*\\n$`,
      ),
    );
  }
});

test('one command changes every place, the checks pass, and a second run changes nothing', async () => {
  const { code, stdout, stderr } = await prepare('9.8.7', '--date', '2031-02-03');
  assert.equal(code, 0, stderr);
  const names = stdout.matchAll(/^changed {2}(\S+)$/gm);
  const reported = [...names].map(([, name]) => name).sort();
  const status = (await git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n');
  assert.deepEqual(reported, status.map((line) => line.slice(3)).sort());
  for (const file of ['package.json', 'package-lock.json', 'Dockerfile', 'README.md', 'packaging/README.md'])
    assert.ok(read(file).includes('9.8.7'), file);
  assert.match(read('CHANGELOG.md'), /^## Unreleased\n\n## 9\.8\.7 - 2031-02-03$/m);
  const checks = await npm('check:generated');
  assert.deepEqual([checks.code, checks.stderr], [0, '']);
  const lock = JSON.parse(read('package-lock.json'));
  assert.deepEqual([lock.version, lock.packages[''].version], ['9.8.7', '9.8.7']);
  const before = await git('diff', 'HEAD');
  const again = await prepare('9.8.7');
  assert.deepEqual(
    [again.code, again.stdout],
    [0, '9.8.7 is prepared already; nothing to change.\n'],
    again.stderr,
  );
  assert.equal(await git('diff', 'HEAD'), before);
});

test('the tag of a release must be that of the version', async () => {
  const right = await npm('check:version', '--', '--tag', 'v9.8.7');
  assert.deepEqual([right.code, right.stderr], [0, '']);
  const wrong = await npm('check:version', '--', '--tag', 'v9.8.6');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^the tag v9\.8\.6 is not v9\.8\.7, which package\.json names; move the tag\n/);
});

test('after the release, the check asks for a line for changed sources and for a removed flag', async () => {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'packaging: release 9.8.7');
  const { code, stderr } = await prepare('9.8.8');
  assert.deepEqual(
    [code, stderr],
    [
      1,
      'release:prepare: Unreleased of CHANGELOG.md is empty; add a line for each change that users notice\n',
    ],
  );
  const file = 'src/operator/webhook/program.ts';
  await mustRun(['sed', '-i', 's/clientRate/hookRate/g', join(copy, file)]);
  const check = (): Promise<CommandResult> =>
    runCommand([process.execPath, join(copy, 'packaging/version/check-version.ts')]);
  const found = await check();
  assert.equal(found.code, 1);
  assert.deepEqual(found.stderr.trimEnd().split('\n'), [
    'src or charts differ from 9.8.7, but Unreleased of CHANGELOG.md is empty; add a line for the change',
    'flags: webhook-receiver --client-rate is removed; name --client-rate in a line under "### Removed" of Unreleased',
  ]);
  await mustRun([
    ...[
      'sed',
      '-i',
      '0,/^## Unreleased$/s//## Unreleased\\n\\n### Changed\\n\\n- `--client-rate` is `--hook-rate` now./',
    ],
    join(copy, 'CHANGELOG.md'),
  ]);
  const explained = await check();
  assert.deepEqual([explained.code, explained.stderr], [0, '']);
});
