// Which file of the base is the earlier form of a file: the same bytes first, then the same path, then a path that differs in
// a content hash alone, such as `assets/app.3f9a01bc.js`. Pure. A wrong pair costs bytes and never content. Refuses hidden
// files on both sides, because a server's store does not hold theirs.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';

export interface Pair {
  readonly file: BundleFile;
  /** `undefined`: the file is new. */
  readonly base: BundleFile | undefined;
}

/** @param files and base sorted by path, as in an index */
export function pairFiles(files: readonly BundleFile[], base: readonly BundleFile[]): readonly Pair[] {
  const shown = base.filter(({ path }) => !isHiddenFile(path));
  const byPath = new Map(shown.map((file) => [file.path, file]));
  const byContent = new Map<string, BundleFile>();
  const byName = new Map<string, BundleFile[]>();
  for (const file of shown) {
    if (!byContent.has(file.sha256)) byContent.set(file.sha256, file);
    const name = nameWithoutHash(file.path);
    const named = byName.get(name);
    if (named === undefined) byName.set(name, [file]);
    else named.push(file);
  }
  for (const named of byName.values()) named.sort((a, b) => a.size - b.size);
  return files.map((file) => {
    if (isHiddenFile(file.path)) return { file, base: undefined };
    const samePath = byPath.get(file.path);
    if (samePath?.sha256 === file.sha256) return { file, base: samePath };
    const similar = nearestInSize(byName.get(nameWithoutHash(file.path)) ?? [], file.size);
    return { file, base: byContent.get(file.sha256) ?? samePath ?? similar };
  });
}

/** Tools write 8 to 32 letters and digits, with `-` and `_` in base64, between points and hyphens of the last segment. */
const contentHash = /([.-])(?=[A-Za-z0-9_-]{0,31}[A-Z0-9_])[A-Za-z0-9_-]{8,32}(?=\.)/g;

/** `assets/app.3f9a01bc.js` and `assets/app.77c1e0aa.js` have one such name. */
export function nameWithoutHash(path: string): string {
  const at = path.lastIndexOf('/') + 1;
  return path.slice(0, at) + path.slice(at).replace(contentHash, '$1*');
}

/** @param files sorted by size */
function nearestInSize(files: readonly BundleFile[], size: number): BundleFile | undefined {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((files[middle]?.size ?? 0) < size) low = middle + 1;
    else high = middle;
  }
  const [below, above] = [files[low - 1], files[low]];
  if (below === undefined || above === undefined) return below ?? above;
  return size - below.size < above.size - size ? below : above;
}
