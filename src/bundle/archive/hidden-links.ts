// Which hidden files pages link to, found while an archive is read: a link to one is a 404 that nothing else shows. Reads the
// addresses of tags in HTML, not scripts. Bounded in time by the length of the text, in memory by a count. A link that it
// misses costs a line of the report, and never an archive.

import { mayNameHidden } from '../store/hidden-files.ts';

export interface HiddenLinks {
  /** @returns what takes the file's bytes; `undefined` for a file that is not read */
  read(path: string): ((chunk: Uint8Array) => void) | undefined;
  /**
   * Whether some page links to the path.
   *
   * @param folder of the archive that is taken off all paths, with its slash; empty for none
   */
  inFolder(folder: string): (path: string) => boolean;
}

/** Each quantifier is bounded or ends at what it may not hold. */
const addresses = /\b(?:href|src)\s{0,9}=\s{0,9}["']?([^"'<>\s]{1,1000})/gi;
/** A tag that two chunks share is read with the second one. */
const overlap = 1100;
const mostLinks = 10_000;
/** Segments of a base path, which links have and the bundle's paths have not. */
const mostBaseSegments = 3;

export function createHiddenLinks(): HiddenLinks {
  /** Decoded, from the archive's root. */
  const relative = new Set<string>();
  /** Decoded, from the site's root, which may be below a base path. */
  const absolute = new Set<string>();
  const take = (address: string, from: string): void => {
    if (relative.size + absolute.size >= mostLinks) return;
    const isFromRoot = address.startsWith('/') || /^https?:/i.test(address);
    const path = pathOf(address, from);
    if (path !== undefined) (isFromRoot ? absolute : relative).add(path);
  };
  return {
    read: (path) => {
      if (!/\.html?$/i.test(path)) return undefined;
      let before = '';
      return (chunk) => {
        const text = before + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
        before = text.slice(-overlap);
        if (!mayNameHidden(text)) return;
        for (const [, address = ''] of text.matchAll(addresses)) {
          if (mayNameHidden(`/${address} `)) take(address, path);
        }
      };
    },
    inFolder: (folder) => {
      const linked = new Set<string>();
      const add = (path: string): void => {
        if (path.endsWith('/')) linked.add(`${path}index.html`);
        else for (const end of ['', '.html', '/index.html']) linked.add(path + end);
      };
      for (const path of relative) if (path.startsWith(folder)) add(path.slice(folder.length));
      for (const path of absolute) {
        const segments = path.split('/');
        for (let skipped = 0; skipped <= mostBaseSegments && skipped < segments.length; skipped += 1) {
          add(segments.slice(skipped).join('/'));
        }
      }
      return (path) => linked.has(path);
    },
  };
}

/** The path that an address leads to from a page, decoded, without its leading slash. */
function pathOf(address: string, from: string): string | undefined {
  const base = `http://site/${from.split('/').map(encodeURIComponent).join('/')}`;
  const url = URL.parse(Buffer.from(address, 'latin1').toString('utf8'), base);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  try {
    return decodeURIComponent(url.pathname).slice(1);
  } catch {
    return undefined;
  }
}
