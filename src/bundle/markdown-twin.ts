// The Markdown twin of a page: under which names it may lie, and which page a name means. Pure: paths alone decide. Refuses a name that
// means the page of another file. Invariant: a page has one twin; a name means one page, whichever of its spellings is there.

import { pageAddress } from './store/digest.ts';

/** Whether the site has a file of this path. */
export type HasFile = (path: string) => boolean;

/**
 * `guide.md` for `guide.html` and `guide/index.html`, then as the proposal for `llms.txt` and as generators spell it.
 *
 * @param page path of its file
 * @returns the usual name first; none for a file that is not a page
 */
export function twinNames(page: string, has: HasFile): readonly string[] {
  const address = pageAddress(page);
  if (address === undefined) return [];
  const name = address === '' ? 'index' : address;
  const isOfFolder = /\/index\.html?$/i.test(page);
  const ofFile = [`${name}.md`, `${name}.html.md`] as const;
  const ofFolder = [`${name}/index.md`, `${name}/index.html.md`] as const;
  // `a.md` is that of `a.html` where `a/index.html` is another page.
  if (isOfFolder && hasPage(name, has)) return ofFolder;
  if (address === '' || (!isOfFolder && hasPage(`${name}/index`, has))) return ofFile;
  return [ofFile[0], ofFolder[1], ofFile[1], ofFolder[0]];
}

const endings = ['.html', '.htm'];
const hasPage = (name: string, has: HasFile): boolean => endings.some((ending) => has(name + ending));

/** The twin that the site has of a page. */
export function findTwin(page: string, has: HasFile): string | undefined {
  return twinNames(page, has).find(has);
}

const nameEnds = [/\.html$/, /\/index\.html$/, /\/index$/];

/**
 * The page whose twin is meant by a name.
 *
 * @param name that ends in `.md`, whether there is a file of it or not
 */
export function pageOfTwinName(name: string, has: HasFile): string | undefined {
  if (!name.endsWith('.md')) return undefined;
  const spelled = name.slice(0, -'.md'.length);
  const bases = new Set([spelled, ...nameEnds.map((end) => spelled.replace(end, ''))]);
  for (const base of bases) {
    for (const page of [
      ...endings.map((one) => base + one),
      ...endings.map((one) => `${base}/index${one}`),
    ]) {
      if (has(page) && twinNames(page, has).includes(name)) return page;
    }
  }
  return undefined;
}
