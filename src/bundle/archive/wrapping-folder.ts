// Which folder of an archive is not a part of the addresses of its site. Pure, over the paths alone. Refuses a folder without a
// home page, because such a folder may be a part of the addresses, and any folder next to the report of an export.

import { siteReportPath } from '../export-documents.ts';
import { isClutter, isHiddenFile } from '../store/hidden-files.ts';

/**
 * The one top folder that wraps a whole site: everything that is served is in it, and its own `index.html` is the home page.
 * Without that page the folder counts as a part of the addresses (`guides/a.html` alone) and stays. What file managers and
 * archivers put beside the folder does not count; the report of an export does, because it lies at the root of its site.
 */
export function wrappingFolder(paths: readonly string[]): string | undefined {
  if (paths.includes(siteReportPath)) return undefined;
  const shown = paths.filter((path) => !isHiddenFile(path));
  // A wrapping folder may begin with a dot, which hides all of it.
  const counted = shown.length > 0 ? shown : paths.filter((path) => !isClutter(path));
  const [first = ''] = counted;
  const folder = first.slice(0, Math.max(0, first.indexOf('/')));
  const isAround = folder !== '' && counted.every((path) => path.startsWith(`${folder}/`));
  return isAround && counted.includes(`${folder}/index.html`) ? folder : undefined;
}
