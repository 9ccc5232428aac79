// What Debian offers, as a lock. Pure. Refuses packages whose versions differ between the platforms: a package that one builder
// of Debian has not finished would make two different images.

import {
  type BaseLock,
  baseLockShape,
  basePackages,
  type Platform,
  platforms,
  securityMirror,
} from './base-lock.ts';

/** For apt. @param mirror the folder that has `pool` */
export const sourcesText = (mirror: string, suite: string): string =>
  [
    { uri: mirror, suites: `${suite} ${suite}-updates` },
    { uri: securityMirror(mirror), suites: `${suite}-security` },
  ]
    .map(
      ({ uri, suites }) =>
        `Types: deb\nURIs: ${uri}\nSuites: ${suites}\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n`,
    )
    .join('\n');

const offer =
  /^'\S+\/(debian(?:-security)?\/pool\/\S+)' (\S+?)_(\S+)_\w+\.deb (\d+) SHA256:([0-9a-f]{64})$/gm;

/**
 * @param printed by `apt-get download --print-uris`, for each platform
 * @throws Error where a platform lacks a package, or has another version
 */
export function readOffers(
  release: Omit<BaseLock, 'packages'>,
  printed: Readonly<Record<Platform, string>>,
): BaseLock {
  const offersOf = (platform: Platform) =>
    [...printed[platform].matchAll(offer)].map(
      ([, path = '', name = '', version = '', bytes, sha256 = '']) => ({
        ...{ name, version: decodeURIComponent(version) },
        archive: { path, bytes: Number(bytes), sha256 },
      }),
    );
  const offers = { 'linux/amd64': offersOf('linux/amd64'), 'linux/arm64': offersOf('linux/arm64') };
  const packages = basePackages.map((name) => {
    const found = platforms.map((platform) => offers[platform].find((one) => one.name === name));
    const [first, second] = found;
    if (first === undefined || second === undefined || first.version !== second.version) {
      const versions = platforms.map((platform, at) => `${found[at]?.version ?? 'none'} for ${platform}`);
      throw new Error(`Debian has ${name} ${versions.join(' and ')}. Try again in a day.`);
    }
    const archives = { 'linux/amd64': first.archive, 'linux/arm64': second.archive };
    return { name, version: first.version, archives };
  });
  return baseLockShape.parse({ ...release, packages });
}

/** A line for each package that has another version, for people; `undefined` where none has, and a lock stays as it is. */
export function changesOfLock(before: BaseLock | undefined, after: BaseLock): string | undefined {
  const lines = after.packages.flatMap(({ name, version }) => {
    const was = before?.packages.find((one) => one.name === name)?.version;
    return was === version ? [] : [`${name}: ${was ?? 'new'} → ${version}\n`];
  });
  return lines.length === 0 ? undefined : lines.join('');
}
