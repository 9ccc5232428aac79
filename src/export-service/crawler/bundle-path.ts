// Where an address lies in the bundle: the layout that servers of static exports expect. A page gets the name that a
// plain file server finds (`/guides/x` → `guides/x.html`, `/guides/` → `guides/index.html`). Other files keep their
// names. Paths are decoded and otherwise unchanged (no Unicode normalisation).

import { type Address, decodePath } from './site-scope.ts';

/** The file of an HTML document at this address; its query plays no part. */
export function documentPath(address: Address): string | undefined {
  const path = decodePath(address.path);
  if (path === undefined) return undefined;
  const name = path.slice(1);
  if (name === '' || name.endsWith('/')) return `${name}index.html`;
  return /\.(?:html?|xhtml)$/i.test(name) ? name : `${name}.html`;
}

/** The file of anything else. Undefined for an address that ends in a slash: it names no file. */
export function filePath(address: Address): string | undefined {
  const path = decodePath(address.path);
  return path === undefined || path.endsWith('/') ? undefined : path.slice(1);
}
