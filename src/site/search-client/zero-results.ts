// Searches without a result, as the server of the site counts them: one GET to a file that each site with a search has, so that any
// server answers it. Refuses to send from a disk, and to another host. The answer is not read.

import { searchFolder } from '../search/search-format.ts';

/** Below the folder of the search. A server that counts answers it itself. */
const reportName = 'none';

/** @param root of the site */
export function missingReportAddress(root: URL, query: string): URL | undefined {
  if (root.protocol !== 'http:' && root.protocol !== 'https:') return undefined;
  const address = new URL(`${searchFolder}${reportName}`, root);
  address.searchParams.set('q', query);
  return address;
}
