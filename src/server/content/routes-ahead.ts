// Route tables that are decided while their bundle is still being checked. Invariant: a table is handed out for the very
// list of files that it was made of, which its asker has only from a check that succeeded; any other list gets its own.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { buildRouteTableInSlices, type RouteTable, type TableBundle } from './route-table.ts';

export interface RoutesAhead {
  /** Begins a table in slices. An earlier table that was not taken is dropped. */
  begin(unverified: TableBundle): void;
  /** The table that was begun with these files, or a new one. */
  take(verified: TableBundle): Promise<RouteTable>;
}

/** @param pause after each slice of a table. @param serveDotfiles see `isHiddenFile` */
export function createRoutesAhead(
  pause: () => Promise<void>,
  serveDotfiles: readonly string[] = [],
): RoutesAhead {
  let begun: { readonly files: readonly BundleFile[]; readonly table: Promise<RouteTable> } | undefined;
  return {
    begin: (unverified) => {
      const table = buildRouteTableInSlices(unverified, pause, serveDotfiles);
      table.catch(() => {}); // the caller of take gets the error
      begun = { files: unverified.files, table };
    },
    take: (verified) => {
      const found = begun?.files === verified.files ? begun.table : undefined;
      begun = undefined;
      return found ?? buildRouteTableInSlices(verified, pause, serveDotfiles);
    },
  };
}
