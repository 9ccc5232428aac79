// A release, made twice from two clones in two folders with other file times, another umask, locale and time zone: the same
// bytes. What is made is checked by the programs of users: sha256sum, minisign and tar. Releases the commit that is checked
// out, which is why the working tree must not differ from it.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { before, test } from 'node:test';
import { version } from '#platform/runtime/version.ts';
import { indexShape } from '../../../packaging/release/image-layout.ts';
import {
  chartFile,
  chartNames,
  imageFile,
  imageFiles,
  mandatoryFiles,
  packageFile,
  signatureFile,
} from '../../../packaging/release/release-files.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { fillBuilderRoot } from '../../support/image/base-root.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { requireHere } from '../requirement.ts';

const root = resolve(import.meta.dirname, '../../..');
for (const program of ['buildah', 'minisign']) {
  requireHere(spawnSync(program, ['-v']).error !== undefined && `${program} is not installed`);
}
// Groups that ran before wrote their records into green.json.
const status = ['status', '--porcelain', '--', '.', ':!test/extended/green.json'];
const changes = execFileSync('git', status, { cwd: root, encoding: 'utf8' });
requireHere(changes !== '' && `the working tree differs from its commit; commit it:\n${changes}`);

const folder = temporaryFolder();
let env: Readonly<Record<string, string>>;

before(async () => {
  const { helm } = await findClusterTools();
  env = { PATH: [dirname(process.execPath), dirname(helm), process.env['PATH']].join(':') };
  const { publicText, secretText } = await minisignKeys();
  await writeFile(join(folder, 'key'), secretText);
  await writeFile(join(folder, 'key.pub'), publicText);
});

/** A clone as another person has it. */
async function clone(name: string, umask: string, day: string): Promise<string> {
  const checkout = join(folder, name);
  await mkdir(dirname(checkout), { recursive: true });
  const steps = [
    `umask ${umask}`,
    'git clone --quiet "$1" "$2"',
    'cp -al "$3" "$2/node_modules"',
    'find "$2" -path "$2/node_modules" -prune -o -path "$2/.git" -prune -o -type f -exec touch --date="$4" {} +',
  ];
  const modules = await realpath(join(root, 'node_modules'));
  await mustRun(['sh', '-euc', steps.join('; '), 'sh', root, checkout, modules, day]);
  return checkout;
}

function release(
  checkout: string,
  umask: string,
  flags: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const order = [process.execPath, join(checkout, 'packaging/release/release.ts'), ...flags];
  const options = { env: { ...env, ...more }, timeoutMs: 1_500_000 };
  return runCommand(['sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...order], options);
}

async function sumsOf(out: string): Promise<Readonly<Record<string, string>>> {
  const sums: Record<string, string> = {};
  for (const name of (await readdir(out)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(out, name)), hash);
    sums[name] = hash.digest('hex');
  }
  return sums;
}

test('a tree that differs from its commit is refused, with what differs', async () => {
  const checkout = await clone('dirty', '022', '2026-01-01');
  await writeFile(join(checkout, 'src/left-behind.ts'), '\n');
  const { code, stdout, stderr } = await release(checkout, '022', ['--out', join(folder, 'none')]);
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(stderr, /^The working tree differs from the commit:\n {2}\?\? src\/left-behind\.ts\nCommit/);
});

test('two clones on two days give the same bytes, and users can check and install them', async (t) => {
  const source = 'https://git.example.com/docs/exports';
  const shared = [
    ...['--require-image', '--key', join(folder, 'key')],
    ...['--registry', 'registry.example.com/docs', '--source-url', source],
  ];
  // Both before the first release: a commit in between would be in one of them alone.
  const clones = [
    { umask: '022', more: { LANG: 'C', TZ: 'UTC' }, checkout: await clone('first', '022', '2026-01-01') },
    {
      umask: '077',
      more: { LANG: 'tr_TR.UTF-8', TZ: 'Asia/Tokyo' },
      checkout: await clone('another/folder with a longer name', '077', '2020-02-29'),
    },
  ];
  const outs: string[] = [];
  for (const { umask, more, checkout } of clones) {
    const out = join(folder, `out-${outs.length}`);
    const { code, stdout, stderr } = await release(checkout, umask, [...shared, '--out', out], more);
    assert.equal(code, 0, stdout + stderr);
    t.diagnostic(stdout);
    outs.push(out);
  }
  const [one = '', other = ''] = outs;
  const wanted = [...mandatoryFiles(version), ...imageFiles(version), signatureFile].sort();
  assert.deepEqual(await readdir(one).then((names) => names.sort()), wanted);
  // The report names each file that differs.
  assert.deepEqual(await sumsOf(other), await sumsOf(one));

  await mustRun(['sh', '-c', 'cd "$0" && sha256sum --check --strict --quiet checksums.txt', one]);
  await mustRun(['minisign', '-V', '-p', join(folder, 'key.pub'), '-m', join(one, 'checksums.txt')]);
  const summed = (await readFile(join(one, 'checksums.txt'), 'utf8')).trimEnd().split('\n');
  assert.equal(summed.length, wanted.length - 2, 'each file but the sums and their signature');

  const { helm } = await findClusterTools();
  for (const name of chartNames) {
    const chart = await mustRun([helm, 'show', 'chart', join(one, chartFile(name, version))]);
    assert.match(chart, new RegExp(`^sources:\\n- ${source}$`, 'm'));
    assert.match(chart, /image: registry\.example\.com\/docs\/static-export-operator:/);
  }

  const container = join(folder, 'container');
  await mkdir(container);
  await fillBuilderRoot(container);
  await copyFile(join(one, packageFile(version)), join(container, 'root/package.tgz'));
  const install = 'npm install --global --offline /root/package.tgz && static-export demo --once';
  const inContainer = [
    'env',
    '-i',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    'HOME=/root',
    '/usr/sbin/chroot',
    container,
  ];
  const steps = 'ip link set lo up; mount --bind /dev "$0/dev"; mount -t proc proc "$0/proc"; exec "$@"';
  for (const name of ['dev', 'proc']) await mkdir(join(container, name));
  const demo = await mustRun(
    [
      ...['unshare', '--mount', '--net', '--pid', '--fork', 'sh', '-euc', steps, container],
      ...[...inContainer, '/bin/sh', '-c', install],
    ],
    { timeoutMs: 120_000 },
  );
  assert.match(demo, /All \d+ claims hold/);

  const layout = join(folder, 'layout');
  await mkdir(layout);
  await mustRun(['tar', '-xf', join(one, imageFile(version)), '-C', layout]);
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const read = async (file: string) => indexShape.parse(JSON.parse(await readFile(file, 'utf8')));
  const [entry] = (await read(join(layout, 'index.json'))).manifests;
  const { manifests } = await read(blob(entry?.digest ?? ''));
  assert.deepEqual(
    manifests.map(({ platform }) => platform?.architecture),
    ['amd64', 'arm64'],
  );
  const layers = await Promise.all(manifests.map(async ({ digest }) => readFile(blob(digest), 'utf8')));
  const bases = layers.map((text) => /"layers":\[\{[^}]*"digest":"([^"]+)"/.exec(text)?.[1]);
  assert.notEqual(bases[0], bases[1], 'each platform is on its own base');
});
