// Was the site built for the path that it is served under? Its home page says so: the scripts and style sheets that
// it names by whole paths are in the bundle, or visitors see bare text. A hint for the log, never a refusal.

import { readRequestPath } from '../http/request-path.ts';
import type { LiveBundle } from './live-bundle.ts';

/** The tags stand in the head. */
const longestHead = 256 * 1024;
const mostNames = 50;

/** Of scripts and style sheets; each quantifier is bounded or ends at what it may not hold. */
const names = /<(?:script|link)\s[^<>]{0,2000}?(?:src|href)\s{0,9}=\s{0,9}["']?(\/[^"'\s<>]{0,1000})/gi;

/**
 * @param basePath as the flag is read: empty, or with its leading slash and no trailing one
 * @returns the first name in the home page that leads to nothing; `undefined` where all lead somewhere
 */
export async function findMisplacedName(bundle: LiveBundle, basePath: string): Promise<string | undefined> {
  const home = bundle.routes.find('/');
  if (home?.kind !== 'file') return undefined;
  bundle.hold();
  try {
    const { offset, size } = home.file;
    const head = Buffer.alloc(Math.min(size, longestHead));
    await bundle.packOf(undefined).readInto({ offset, size: head.length }, head);
    return [...head.toString('utf8').matchAll(names)]
      .slice(0, mostNames)
      .map(([, name = '']) => name)
      .find((name) => !leadsSomewhere(name, bundle, basePath));
  } finally {
    bundle.release();
  }
}

function leadsSomewhere(name: string, { routes }: LiveBundle, basePath: string): boolean {
  if (name.startsWith('//')) return true; // another host
  const path = readRequestPath(name.replace(/#.*$/, ''), basePath);
  return path.outcome === 'path' && routes.find(path.path) !== undefined;
}
