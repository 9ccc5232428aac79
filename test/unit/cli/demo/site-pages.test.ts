// The demo's docs site: whole, without links to nothing, and different in each edition.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageCount, type SiteEdition, shrunkenSite, wholeSite } from '#cli/demo/site-pages.ts';

const pagesOf = (edition: SiteEdition): readonly string[] =>
  [...edition]
    .filter(([path, { type }]) => type.startsWith('text/html') && path !== '/404.html')
    .map(([path]) => path);

test('every link, style and picture of the whole site leads to a file of it', () => {
  const site = wholeSite(1);
  assert.equal(pagesOf(site).length, pageCount);
  const wanted = [...site.values()].flatMap(({ body }) =>
    [...body.toString('utf8').matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path ?? ''),
  );
  assert.ok(wanted.length > 0);
  assert.deepEqual(
    wanted.filter((path) => !site.has(path)),
    [],
  );
});

test('each page differs in the next edition, so that mixed answers are noticed', () => {
  const [first, second] = [wholeSite(1), wholeSite(2)];
  const same = [...pagesOf(first), '/404.html'].filter((path) => {
    const body = second.get(path)?.body;
    return body !== undefined && first.get(path)?.body.equals(body);
  });
  assert.deepEqual(same, []);
});

test('the shrunken site has fewer than half of the pages', () => {
  assert.ok(pagesOf(shrunkenSite(1)).length < pageCount / 2);
});
