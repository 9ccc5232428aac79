// A swap: one reference, the former version open while anybody reads it, its files other than pages a while longer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite, mayBeLast, type ServedVersion } from '#server/content/live-site.ts';
import { words } from '../../../support/words.ts';
import { type MemoryBundle, storedBundle } from '../fixtures.ts';

const asset = (version: string): string => `assets/app.BxYz12_${version}.js`;

function served(version: string): ServedVersion & { readonly stored: MemoryBundle } {
  const stored = storedBundle({
    'index.html': version,
    [`page-${version}.html`]: version,
    [asset(version)]: version,
  });
  return { bundle: goLive(stored), version, activatedAt: 0, provenance: 'link', stored };
}

const pathFound = (site: ReturnType<typeof createLiveSite>, path: string): string | undefined => {
  const view = site.view();
  const route = view?.find(path);
  return route?.kind === 'file' ? view?.bundleOf(route)?.digest : undefined;
};

test('after a swap pages come from the new version, and assets of the former one are still found', () => {
  const site = createLiveSite(2);
  const [a, b, c] = [served('1'), served('2'), served('3')];
  site.swap(a);
  site.swap(b);
  assert.equal(pathFound(site, '/'), b.bundle.digest);
  assert.equal(pathFound(site, `/${asset('2')}`), b.bundle.digest);
  assert.equal(pathFound(site, `/${asset('1')}`), a.bundle.digest);
  assert.equal(pathFound(site, '/page-1'), undefined);
  site.swap(c);
  assert.equal(pathFound(site, `/${asset('2')}`), b.bundle.digest);
  assert.equal(pathFound(site, `/${asset('1')}`), undefined);
  assert.equal(site.swaps(), 2);
});

const servedWith = (content: Readonly<Record<string, string>>): ServedVersion => ({
  bundle: goLive(storedBundle(content)),
  version: 'v',
  activatedAt: 0,
  provenance: 'disk',
});

test('whatever its name, a file of a kept version is found, unless it is a page', () => {
  const site = createLiveSite(2);
  const former = words(`
    _nuxt/DlAUqK2U.js app.js data/x.json fonts/a gone.html guide/index.html 404.html
  `);
  site.swap(servedWith(Object.fromEntries(former.map((path) => [path, 'v1']))));
  site.swap(servedWith({ 'index.html': 'v2' }));
  const found = former.filter((path) => site.view()?.find(`/${path}`) !== undefined);
  assert.deepEqual(found, ['_nuxt/DlAUqK2U.js', 'app.js', 'data/x.json', 'fonts/a']);
  for (const path of ['/guide/', '/guide', '/gone']) assert.equal(site.view()?.find(path), undefined, path);
});

test('of a search of a former version only files that are named by their content are found', () => {
  const site = createLiveSite(2);
  const names = ['_sx/search/index.js', '_sx/search/search.js', '_sx/search/0a1b2c3d4e5f.js'];
  site.swap(servedWith(Object.fromEntries(names.map((path) => [path, 'v1']))));
  site.swap(servedWith({ 'index.html': 'v2' }));
  assert.deepEqual(
    names.filter((path) => site.view()?.find(`/${path}`) !== undefined),
    ['_sx/search/0a1b2c3d4e5f.js'],
  );
});

test('a name is unchanged only where every kept version has the same bytes under it', () => {
  const site = createLiveSite(3);
  const isUnchanged = (path: string): boolean | undefined => {
    const route = site.view()?.find(path);
    return route?.kind === 'file' ? site.view()?.isUnchanged(route) : undefined;
  };
  site.swap(servedWith({ 'a-0a1b2c3d.js': 'same', 'b-0a1b2c3d.js': 'one', 'c-0a1b2c3d.js': 'former' }));
  assert.deepEqual([isUnchanged('/a-0a1b2c3d.js'), isUnchanged('/b-0a1b2c3d.js')], [true, true]);
  site.swap(servedWith({ 'a-0a1b2c3d.js': 'same', 'b-0a1b2c3d.js': 'two' }));
  assert.deepEqual([isUnchanged('/a-0a1b2c3d.js'), isUnchanged('/b-0a1b2c3d.js')], [true, false]);
  assert.equal(isUnchanged('/c-0a1b2c3d.js'), true);
  site.swap(servedWith({ 'c-0a1b2c3d.js': 'now', 'd.html': 'd' }));
  assert.deepEqual([isUnchanged('/b-0a1b2c3d.js'), isUnchanged('/c-0a1b2c3d.js')], [false, false]);
});

test('a version beyond the number kept closes when its last request is done, and not before', async () => {
  const site = createLiveSite(1);
  const [a, b] = [served('1'), served('2')];
  site.swap(a);
  a.bundle.hold();
  a.bundle.hold();
  site.swap(b);
  a.bundle.release();
  await Promise.resolve();
  assert.equal(a.stored.isClosed(), false);
  a.bundle.release();
  await a.bundle.retire();
  assert.equal(a.stored.isClosed(), true);
  assert.equal(b.stored.isClosed(), false);
});

test('a view in use is not changed by a swap', () => {
  const site = createLiveSite(2);
  const [a, b] = [served('1'), served('2')];
  site.swap(a);
  const view = site.view();
  site.swap(b);
  const route = view?.find('/');
  assert.ok(route?.kind === 'file');
  assert.equal(view?.bundleOf(route)?.digest, a.bundle.digest);
});

test('going back swaps the versions and opens nothing twice', async () => {
  const site = createLiveSite(2);
  const [a, b, again] = [served('1'), served('2'), served('1')];
  site.swap(a);
  site.swap(b);
  site.swap(again);
  await a.bundle.retire();
  assert.equal(a.stored.isClosed(), true);
  assert.deepEqual(
    site.view()?.previous.map(({ version }) => version),
    ['2'],
  );
  assert.equal(pathFound(site, '/'), again.bundle.digest);
  assert.equal(again.stored.isClosed(), false);
});

test('former bundles are taken up to the number kept; the others close', async () => {
  const site = createLiveSite(2);
  const [a, b, c, d] = [served('1'), served('2'), served('3'), served('4')];
  site.addPrevious(d);
  await d.bundle.retire();
  assert.equal(d.stored.isClosed(), true);
  site.swap(a);
  site.addPrevious(b);
  site.addPrevious(c);
  await c.bundle.retire();
  assert.equal(c.stored.isClosed(), true);
  assert.deepEqual(
    site.view()?.previous.map(({ version }) => version),
    ['2'],
  );
});

test('the same content under another version is not a swap', () => {
  const site = createLiveSite(2);
  site.swap(served('1'));
  site.relabel({ version: 'v9' }, 7);
  assert.equal(site.view()?.active.version, 'v9');
  assert.equal(site.view()?.active.activatedAt, 7);
  assert.equal(site.swaps(), 0);
});

test('the base path is swapped with its bundle: no view has the files of one and the path of another', () => {
  const site = createLiveSite(2);
  const seen: string[] = [];
  const see = (): void => {
    const { active, basePath } = site.view() ?? assert.fail();
    seen.push(`${active.version} at ${basePath || '/'}`);
  };
  const before = served('1');
  site.swap({ ...before, basePath: '/docs' });
  see();
  const former = site.view();
  site.swap({ ...served('2'), basePath: '/documentation' });
  see();
  site.relabel({ version: '2', basePath: '/docs' }, 7);
  see();
  site.addPrevious({ ...served('3'), basePath: '/help' });
  see();
  site.dropPrevious();
  see();
  site.swap(served('4'));
  see();
  const under = ['1 at /docs', '2 at /documentation', '2 at /docs', '2 at /docs', '2 at /docs', '4 at /'];
  assert.deepEqual(seen, under);
  assert.deepEqual([former?.basePath, former?.active.bundle.digest], ['/docs', before.bundle.digest]);
});

test('a fixed base path holds for every bundle', () => {
  const active: string[] = [];
  const site = createLiveSite(2, (_, basePath) => active.push(basePath), '/help');
  site.swap(served('1'));
  const first = site.view()?.basePath;
  site.swap({ ...served('2'), basePath: '/help' });
  assert.deepEqual([first, site.view()?.basePath, active], ['/help', '/help', ['/help', '/help']]);
});

test('former versions are dropped on demand, and closed after their last reader', async () => {
  const site = createLiveSite(3);
  const [a, b] = [served('1'), served('2')];
  site.dropPrevious();
  site.swap(a);
  site.swap(b);
  site.dropPrevious();
  await a.bundle.retire();
  assert.equal(a.stored.isClosed(), true);
  assert.equal(pathFound(site, '/'), b.bundle.digest);
  assert.equal(pathFound(site, `/${asset('1')}`), undefined);
});

test('a damaged copy may be the last one until other content is served that the store has', async () => {
  const site = createLiveSite(2);
  const [a, b] = [served('1'), served('2')];
  const mayBe = (): readonly boolean[] => [a, b].map(({ bundle }) => mayBeLast(site, bundle.digest));
  assert.deepEqual(mayBe(), [true, true], 'nothing is served');
  site.swap(a);
  assert.deepEqual(mayBe(), [true, false]);
  for (const isStored of [false, true]) {
    const committed = isStored ? Promise.resolve() : Promise.reject(new Error('no space'));
    site.swap({ ...b, bundle: goLive(storedBundle({ 'index.html': '2' }), undefined, committed) });
    await committed.catch(() => {});
    assert.deepEqual(mayBe()[0], !isStored, 'served while it is stored, or after that failed');
  }
});
