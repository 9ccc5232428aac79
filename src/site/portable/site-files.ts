// Which file of a site an address leads to, and how one file names another. Answers as a bundle server does, so that a link leads
// to the same page from a disk. Pure. Invariant: a written address is ASCII, needs no escape in HTML, CSS or JSON, and has no
// segment that reads as a scheme.

import { composedForm } from '#platform/wire/unicode-form.ts';

export interface SiteFiles {
  /**
   * @param path decoded, with its leading slash
   * @returns path of the file, without leading slash; `undefined` where a server answers 404
   */
  find(path: string): string | undefined;
}

export function createSiteFiles(paths: Iterable<string>): SiteFiles {
  const exact = new Set<string>();
  const composed = new Map<string, string>();
  for (const path of paths) {
    exact.add(path);
    composed.set(composedForm(path), path);
  }
  const fileAt = (path: string): string | undefined =>
    exact.has(path) ? path : composed.get(composedForm(path));
  return {
    find: (path) => {
      const name = path.slice(1);
      const isFolder = name === '' || name.endsWith('/');
      return (
        fileAt(name) ??
        (isFolder ? fileAt(`${name}index.html`) : (fileAt(`${name}.html`) ?? fileAt(`${name}/index.html`)))
      );
    },
  };
}

/** @param from path of the file that has the link. @param to path of a file or a folder; neither has a leading slash */
export function relativeAddress(from: string, to: string): string {
  const folders = from.split('/').slice(0, -1);
  const target = to.split('/');
  let shared = 0;
  while (shared < folders.length && shared < target.length - 1 && folders[shared] === target[shared]) {
    shared += 1;
  }
  const up = '../'.repeat(folders.length - shared);
  const down = target.slice(shared).map(encodedSegment).join('/');
  return up + down === '' ? './' : up + down;
}

/** Encoded also where a style sheet or an attribute without quotes would end. */
export const encodedSegment = (segment: string): string =>
  encodeURIComponent(segment.toWellFormed()).replace(/[!'()*]/g, percentEncoded);

export const percentEncoded = (char: string): string =>
  `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
