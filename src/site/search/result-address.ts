// Addresses and breadcrumbs of results, from the paths of pages alone. Pure, without imports. Invariant: an address is percent-encoded,
// relative to the root of the site, and leads to the page on a bundle server, on another host, and from a disk.

/** What of a site decides addresses. */
export interface AddressForm {
  /** From a disk, where only names of files lead anywhere. */
  readonly isDisk: boolean;
  /** See the manifest. */
  readonly linksToFiles: boolean;
}

/** @returns `./` for the home page, so that it is never empty */
export function resultAddress(path: string, anchor: string, { isDisk, linksToFiles }: AddressForm): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const fragment = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  if (isDisk) return encoded + fragment;
  const folder = encoded.replace(/(^|\/)index\.html?$/i, '$1');
  const address = linksToFiles ? folder : folder.replace(/\.html$/i, '');
  return (address === '' ? './' : address) + fragment;
}

/**
 * Titles of the folders above a page, outermost first: of their own pages, else by their names.
 *
 * @param titleOf of the page at a path; `undefined` where no page is
 */
export function breadcrumbsOf(
  path: string,
  titleOf: (path: string) => string | undefined,
): readonly string[] {
  const folders = path.split('/').slice(0, -1);
  const own = /(?:^|\/)index\.html?$/i.test(path) ? folders.length - 1 : folders.length;
  return folders.slice(0, Math.max(0, own)).map((name, depth) => {
    const folder = folders.slice(0, depth + 1).join('/');
    return titleOf(`${folder}/index.html`) ?? titleOf(`${folder}.html`) ?? wordsOf(name);
  });
}

function wordsOf(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
