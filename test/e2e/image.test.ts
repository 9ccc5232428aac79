// The image as a user builds it from the sources: the Dockerfile's own `npm ci` and bundling on local bases. It adds
// only text to its base, the same for every architecture and the same as from `npm run build`, and lists its packages.

import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import { basePackages, platforms } from '../../packaging/base/base-lock.ts';
import { findBaseRoot } from '../support/image/base-root.ts';
import { buildForeign, buildFromSources } from '../support/image/test-images.ts';
import { hashOf, type UnpackedImage, unpackImage } from './unpacked-image.ts';

const documents = 'usr/share/doc/static-export-operator';
const billShape = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.object({ name: z.string(), version: z.string(), purl: z.string() })),
});
const metafileShape = z.object({
  outputs: z.record(
    z.string(),
    z.object({ inputs: z.record(z.string(), z.object({ bytesInOutput: z.number() })) }),
  ),
});
const manifestShape = z.object({ name: z.string(), version: z.string() });

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** The programs of an image are those of the checkout, byte for byte. */
async function assertPrograms(image: UnpackedImage, programs: string): Promise<void> {
  const names = await filesBelow(programs);
  assert.ok(names.includes('operator.mjs') && names.includes('bundle-server.mjs'));
  const app = join(image.root, 'app');
  const found = await filesBelow(app);
  assert.deepEqual(
    found.filter((name) => !name.startsWith('compiled/')),
    names,
  );
  for (const name of names) assert.equal(await hashOf(join(app, name)), await hashOf(join(programs, name)));
  for (const name of names.filter((one) => one.endsWith('.mjs'))) {
    // V8 keeps a program's text as long as it runs, with two bytes for each character if one of them needs it.
    const isText = isAscii(await readFile(join(app, name)));
    assert.ok(isText, `${name} is no ASCII: it would take twice the memory`);
  }
}

suite('the image, built from the sources', () => {
  let built: Awaited<ReturnType<typeof buildFromSources>>;
  let image: UnpackedImage;

  before(async () => {
    built = await buildFromSources();
    image = await unpackImage(built.archive, join(dirname(built.archive), 'unpacked'));
  });
  after(() => built?.remove());

  test('its programs are those of the checkout, byte for byte, without machine code', async () => {
    assert.deepEqual((await readdir(image.root)).sort(), ['app', 'usr'], 'nothing is put anywhere else');
    assert.deepEqual(await readdir(join(image.root, 'usr/share/doc')), ['static-export-operator']);
    await assertPrograms(image, built.programs);
    const files = await readdir(image.root, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const start = (await readFile(join(file.parentPath, file.name))).subarray(0, 4).toString('latin1');
      assert.ok(start !== '\u007fELF' && !file.name.endsWith('.node'), file.name);
    }
    const [cache = '', ...more] = await readdir(join(image.root, 'app/compiled'));
    assert.match(cache, /^v26\..*-65532$/);
    assert.deepEqual(more, []);
    const compiled = await readdir(join(image.root, 'app/compiled', cache));
    const sizes = await Promise.all(
      compiled.map(async (name) => (await stat(join(image.root, 'app/compiled', cache, name))).size),
    );
    const largerThan = (bytes: number): number => sizes.filter((size) => size > bytes).length;
    assert.equal(largerThan(100_000), 4, 'the programs of the charts in one file, and the mirror’s thread');
    assert.ok(
      largerThan(30_000) >= 9,
      'and the pieces of the server, which are loaded after its flags, with its threads',
    );
  });

  test('it has labels, runs as an unprivileged user, and needs no shell', () => {
    const { config } = image;
    assert.equal(config.User, '65532:65532');
    assert.ok(config.Env.includes('HOME=/home/nonroot'), 'also for a user id without an account');
    assert.deepEqual(config.Entrypoint, ['/nodejs/bin/node', '/app/entrypoint.mjs']);
    const label = (name: string): string | undefined => config.Labels[`org.opencontainers.image.${name}`];
    assert.equal(label('version'), '1.2.3');
    assert.equal(label('revision'), 'abc');
    assert.equal(label('source'), 'https://git.example.com/docs/operator');
    assert.equal(label('base.name'), undefined, 'it stands on files of its own');
    assert.equal(label('licenses'), 'Apache-2.0');
    assert.ok(
      config.Env.every((variable) => !/EXTRA_CA|TOKEN|KEY/.test(variable)),
      'nothing of the builder’s',
    );
  });

  test('it contains its licence, and name, version and licence text of every bundled package', async (t) => {
    const folder = join(image.root, documents);
    const names = ['LICENSE', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'];
    assert.deepEqual((await readdir(folder)).sort(), names);
    const { components } = billShape.parse(JSON.parse(await readFile(join(folder, 'sbom.cdx.json'), 'utf8')));
    const listed = components.map(({ name, version }) => `${name} ${version}`);
    const bundled = await bundledPackages(built.metafiles);
    assert.ok(bundled.length > 50);
    assert.deepEqual(
      bundled.filter((one) => !listed.includes(one)),
      [],
      'what the bundler took is in the bill of materials',
    );
    const notices = await readFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const headings = [...notices.matchAll(/\n-{80}\n\n(.+)\n/g)].map(([, heading]) => heading);
    assert.deepEqual(headings, listed, 'and each of these has its notice');
    assert.match(notices, /\n\nzod \d[\d.]*\nMIT\n\nMIT License\n\nCopyright/);
    t.diagnostic(`${bundled.length} packages went into the programs, ${listed.length} are listed`);
  });
});

suite('the base of the image', () => {
  for (const platform of platforms) {
    test(`on ${platform} it is Node with its libraries, and texts: no shell, no other program`, async () => {
      const root = await findBaseRoot(platform);
      // Not through the links of the root.
      const files = (await filesBelow(root)).filter((name) => !/^lib(?:64)?\//.test(name));
      const isNamed = (name: string): boolean =>
        /^(?:nodejs\/bin\/node|usr\/lib\/[a-z0-9_]+-linux-gnu\/[\w+-]+\.so\.\d+)$/.test(name);
      for (const name of files) {
        const { mode } = await stat(join(root, name));
        assert.equal((mode & 0o111) !== 0, isNamed(name), `${name} may be executed, or may not`);
      }
      assert.equal(files.filter(isNamed).length, 9);
      for (const name of ['tmp', 'home/nonroot']) {
        assert.equal((await stat(join(root, name))).mode & 0o7777, 0o1777, `any user id writes in ${name}`);
      }
    });

    test(`on ${platform} scanners find the distribution and each package with its source`, async () => {
      const root = await findBaseRoot(platform);
      assert.match(await readFile(join(root, 'etc/debian_version'), 'utf8'), /^13\.\d+\n$/);
      assert.match(await readFile(join(root, 'etc/os-release'), 'utf8'), /^VERSION_ID="13"$/m);
      const folder = join(root, 'var/lib/dpkg/status.d');
      assert.deepEqual((await readdir(folder)).sort(), basePackages);
      const [libc, libstdcxx] = await Promise.all(
        ['libc6', 'libstdc++6'].map((name) => readFile(join(folder, name), 'utf8')),
      );
      assert.match(libc ?? '', /^Package: libc6\nSource: glibc\nVersion: 2\.\d+/);
      assert.match(libstdcxx ?? '', /^Source: gcc-14$/m);
    });
  }
});

suite('the image for an architecture that its builder cannot run', () => {
  let built: Awaited<ReturnType<typeof buildForeign>>;

  before(async () => {
    built = await buildForeign('linux/arm64');
  });
  after(() => built?.remove());

  test('is built without running its programs, with the same programs and no compiled code', async () => {
    const image = await unpackImage(built.archive, join(dirname(built.archive), 'unpacked'));
    assert.equal(image.architecture, 'arm64');
    await assertPrograms(image, built.programs);
    assert.deepEqual(await readdir(join(image.root, 'app/compiled')), []);
    assert.equal(image.config.User, '65532:65532');
  });
});

/** Name and version of each package that is bundled into a program. */
async function bundledPackages(metafiles: readonly string[]): Promise<readonly string[]> {
  const read = metafiles.map(async (file) => metafileShape.parse(JSON.parse(await readFile(file, 'utf8'))));
  const outputs = (await Promise.all(read)).flatMap((one) => Object.values(one.outputs));
  const folders = new Set<string>();
  for (const { inputs } of outputs) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  const project = join(import.meta.dirname, '../..');
  const packages = [...folders].map(async (folder) => {
    const text = await readFile(join(project, folder, 'package.json'), 'utf8');
    const { name, version } = manifestShape.parse(JSON.parse(text));
    return `${name} ${version}`;
  });
  return Promise.all(packages);
}
