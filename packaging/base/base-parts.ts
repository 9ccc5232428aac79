// What the image stands on, for bills of materials and provenance: each archive of the locks with its sum. Pure.

import type { FurtherPart } from '../release/software-bill.ts';
import { type BaseLock, findNode, platforms } from './base-lock.ts';

export interface BasePart extends FurtherPart {
  /** Of the archive, in hexadecimal, by its algorithm. */
  readonly digest: Readonly<Record<string, string>>;
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
    const node = { name, version, kind: 'application', licence: 'MIT' } as const;
    return [
      { ...node, purl: `pkg:npm/${name}@${version}`, digest: { sha512: sum } },
      ...lock.packages.map((one) => ({
        ...{ name: one.name, version: one.version, kind: 'library' as const },
        purl: `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?arch=${architecture}&distro=${lock.suite}`,
        digest: { sha256: one.archives[platform].sha256 },
      })),
    ];
  });
}
