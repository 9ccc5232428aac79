// The parts of a release that are functions of data: what is refused, which files there are, and the same bytes for the same
// contents. The whole of it is in test/extended/release.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyBytes } from '#mirror/kit/minisign.ts';
import { publishReadme, withRepository } from '../../../packaging/release/chart-text.ts';
import { formatChecksums, signChecksums, signedSubject } from '../../../packaging/release/checksums.ts';
import { packGzip, unpackGzip } from '../../../packaging/release/fixed-tar.ts';
import { storeRemoval } from '../../../packaging/release/image-archive.ts';
import {
  type ImageManifest,
  indexShape,
  sortIndex,
  withCompressedLayers,
} from '../../../packaging/release/image-layout.ts';
import { provenanceLine, releaseParameters } from '../../../packaging/release/provenance.ts';
import { chartNames, isReleaseFile, mandatoryFiles } from '../../../packaging/release/release-files.ts';
import { releaseNotes } from '../../../packaging/release/release-notes.ts';
import { releaseTable } from '../../../packaging/release/release-table.ts';
import { refuseTree } from '../../../packaging/release/release-tree.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { publishChart } from '../../../packaging/version/chart-annotations.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';

const versions = { 'package.json': '1.2.3', 'charts/a/Chart.yaml, version': '1.2.3' };

test('a clean tree of one version may be released', () => {
  assert.equal(refuseTree({ changes: [], versions, committedVersion: '1.2.3' }), undefined);
});

for (const [name, state, said] of [
  [
    'a changed file',
    { changes: [' M src/a.ts', '?? b'] },
    /differs from the commit:\n {3}M src\/a\.ts\n {2}\?\? b\n/,
  ],
  [
    'a version that is not committed',
    { committedVersion: '1.2.2' },
    /names version 1\.2\.3, and the commit names 1\.2\.2/,
  ],
  [
    'two versions',
    { versions: { ...versions, 'charts/b/Chart.yaml, appVersion': '1.2.0' } },
    /\n {2}charts\/b\/Chart\.yaml, appVersion: 1\.2\.0\n/,
  ],
  ['many changes', { changes: Array.from({ length: 12 }, (_, at) => `?? ${at}`) }, /\n {2}and 2 more\n/],
] as const) {
  test(`a tree is refused with what differs: ${name}`, () => {
    assert.match(refuseTree({ changes: [], versions, committedVersion: '1.2.3', ...state }) ?? '', said);
  });
}

const changelog = `# Changelog

## Unreleased: 1.3.0

### Added

- Something.

## 1.2.0 - 2026-01-02

### Fixed

- Another thing.
  With a second line.

## 1.1.0 - 2026-01-01
`;

test('the notes are the section of the version, released or not', () => {
  assert.equal(
    releaseNotes(changelog, '1.3.0'),
    '# static-export-operator 1.3.0\n\n### Added\n\n- Something.\n',
  );
  assert.match(
    releaseNotes(changelog, '1.2.0'),
    /^# static-export-operator 1\.2\.0\n\n### Fixed\n\n- Another thing\.\n {2}With a second line\.\n$/,
  );
});

test('links of notes lead into the sources of the tag, or are plain text', () => {
  const linked = changelog.replace(
    'Something.',
    '[Something](docs/a.md#b), as [a host](https://h.example.com/).',
  );
  const host = '[a host](https://h.example.com/)';
  assert.match(
    releaseNotes(linked, '1.3.0', 'https://git.example.com/docs/'),
    /\n- \[Something\]\(https:\/\/git\.example\.com\/docs\/blob\/v1\.3\.0\/docs\/a\.md#b\), as /,
  );
  assert.ok(releaseNotes(linked, '1.3.0').includes(`\n- Something, as ${host}.\n`));
});

test('notes are refused for a version without a section, and for an empty section', () => {
  assert.throws(() => releaseNotes(changelog, '1.2'), /no section of 1\.2/);
  assert.throws(() => releaseNotes(changelog, '9.9.9'), /no section of 9\.9\.9\. Add one/);
  assert.throws(() => releaseNotes(changelog, '1.1.0'), /lists nothing/);
});

test('checksums have one order, and their signature is of their bytes', async () => {
  const [one, other] = [
    { name: 'a.tgz', sha256: 'f'.repeat(64) },
    { name: 'b.yaml', sha256: '0'.repeat(64) },
  ];
  const text = formatChecksums([other, one]);
  assert.equal(text, `${'f'.repeat(64)}  a.tgz\n${'0'.repeat(64)}  b.yaml\n`);
  assert.equal(text, formatChecksums([one, other]));
  const { key } = await minisignKeys();
  const signature = signChecksums(text, '1.2.3', key);
  assert.equal(signature, signChecksums(text, '1.2.3', key));
  assert.match(signature, /\ntrusted comment: file:checksums\.txt version:1\.2\.3\n/);
  assert.match(signature, /^untrusted comment: signature of a static-export-operator release\n/);
  verifyBytes(Buffer.from(text), signature, key, signedSubject);
  assert.throws(() => verifyBytes(Buffer.from(`${text} `), signature, key, signedSubject));
  assert.throws(() => verifyBytes(Buffer.from(text), signature, key), /malformed/, 'it is not of a kit');
});

test('the provenance names the commit, the base, the parameters and each file', () => {
  const build = {
    commit: 'c'.repeat(40),
    source: 'https://git.example.com/a',
    builder: 'https://ci.example.com/b',
    parameters: { version: '1.2.3' },
    tools: { node: 'v26' },
    base: [
      {
        ...{ name: 'libc6', version: '2', kind: 'library' as const },
        ...{ purl: 'pkg:deb/debian/libc6@2?arch=arm64', digest: { sha256: '11' } },
      },
    ],
  };
  const line = provenanceLine(build, [
    { name: 'b', sha256: '2' },
    { name: 'a', sha256: '1' },
  ]);
  assert.deepEqual(JSON.parse(line), {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'a', digest: { sha256: '1' } },
      { name: 'b', digest: { sha256: '2' } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://staticexport.dev/build-types/release/v1',
        externalParameters: { version: '1.2.3' },
        internalParameters: { tools: { node: 'v26' } },
        resolvedDependencies: [
          { uri: `git+https://git.example.com/a@${'c'.repeat(40)}`, digest: { gitCommit: 'c'.repeat(40) } },
          { uri: 'pkg:deb/debian/libc6@2?arch=arm64', digest: { sha256: '11' } },
        ],
      },
      runDetails: { builder: { id: 'https://ci.example.com/b' } },
    },
  });
  assert.equal(line.trimEnd().split('\n').length, 1);
});

test('the provenance names accepted advisories and a required audit, the same in any order of flags', () => {
  const none = { version: '1.2.3', acceptedAdvisories: [], requireAudit: false };
  assert.deepEqual(releaseParameters(none), { version: '1.2.3' });
  const chosen = { ...none, registry: 'r.example.com/x', requireAudit: true };
  assert.deepEqual(releaseParameters({ ...chosen, acceptedAdvisories: ['GHSA-2', 'GHSA-1', 'GHSA-2'] }), {
    ...{ version: '1.2.3', registry: 'r.example.com/x' },
    ...{ acceptedAdvisories: ['GHSA-1', 'GHSA-2'], requireAudit: true },
  });
});

test('without root, the builder removes its store, because files in it belong to subordinate users', () => {
  const command = ['buildah', 'unshare', 'rm', '-rf', '--', '/s/store', '/s/run'];
  assert.deepEqual(storeRemoval(1000, ['/s/store', '/s/run']), command);
  assert.equal(storeRemoval(0, ['/s/store']), undefined);
});

test('the table shows sizes, and what is left out with its reason', () => {
  const made = [
    { name: 'install.yaml', bytes: 1025 },
    { name: 'a', bytes: 5 * 1024 ** 2 },
  ];
  assert.equal(
    releaseTable(made, [{ name: 'image', why: 'buildah is not installed; install it' }]),
    '  install.yaml    2 KiB\n  a             5.0 MiB\nleft out:\n  image         buildah is not installed; install it\n',
  );
  assert.ok(!releaseTable(made, []).includes('left out'));
});

test('a folder of an earlier version may be written again, and no other', () => {
  const ours = [
    ...mandatoryFiles('0.1.0'),
    'image-2.0.0-rc.1.oci.tar',
    'sbom-image.cdx.json',
    'checksums.txt.minisig',
  ];
  for (const name of ours) assert.ok(isReleaseFile(name), name);
  for (const name of ['src', 'package.json', 'other-0.1.0.tgz', 'image-.oci.tar'])
    assert.ok(!isReleaseFile(name), name);
});

test('a registry is written into the values, once', () => {
  const values = 'image:\n  # Repository.\n  repository: static-export-operator\n  tag: ""\n';
  assert.match(withRepository(values, 'r.example.com/p/x'), /^ {2}repository: r\.example\.com\/p\/x$/m);
  assert.throws(() => withRepository('image: {}\n', 'x'), /0 times/);
});

test('both charts name the image where a release writes the registry', () => {
  const root = join(import.meta.dirname, '../../..');
  for (const name of chartNames) {
    const read = (file: string): string => readFileSync(join(root, 'charts', name, file), 'utf8');
    assert.match(withRepository(read('values.yaml'), 'r.example.com/x'), /repository: r\.example\.com\/x$/m);
    assert.match(
      publishChart(read('Chart.yaml'), { imageRepository: 'r.example.com/x' }),
      /image: r\.example\.com\/x:\d/,
    );
  }
});

for (const chart of chartNames) {
  const readme = readFileSync(join(import.meta.dirname, '../../../charts', chart, 'README.md'), 'utf8');
  const release = {
    chart,
    version: '1.2.3',
    registry: 'r.example.com/p',
    source: 'https://git.example.com/d',
  };
  const leaving = /\]\((?!https:|#)[^)]*\)/;

  test(`the packed README of ${chart} installs from the registry, and its links leave no dead end`, () => {
    const text = publishReadme(readme, release);
    const charts = [...text.matchAll(/^ *helm (?:install|upgrade) \S+ (\S+)/gm)].map(([, name]) => name);
    assert.ok(charts.length > 1);
    assert.deepEqual([...new Set(charts)], [`oci://r.example.com/p/charts/${chart}`]);
    assert.doesNotMatch(
      text,
      /No public registry|repository=|registry\.example\.com\/static-export-operator/,
    );
    assert.match(
      text,
      /`r\.example\.com\/p\/static-export-operator:1\.2\.3`.*helm registry login r\.example\.com`/,
    );
    const [, pull = ''] = /, and `(\S+)` for the pods/.exec(text) ?? [];
    assert.ok(text.includes(`| \`${pull}\` | `), 'the value is one of the chart');
    assert.doesNotMatch(text, leaving);
    assert.ok(text.includes(`](https://git.example.com/d/blob/v1.2.3/charts/${chart}/docs/runbooks.md)`));
    assert.ok(!text.includes('..'), 'paths are resolved');
  });

  test(`the packed README of ${chart} without addresses names the file, and has no links into the sources`, () => {
    const text = publishReadme(readme, { ...release, registry: undefined, source: undefined });
    assert.match(text, new RegExp(`^helm install \\S+ ${chart}-1\\.2\\.3\\.tgz`, 'm'));
    assert.doesNotMatch(text, /No public registry| charts\/static/);
    assert.doesNotMatch(text, leaving);
    assert.match(text, /^Runbooks · /m);
    assert.throws(() => publishReadme(text, release), /0 times/);
  });
}

test('an archive depends on names, contents and one time alone', async () => {
  const files = [
    { name: 'a/Chart.yaml', bytes: Buffer.from('name: a\n') },
    { name: 'a/b', bytes: Buffer.alloc(3000, 1) },
  ];
  const archive = await packGzip(files, 1_700_000_000);
  assert.deepEqual(await unpackGzip(archive), files);
  assert.deepEqual(archive, await packGzip(await unpackGzip(archive), 1_700_000_000));
});

test('the index of an image has both platforms in one order', () => {
  const [amd64, arm64] = [
    { digest: 'sha256:1', size: 1 },
    { digest: 'sha256:2', size: 2 },
  ];
  const one = sortIndex({ 'linux/arm64': arm64, 'linux/amd64': amd64 }, '1.2.3');
  assert.deepEqual(one, sortIndex({ 'linux/amd64': amd64, 'linux/arm64': arm64 }, '1.2.3'));
  assert.ok(one.top.includes(one.digest) && one.top.includes('"1.2.3"'));
  const { manifests } = indexShape.parse(JSON.parse(one.bytes.toString()));
  assert.deepEqual(
    manifests.map(({ platform, digest }) => [platform?.architecture, digest]),
    [
      ['amd64', 'sha256:1'],
      ['arm64', 'sha256:2'],
    ],
  );
});

const layerType = 'application/vnd.oci.image.layer.v1.tar';
const gzipped = `${layerType}+gzip`;
const imageWith = (mediaType: string): ImageManifest => ({
  schemaVersion: 2,
  config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: 'sha256:c', size: 3 },
  layers: [{ mediaType, digest: 'sha256:1', size: 100 }],
});

test('an image keeps its configuration when its layers are compressed, and not the name of a local base', () => {
  const { bytes, size } = withCompressedLayers(
    { ...imageWith(gzipped), annotations: { 'org.opencontainers.image.base.name': 'localhost/base:1' } },
    new Map([['sha256:1', { digest: 'sha256:9', size: 7 }]]),
  );
  assert.equal(size, bytes.length);
  assert.deepEqual(JSON.parse(bytes.toString()), {
    ...imageWith(gzipped),
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    layers: [{ mediaType: `${layerType}+zstd`, digest: 'sha256:9', size: 7 }],
  });
});

test('layers that a builder has compressed in another way are refused', () => {
  const done = new Map([['sha256:1', { digest: 'sha256:9', size: 7 }]]);
  assert.throws(
    () => withCompressedLayers(imageWith(`${layerType}+zstd`), done),
    /type .*zstd.*Check its version/,
  );
});

test('nothing of the caller’s environment changes bytes', () => {
  const from = {
    HOME: '/h',
    NODE_OPTIONS: '--x',
    npm_lifecycle_event: 'release',
    npm_config_cache: '/c',
    TZ: 'Asia/Tokyo',
    DOCKER_CONFIG: '/of-the-push',
    REGISTRY_PASSWORD: 'of-the-push',
  };
  const { PATH: _, ...env } = releaseEnvironment(from, 5);
  assert.deepEqual(env, {
    ...{ HOME: '/h', npm_config_cache: '/c', npm_config_update_notifier: 'false' },
    ...{ TZ: 'UTC', LC_ALL: 'C', SOURCE_DATE_EPOCH: '5', NODE_USE_ENV_PROXY: '1' },
  });
});
