// Files whose address has a query, where the query decides what they are: each such body gets a path of its own, because a
// bundle has one file for a path. Owns these paths. Pure. Refuses to serve one picture in place of another: then the path
// without a query has no file. Invariant: the paths follow from the bodies, so the same site gives the same files.

import { addressKey, compare, filePath } from '#site/site-scope.ts';
import type { QueryVariants } from '../contract.ts';
import type { Frontier, SiteFile } from '../frontier.ts';
import type { LeftOut } from '../left-out.ts';
import type { FetchOutcome, Visit } from '../visit.ts';
import { chosenPath } from './chosen-names.ts';

export interface PlacedFiles {
  readonly files: ReadonlyMap<string, SiteFile>;
  /** From the key of an address to the path of its file. */
  readonly variantPaths: ReadonlyMap<string, string>;
  /** What has no file, because the one at its path has another body. By path of the site. */
  readonly merged: ReadonlyMap<string, LeftOut>;
}

type Stored = Visit & { readonly outcome: FetchOutcome & { readonly kind: 'stored' } };

export function placeVariants({ visits, files }: Frontier): PlacedFiles {
  const placed = new Map(files);
  const variantPaths = new Map<string, string>();
  const merged = new Map<string, LeftOut>();
  for (const [path, group] of groupsOf(visits)) {
    if (bodiesOf(group).size < 2) continue;
    const plain = group.find(({ address }) => address.query === '');
    const isPicture = group.every(({ outcome }) => outcome.contentType.startsWith('image/'));
    if (plain === undefined && isPicture) placed.delete(path);
    const own = placed.get(path)?.body.sha256;
    for (const { address, isAsset, askedBy, outcome } of group) {
      const { body, role, contentType, originType } = outcome;
      if (address.query === '' || body.sha256 === own) continue;
      // Only a script asks for it, with an address that no edit can reach.
      if (!isAsset) merged.set(address.path, { reason: 'QueryVariantDiffers', from: askedBy });
      else {
        const to = chosenPath(body.sha256, contentType, path);
        placed.set(to, { body, isDocument: false, role, address, originType });
        variantPaths.set(addressKey(address), to);
      }
    }
  }
  return { files: placed, variantPaths, merged };
}

/** @returns files that were asked for with several queries, sorted by path */
export function countVariants({ visits }: Pick<Frontier, 'visits'>): readonly QueryVariants[] {
  return [...groupsOf(visits).values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      path: group[0]?.address.path ?? '',
      queries: group.length,
      contents: bodiesOf(group).size,
    }))
    .sort((a, b) => compare(a.path, b.path));
}

function bodiesOf(group: readonly Stored[]): ReadonlySet<string> {
  return new Set(group.map(({ outcome }) => outcome.body.sha256));
}

/** By path in the bundle; a page's query is dropped before it is asked for. */
function groupsOf(visits: Frontier['visits']): ReadonlyMap<string, readonly Stored[]> {
  const stored = [...visits].flatMap(([, visit]) => (isStored(visit) ? [visit] : []));
  const queried = new Set(stored.flatMap(({ address: { path, query } }) => (query === '' ? [] : [path])));
  const groups = Map.groupBy(
    stored.filter(({ address }) => queried.has(address.path)),
    ({ address }) => filePath(address) ?? '',
  );
  groups.delete('');
  return groups;
}

function isStored(visit: Visit): visit is Stored {
  return visit.outcome?.kind === 'stored' && !visit.outcome.isDocument && visit.isTaken;
}
