// The Markdown twin of a page: which file it is, and under which names agents ask for it. Pure. Invariant: each page has one twin, which
// the origin's own file is where it has one.

import { pageAddress } from '#bundle/store/digest.ts';

/**
 * `guide.md` for `guide.html` and `guide/index.html`; `index.md` for the start page.
 *
 * @param page path of its file
 * @returns `undefined` for a file that is not a page
 */
export function twinPath(page: string): string | undefined {
  const address = pageAddress(page)?.replace(/\/$/, '');
  if (address === undefined) return undefined;
  return `${address === '' ? 'index' : address}.md`;
}

/** Names of the same twin: as the proposal for `llms.txt` spells it, and as generators do. */
export function twinSpellings(twin: string): readonly string[] {
  const name = twin.slice(0, -'.md'.length);
  if (name === 'index') return [twin, 'index.html.md'];
  return [twin, `${name}/index.html.md`, `${name}.html.md`, `${name}/index.md`];
}

/**
 * The twin that another spelling means.
 *
 * @param path that is asked for and has no file
 * @returns `undefined` for a path that spells no twin in another way
 */
export function twinOfSpelling(path: string): string | undefined {
  const name = /^(.+?)(?:\/index\.html\.md|\.html\.md|\/index\.md)$/.exec(path)?.[1];
  return name === undefined ? undefined : `${name}.md`;
}
