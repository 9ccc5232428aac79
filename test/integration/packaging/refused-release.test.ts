// A release whose packages have a severe advisory, by the real command on a copy of the project: it ends before charts and
// image are made, and leaves no file that a later `--from` could push. npm is a stub that knows the advisory.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = temporaryFolder();
const [copy, stubs, list] = [join(folder, 'project'), join(folder, 'stubs'), join(folder, 'calls')];
const out = join(folder, 'release');

const record = `printf '%s\\n' "$(basename "$0") $*" >> '${list}'`;
const metafile = JSON.stringify({
  outputs: { 'a.mjs': { inputs: { 'node_modules/parser/index.js': { bytesInOutput: 1 } } } },
});
const report = JSON.stringify({
  auditReportVersion: 2,
  vulnerabilities: {
    parser: {
      via: [{ title: 'Reads too far', url: 'https://advisories.example.com/GHSA-1', severity: 'high' }],
    },
  },
});
const scripts: Readonly<Record<string, string>> = {
  npm: `
case "$1" in
  ci) ln -s '${join(root, 'node_modules')}' node_modules ;;
  run) mkdir -p "$OUT"; for name in programs static-export bundle-server; do echo '${metafile}' > "$OUT/$name.meta.json"; done ;;
  audit) [ -z "\${AUDIT_FAILS-}" ] || { echo 'npm warn audit 405 Method Not Allowed - POST https://npm.example.com/x - no' >&2; exit 1; }
    echo '${report}' ;;
esac`,
  helm: '',
  buildah: '',
};

before(async () => {
  for (const [name, script] of Object.entries({ ...scripts })) {
    mkdirSync(stubs, { recursive: true });
    writeFileSync(join(stubs, name), `#!/bin/sh\nset -eu\n${record}\n${script}\n`);
    chmodSync(join(stubs, name), 0o755);
  }
  // As it is here, with what is not committed yet.
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files) {
    if (file === '' || file.startsWith('test/') || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  // Next to the copy, because its tree must not differ from its commit.
  await mustRun(['ln', '-s', join(root, 'node_modules'), join(folder, 'node_modules')]);
  const git = ['git', '-C', copy, '-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  await mustRun([...git, 'init', '--quiet']);
  await mustRun([...git, 'add', '--all']);
  await mustRun([...git, 'commit', '--quiet', '--message', 'all: start']);
});

async function release(
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  writeFileSync(list, '');
  const command = [process.execPath, join(copy, 'packaging/release/release.ts'), ...flags];
  return runCommand(command, { env: { PATH: `${stubs}:${process.env['PATH'] ?? ''}`, ...env } });
}

/** The calls that make something. */
const made = (): readonly string[] =>
  readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => /^(?:helm|buildah|npm sbom)/.test(line) && !/version/.test(line));

const asked = (): boolean => readFileSync(list, 'utf8').includes('\nnpm audit ');

test('a release with a severe advisory leaves no file and makes no image', async () => {
  const { code, stdout, stderr } = await release(['--out', out, '--accept-advisory', 'GHSA-2']);
  assert.equal(code, 1, stdout);
  assert.match(stdout, /^ {2}high parser: Reads too far \(GHSA-1\)$/m);
  assert.match(stderr, /Update them, or release with --accept-advisory GHSA-1\.\n$/);
  assert.deepEqual(readdirSync(out), []);
  assert.deepEqual(made(), []);
  assert.ok(asked());
  const pushed = await release(['--from', out, '--push', 'registry.example.com/docs']);
  assert.equal(pushed.code, 1);
  assert.match(pushed.stderr, /has no /);
});

test('a required audit that fails leaves an earlier release as it is, and says why and what to do', async () => {
  writeFileSync(join(out, 'checksums.txt'), 'of an earlier release\n');
  const { code, stderr } = await release(['--out', out, '--require-audit'], { AUDIT_FAILS: '1' });
  assert.equal(code, 1);
  assert.match(stderr, /could not be audited: npm audit failed: 405 Method Not Allowed\. Set npm_config_/);
  assert.ok(!stderr.includes('npm.example.com'));
  assert.deepEqual([readdirSync(out), made()], [['checksums.txt'], []]);
  assert.equal(readFileSync(join(out, 'checksums.txt'), 'utf8'), 'of an earlier release\n');
});

for (const [name, flags, env] of [
  ['an accepted advisory', ['--accept-advisory', 'GHSA-1'], {}],
  ['an audit that fails and is not required', [], { AUDIT_FAILS: '1' }],
] as const) {
  test(`a release goes on with ${name}`, async () => {
    await release(['--out', out, ...flags], env);
    assert.ok(asked());
    // The stub packs no chart, so that the release ends there.
    assert.match(made()[0] ?? '', /^helm package /);
  });
}

test('a push of a folder takes no flags of the audit, which was where the release was made', async () => {
  for (const flags of [['--require-audit'], ['--accept-advisory', 'GHSA-1']]) {
    const order = ['--from', out, '--push', 'registry.example.com/docs', ...flags];
    const { code, stderr } = await release(order);
    assert.equal(code, 1);
    assert.match(stderr, /^--from makes no release and audits nothing\. Set --require-audit and /);
  }
});
