// A crawled site in the portable form, and in its report what that form cannot have. Pure but for reading bodies. Refuses to count
// files and search indexes that the form does not have. Invariant: a crawl without this form keeps each of its bytes.

import { planPortable } from '#site/portable/portable-site.ts';
import { createScope } from '#site/site-scope.ts';
import type { CrawledFile, CrawlNote, CrawlRequest, CrawlResult } from './crawler/contract.ts';

/** @throws the signal's reason, and what reading a body throws */
export async function portableResult(
  result: CrawlResult,
  { domain, origin, basePath }: Pick<CrawlRequest, 'domain' | 'origin' | 'basePath'>,
  signal: AbortSignal,
): Promise<CrawlResult> {
  const source = result.files.map(({ path, sizeBytes, sha256, read }) => ({
    ...{ path, size: sizeBytes, sha256, read },
    type: result.types.get(path),
  }));
  const links = { domain, basePath: basePath ?? createScope(domain, origin).prefix };
  const plan = await planPortable(source, links, signal);
  const files = plan.files.map(
    ({ path, size, sha256, read }): CrawledFile => ({
      ...{ path, sizeBytes: size, sha256 },
      read: async function* () {
        yield* read();
      },
    }),
  );
  const paths = new Set(files.map(({ path }) => path));
  const isThere = (path: string): boolean => paths.has(path);
  return {
    ...result,
    files,
    types: new Map([...result.types].filter(([path]) => isThere(path))),
    searchIndexes: result.searchIndexes.filter(({ path }) => isThere(path)),
    notes: [
      ...result.notes,
      ...noteOf('PortableLinkWithoutFile', plan.lost.count, plan.lost.examples),
      ...noteOf('PortableTextNotRead', plan.unread.length, plan.unread),
    ],
  };
}

function noteOf(code: string, count: number, [example]: readonly string[]): readonly CrawlNote[] {
  return example === undefined ? [] : [{ code, count, example }];
}
