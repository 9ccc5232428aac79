// Air-gap kits as a user makes and imports them: processes and files, from `kit create` to a bundle server that serves what
// was imported, in a network namespace without a route too.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../../support/child-program.ts';
import { runInProcess, startInProcess } from '../../support/cli-in-process.ts';
import { mustRun } from '../../support/command.ts';
import { noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { readTarFiles } from '../../support/kit-builder.ts';
import { maySkip } from '../../support/may-skip.ts';
import { encryptedKey, minisignKeys } from '../../support/minisign-keys.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { noise } from '../../support/noise.ts';
import { programFile } from '../../support/program-file.ts';
import { type TarFiles, tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withDisk } from './environment/small-disk.ts';

const program = programFile('static-export');
const server = programFile('bundle-server');
const isMissing = spawnSync('minisign', ['-v']).error !== undefined;
const noMinisign = maySkip('minisign', isMissing && 'minisign is not installed');

const pages: TarFiles = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>', '.env': 'hidden' };
const edited: TarFiles = { ...pages, 'a/index.html': '<h1>a, edited</h1>' };

interface Workplace {
  readonly folder: string;
  readonly file: (name: string) => string;
  /**
   * In a command, `@name` is a file of the folder.
   *
   * @returns the document of a command that must succeed
   */
  readonly done: (command: string) => Promise<ReturnType<typeof JSON.parse>>;
  /** @returns the document of a failure with this exit code */
  readonly fails: (exitCode: number, command: string) => Promise<ReturnType<typeof JSON.parse>>;
  readonly create: (name: string, options: string) => Promise<ReturnType<typeof JSON.parse>>;
}

async function workplace(t: TestContext): Promise<Workplace> {
  const folder = temporaryFolder(t);
  const file = (name: string): string => join(folder, name);
  const keys = await minisignKeys();
  writeFileSync(file('kit.key'), keys.secretText);
  writeFileSync(file('kit.pub'), keys.publicText);
  writeFileSync(file('site.tar.gz'), gzipSync(tarOf(pages)));
  writeFileSync(file('edited.tar.gz'), gzipSync(tarOf(edited)));
  const document = async (exitCode: number, command: string) => {
    const words = command.split(' ').map((word) => (word.startsWith('@') ? file(word.slice(1)) : word));
    const { code, stdout, stderr } = await runInProcess(['kit', ...words, '-o', 'json']);
    assert.equal(code, exitCode, stderr);
    return JSON.parse(stdout);
  };
  return {
    folder,
    file,
    done: (command) => document(0, command),
    fails: document,
    create: (name, options) => document(0, `create --to @${name} --sign-key @kit.key ${options}`),
  };
}

test('from kit create to a server that serves: a store is filled, and no link is needed', async (t) => {
  const { folder, file, done, create } = await workplace(t);
  const created = await create('docs.sxkit', '--bundle @site.tar.gz --bundle-version v1');
  assert.deepEqual([created.kind, created.version, created.pages], ['CreatedKit', 'v1', 2]);
  const shown = await done('inspect @docs.sxkit');
  assert.deepEqual(
    [shown.kind, shown.signatureChecked, shown.bundles],
    ['KitSummary', false, created.bundles],
  );
  const verified = await done('verify @docs.sxkit --key @kit.pub');
  assert.deepEqual([verified.kind, verified.valid], ['KitVerdict', true]);
  const store = file('store');
  await done(`import @docs.sxkit --key @kit.pub --to-store ${store}`);
  const [port, admin] = [await findFreePort(), await findFreePort()];
  const bundle = join(store, 'bundle.json');
  const flags = ['--store', store, '--bundle-file', bundle, '--listen', `127.0.0.1:${port}`];
  const child = startProgram(process.execPath, {
    args: [server, ...flags, '--admin-listen', `127.0.0.1:${admin}`],
  });
  try {
    const text = await eventually('the site is served', async () => {
      if (child.hasExited()) throw new Error(child.tail());
      const response = await fetch(`http://127.0.0.1:${port}/a/`);
      return response.ok ? response.text() : undefined;
    });
    assert.equal(text, '<h1>a</h1>');
    const status = JSON.parse(await (await fetch(`http://127.0.0.1:${admin}/status`)).text());
    assert.deepEqual([status.active.digest, status.active.version], [created.digest, 'v1']);
    const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
    assert.match(metrics, /^bundle_server_is_current 1$/m);
    assert.equal((await fetch(`http://127.0.0.1:${port}/.env`)).status, 404);
  } finally {
    // A drain takes seconds.
    await child.stop('SIGKILL');
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('.')),
    [],
  );
});

test('import and server need no network: a namespace without a route', { skip: noNamespaces }, async (t) => {
  const { file, create } = await workplace(t);
  await create('docs.sxkit', '--bundle @site.tar.gz');
  const importing = [
    process.execPath,
    program,
    'kit',
    'import',
    file('docs.sxkit'),
    '--key',
    file('kit.pub'),
  ];
  await mustRun(['unshare', '--net', ...importing, '--to-store', file('store')]);
  const flags = ['--store', file('store'), '--bundle-file', file('none'), '--listen', '127.0.0.1:8080'];
  const served = [process.execPath, server, ...flags, '--admin-listen', '127.0.0.1:9090'];
  const inside = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...served];
  const child = startProgram('/usr/bin/unshare', { args: inside });
  const script = 'process.stdout.write(await (await fetch("http://127.0.0.1:8080/")).text())';
  try {
    const enter = [`--net=/proc/${child.pid}/ns/net`, process.execPath, '--input-type=module', '-e', script];
    const home = await eventually('the site is served', async () => {
      if (child.hasExited()) throw new Error(child.tail());
      const { stdout } = await promisify(execFile)('/usr/bin/nsenter', enter);
      return stdout.startsWith('<h1>') ? stdout : undefined;
    });
    assert.equal(home, '<h1>home</h1>');
  } finally {
    await child.stop('SIGKILL');
  }
});

test('a kit becomes a copy in a registry, and a server serves it by the printed reference and digest', {
  skip: noRegistry,
}, async (t) => {
  const password = 'pass-word-of-docs';
  const registry = await startDockerRegistry({ users: { docs: password } });
  t.after(() => registry.close());
  const { file, done, fails, create } = await workplace(t);
  await create('docs.sxkit', '--bundle @site.tar.gz --bundle-version v1');
  mkdirSync(file('creds'));
  writeFileSync(file('creds/username'), 'docs');
  writeFileSync(file('creds/password'), 'wrong');
  const to = `--to oci://${registry.host}/docs/site --mirror-credentials @creds`;
  const state = '--allow-http-mirror --state @imports.json';
  const args = `import @docs.sxkit --key @kit.pub ${to} ${state}`;
  const refused = await fails(9, args);
  assert.equal(refused.code, 'Denied');
  writeFileSync(file('creds/password'), password);
  const { bundles } = await done(args);
  const [{ ref, digest }] = bundles;
  assert.match(ref, /^oci:\/\/.*@sha256:[0-9a-f]{64}$/);

  const [port, admin] = [await findFreePort(), await findFreePort()];
  const child = startProgram(process.execPath, {
    args: [
      ...[server, '--bundle-ref', ref, '--digest', digest, '--mirror-credentials', file('creds')],
      ...['--allow-private-mirror', '--allow-http-mirror', '--store', file('empty-store')],
      ...['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${admin}`],
    ],
  });
  try {
    const text = await eventually('the site is served', async () => {
      if (child.hasExited()) throw new Error(child.tail());
      const response = await fetch(`http://127.0.0.1:${port}/a/`);
      return response.ok ? response.text() : undefined;
    });
    assert.equal(text, '<h1>a</h1>');
  } finally {
    // A drain takes seconds.
    await child.stop('SIGKILL');
  }
});

test('a stock minisign checks a kit that tar has unpacked', { skip: noMinisign }, async (t) => {
  const { folder, file, create } = await workplace(t);
  await create('docs.sxkit', '--bundle @site.tar.gz');
  await mustRun(['tar', 'xf', file('docs.sxkit'), '-C', folder]);
  await mustRun(['minisign', '-V', '-p', file('kit.pub'), '-m', file('kit.json')]);
});

test('an encrypted key signs with the file of its password', async (t) => {
  const { file, fails, done } = await workplace(t);
  writeFileSync(file('b.key'), encryptedKey.text);
  writeFileSync(file('password'), `${encryptedKey.password}\n`);
  const create = 'create --to @b.sxkit --sign-key @b.key --bundle @site.tar.gz';
  assert.equal((await fails(2, create)).code, 'SignKeyEncrypted');
  await done(`${create} --sign-password-file @password`);
  await done(`verify @b.sxkit --key-text ${encryptedKey.publicLine}`);
});

test('the same inputs and time give the same bytes, in one file and in parts', async (t) => {
  const { file, done, create } = await workplace(t);
  const inputs = '--bundle @site.tar.gz --created-time 2026-01-31T12:00:00Z';
  const { sequence } = await create('a.sxkit', inputs);
  assert.equal(sequence, Date.UTC(2026, 0, 31, 12) / 1000);
  await create('b.sxkit', inputs);
  assert.deepEqual(readFileSync(file('a.sxkit')), readFileSync(file('b.sxkit')));
  const { paths } = await create('c.sxkit', `${inputs} --part-size 4KiB`);
  assert.ok(paths.length > 1);
  assert.deepEqual(
    Buffer.concat(paths.map((path: string) => readFileSync(path))),
    readFileSync(file('a.sxkit')),
  );
  for (const given of [paths[0], paths.join(' '), '@c.sxkit']) {
    await done(`verify ${given} --key @kit.pub`);
  }
});

test('a delta arrives at the digest, and without its base it names what is missing', async (t) => {
  const { file, done, fails, create } = await workplace(t);
  const base = await create('1.sxkit', '--bundle @site.tar.gz --sequence 1');
  const bundle = '--bundle @edited.tar.gz';
  const delta = await create('2.sxkit', `${bundle} --base @site.tar.gz --sequence 2`);
  assert.deepEqual([delta.bundles[0].kind, delta.bundles[0].baseDigest], ['delta', base.digest]);
  const key = '--key @kit.pub';
  const refused = await fails(6, `import @2.sxkit ${key} --to-folder @public`);
  assert.equal(refused.code, 'BaseMissing');
  assert.ok(refused.message.includes(base.digest));
  assert.ok(!existsSync(file('public')));
  for (const [at, one] of ['site.tar.gz', '1.sxkit'].entries()) {
    const to = file(`public-${at}`);
    await done(`import @2.sxkit ${key} --to-folder ${to} --base @${one}`);
    assert.equal(readFileSync(join(to, 'a/index.html'), 'utf8'), edited['a/index.html']);
  }
  await done(`import @1.sxkit ${key} --to-store @store`);
  const { digest } = await done(`import @2.sxkit ${key} --to-store @store`);
  assert.equal(digest, delta.digest);
  const older = await fails(6, `import @1.sxkit ${key} --to-store @store`);
  assert.equal(older.code, 'KitOlder');
  await done(`import @1.sxkit ${key} --to-store @store --allow-older`);
  const against = await create('3.sxkit', `${bundle} --base @1.sxkit`);
  assert.equal(against.bundles[0].baseDigest, base.digest);
  const chained = `create --to @4.sxkit --sign-key @kit.key ${bundle} --base @2.sxkit`;
  assert.equal((await fails(2, chained)).code, 'BaseIsDelta');
});

const sha = (bytes: Buffer | string): string => hash('sha256', bytes, 'hex');

/** An image of one layer, as an OCI archive. */
function imageFiles(): TarFiles {
  const layer = noise(5000);
  const config = '{"architecture":"amd64","os":"linux"}';
  const descriptor = (mediaType: string, bytes: Buffer | string) => ({
    mediaType,
    digest: `sha256:${sha(bytes)}`,
    size: Buffer.byteLength(bytes),
  });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  const root = descriptor('application/vnd.oci.image.manifest.v1+json', manifest);
  const annotations = { 'org.opencontainers.image.ref.name': '0.1.0' };
  return {
    'oci-layout': '{"imageLayoutVersion":"1.0.0"}',
    'index.json': JSON.stringify({ schemaVersion: 2, manifests: [{ ...root, annotations }] }),
    ...Object.fromEntries([layer, config, manifest].map((bytes) => [`blobs/sha256/${sha(bytes)}`, bytes])),
  };
}

test('image, charts and SBOM travel with the bundle, and come out as they were', async (t) => {
  const { file, done, fails, create } = await workplace(t);
  const image = imageFiles();
  writeFileSync(file('image.tar'), tarOf(image));
  const chart = gzipSync(tarOf({ 'docs/Chart.yaml': 'apiVersion: v2\nname: docs\nversion: 0.1.0+1\n' }));
  writeFileSync(file('docs-0.1.0.tgz'), chart);
  writeFileSync(file('sbom.json'), '{"spdxVersion":"SPDX-2.3"}');
  const others = '--image @image.tar --chart @docs-0.1.0.tgz --sbom @sbom.json';
  const { parts } = await create('all.sxkit', `--bundle @site.tar.gz ${others}`);
  assert.deepEqual(parts, [
    { kind: 'image', name: 'image.tar' },
    { kind: 'chart', name: 'docs-0.1.0.tgz' },
    { kind: 'sbom', name: 'sbom.json' },
  ]);
  const files = readTarFiles(readFileSync(file('all.sxkit')));
  const { manifests } = JSON.parse(String(files.get('index.json')));
  const names = manifests.map(
    (one: { annotations: Record<string, string> }) => Object.values(one.annotations)[0],
  );
  assert.deepEqual(names.slice(1), ['0.1.0', 'docs-0.1.0_1', 'sbom']);
  const key = '--key @kit.pub --parts-to @parts';
  await done(`import @all.sxkit ${key} --to-folder @public`);
  assert.deepEqual(readFileSync(join(file('parts'), 'docs-0.1.0.tgz')), chart);
  assert.equal(readFileSync(join(file('parts'), 'sbom.json'), 'utf8'), '{"spdxVersion":"SPDX-2.3"}');
  const unpacked = readTarFiles(readFileSync(join(file('parts'), 'image.tar')));
  for (const [name, bytes] of Object.entries(image)) {
    if (name.startsWith('blobs/')) assert.deepEqual(unpacked.get(name), Buffer.from(bytes), name);
  }
  // What was written is an OCI archive again.
  await create('again.sxkit', '--image @parts/image.tar');
  assert.equal((await fails(2, `import @all.sxkit ${key}`)).code, 'DestinationExists');
  await done(`import @all.sxkit ${key} --replace`);
});

const pack = 'create --to @x.sxkit --sign-key @kit.key';
const importing = 'import @docs.sxkit --key';
const badInput: readonly (readonly [what: string, exitCode: number, code: string, command: string])[] = [
  [
    'a key that is missing',
    2,
    'KeyUnreadable',
    'create --to @x.sxkit --sign-key @none --bundle @site.tar.gz',
  ],
  ['a public key', 2, 'SignKeyInvalid', 'create --to @x.sxkit --sign-key @kit.pub --bundle @site.tar.gz'],
  ['a bundle that is missing', 2, 'ArchiveUnreadable', `${pack} --bundle @none`],
  ['a bundle that servers would reject', 6, 'BackslashInPath', `${pack} --bundle @bad.tar`],
  ['one content twice', 2, 'BundleTwice', `${pack} --bundle @site.tar.gz --bundle @site.tar.gz`],
  ['a name without the ending', 2, 'UnknownKitName', `${pack} --to @x.tar --bundle @site.tar.gz`],
  ['a missing folder', 2, 'DestinationMissing', `${pack} --to @none/x.sxkit --bundle @site.tar.gz`],
  ['an image that is not one', 2, 'ImageInvalid', `${pack} --image @site.tar.gz`],
  ['an image without one of its blobs', 2, 'ImageIncomplete', `${pack} --image @image.tar`],
  ['a chart that is not one', 2, 'ChartInvalid', `${pack} --chart @site.tar.gz`],
  ['nothing to pack', 2, 'WrongUsage', pack],
  ['a kit without a key', 2, 'WrongUsage', 'verify @docs.sxkit'],
  ['a key that is not one', 2, 'KeyInvalid', 'verify @docs.sxkit --key-text RWx'],
  ['an import without a target', 2, 'WrongUsage', `${importing} @kit.pub`],
  ['a registry without a state', 2, 'WrongUsage', `${importing} @kit.pub --to oci://localhost/x`],
  ['a kit that is cut off', 6, 'KitDamaged', 'verify @cut.sxkit --key @kit.pub'],
  ['an archive instead of a kit', 6, 'NotAKit', 'inspect @site.tar.gz'],
  ['a signature of another key', 6, 'SignatureInvalid', `${importing} @other.pub --to-folder @public`],
];

test('bad input: its exit code, its code, and nothing is written', async (t) => {
  const { folder, file, fails, create } = await workplace(t);
  await create('docs.sxkit', '--bundle @site.tar.gz');
  writeFileSync(file('bad.tar'), tarOf({ 'a\\b': 'x' }));
  const parts = Object.entries(imageFiles()).filter(([, bytes]) => bytes.length !== 5000);
  writeFileSync(file('image.tar'), tarOf(Object.fromEntries(parts)));
  writeFileSync(file('cut.sxkit'), readFileSync(file('docs.sxkit')).subarray(0, 6000));
  const [comment = '', key = ''] = readFileSync(file('kit.pub'), 'utf8').split('\n');
  const bytes = Buffer.from(key, 'base64');
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  writeFileSync(file('other.pub'), `${comment}\n${bytes.toString('base64')}\n`);
  const before = readdirSync(folder).sort();
  for (const [what, exitCode, code, command] of badInput) {
    await t.test(what, async () => {
      assert.equal((await fails(exitCode, command)).code, code);
      assert.deepEqual(readdirSync(folder).sort(), before);
    });
  }
});

test('a full disk ends with 9 or 5, and leaves no part of a kit or a site', {
  skip: noNamespaces,
}, async (t) => {
  const { file, fails, done, create } = await workplace(t);
  writeFileSync(file('large.tar'), tarOf({ ...pages, 'large.bin': noise(300_000) }));
  await create('docs.sxkit', '--bundle @large.tar');
  const key = '--key @kit.pub';
  await withDisk(file('disk'), '128k', async (disk) => {
    const full = await fails(9, 'create --to @disk/x.sxkit --sign-key @kit.key --bundle @large.tar');
    assert.match(full.message, /its disk is full$/);
    const folder = await fails(9, `import @docs.sxkit ${key} --to-folder @disk/public`);
    assert.equal(folder.code, 'DestinationNotWritten');
    assert.equal((await fails(5, `import @docs.sxkit ${key} --to-store @disk/store`)).code, 'StoreFull');
    const left = readdirSync(disk.path, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.endsWith('.json'),
    );
    assert.deepEqual(left.sort(), ['store', 'store/bundles']);
    disk.remount('size=8m');
    await done(`import @docs.sxkit ${key} --to-store @disk/store`);
  });
});

test('Ctrl-C ends a creation in order, and leaves nothing', async (t) => {
  const { folder, file } = await workplace(t);
  mkdirSync(file('out'));
  const files = Object.fromEntries(
    Array.from({ length: 24 }, (_, at) => [`${at}.bin`, noise(1_000_000, `${at}`)]),
  );
  writeFileSync(file('large.tar'), tarOf(files));
  const to = ['--to', file('out/x.sxkit'), '--bundle', file('large.tar')];
  let atSignal: readonly string[] = [];
  const creating = startInProcess(['kit', 'create', ...to, '--sign-key', file('kit.key')], {
    onStderr: (text) => {
      if (!text.includes('Compressing')) return;
      atSignal = [text];
      // Another thread compresses by then.
      setImmediate(() => creating.signal('SIGINT'));
    },
  });
  const { code, stderr } = await creating.result;
  assert.equal(code, 130, stderr);
  assert.equal(atSignal.length, 1);
  assert.deepEqual(readdirSync(file('out')), [], folder);
});
