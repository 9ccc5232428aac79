// What the image stands on, for bills of materials and provenance: each archive of the locks with its sum. Pure.

import type { FurtherPart } from '../release/software-bill.ts';
import { type BaseLock, findNode, type LockedArchive, platforms } from './base-lock.ts';

export interface BasePart extends FurtherPart {
  /** Of the archive, in hexadecimal, by its algorithm. */
  readonly digest: Readonly<Record<string, string>>;
}

/** Debian's advisories name source packages. The pool has a folder for each. */
function sourceOf(name: string, { path }: LockedArchive): { readonly upstream?: string } {
  const source = path.split('/').at(-2) ?? name;
  return source === name ? {} : { upstream: source };
}

/**
 * @param npmLock the text of package-lock.json
 * @see package URL specification, types `deb` and `npm`
 */
export function baseParts(lock: BaseLock, npmLock: string): readonly BasePart[] {
  return platforms.flatMap((platform) => {
    const architecture = platform.replace('linux/', '');
    const { name, version, integrity } = findNode(npmLock, platform);
    const sum = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
    const node = { name, version, kind: 'application', licence: 'MIT', cpe } as const;
    return [
      { ...node, purl: `pkg:npm/${name}@${version}`, digest: { sha512: sum } },
      ...lock.packages.map((one) => ({
        ...{ name: one.name, version: one.version, kind: 'library' as const },
        purl: `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?${new URLSearchParams({ arch: architecture, distro: lock.distribution, ...sourceOf(one.name, one.archives[platform]) })}`,
        digest: { sha256: one.archives[platform].sha256 },
      })),
    ];
  });
}
