// What is served right now: the active bundle, and behind it the former ones for the assets that open
// pages still ask for. A swap is the assignment of one reference.
// Invariant: a request sees one view from its look-up to its last byte, and never a mixture of two.

import type { ContentEncoding } from '../http/content-encoding.ts';
import type { LiveBundle } from './live-bundle.ts';
import type { MarkdownTwins } from './markdown-twins.ts';
import type { FileRoute, Route } from './route-table.ts';
import type { Variant } from './variant-table.ts';

/** The source that the bundle came from in this run: `disk`, `peer`, `link`. */
export type Provenance = string;

/** A bundle under the version it was published as. */
export interface ServedVersion {
  readonly bundle: LiveBundle;
  /** `undefined` for a plain link without --version. */
  readonly version: string | undefined;
  /** The one that `bundle.json` names, `''` for the root. Absent where it names none. */
  readonly basePath?: string | undefined;
  /** Epoch ms. */
  readonly activatedAt: number;
  readonly provenance: Provenance;
}

/** What a publication calls content: its version, and the path that its links begin with. */
export type PublishedName = Pick<ServedVersion, 'version' | 'basePath'>;

/** Where the active bundle is looked up; the serving side knows which bundle a file belongs to. */
export interface SiteLookup {
  find(path: string): Route | undefined;
  findNotFoundPage(path: string): FileRoute | undefined;
  /** `undefined` while the pages have no Markdown. */
  readonly twins: MarkdownTwins | undefined;
  /** Every version that is served has the same bytes under this file's name, so the name may be that of the content. */
  isUnchanged(route: FileRoute): boolean;
  /** `undefined` while the start of the file was not read. */
  contentTypeOf(route: FileRoute): string | undefined;
  /** `undefined` while the file has no such form. */
  findVariant(route: FileRoute, encoding: ContentEncoding): Variant | undefined;
}

/** One state of the site; never changed, only replaced. */
export interface SiteView extends SiteLookup {
  readonly active: ServedVersion;
  /** Path under which it is reached: decoded, without trailing slash; empty for the root. */
  readonly basePath: string;
  /** Latest first. */
  readonly previous: readonly ServedVersion[];
  /** The bundle that a route of this view reads from. */
  bundleOf(route: FileRoute): LiveBundle | undefined;
}

/** The bundle that a route of this view reads from. @throws where the view has none, which is a defect */
export function bundleOf(view: SiteView | undefined, route: FileRoute): LiveBundle {
  const bundle = view?.bundleOf(route);
  if (bundle === undefined) throw new Error('a route of this view has no bundle');
  return bundle;
}

/** The disk no longer gives what is served. */
export function isUnreadable(site: Pick<LiveSite, 'view'>): boolean {
  return site.view()?.active.bundle.isUnreadable() ?? false;
}

/** Whether visitors get nothing, or only what can still be read of the bundle. */
export function isMissingOrUnreadable(site: Pick<LiveSite, 'view'>): boolean {
  return site.view() === undefined || isUnreadable(site);
}

/** Whether a damaged copy of that content may be the last one: no other bundle is served that is stored and undamaged. */
export function mayBeLast({ view }: Pick<LiveSite, 'view'>, digest: string): boolean {
  const bundle = view()?.active.bundle;
  return bundle === undefined || bundle.digest === digest || !bundle.isStored() || bundle.isUnreadable();
}

export interface LiveSite {
  readonly view: () => SiteView | undefined;
  /** Serves `next` from now on. What is beyond `keep` is retired: it closes when its last request is done. */
  swap(next: ServedVersion): void;
  /** Adds a former bundle behind the others, for its assets. */
  addPrevious(former: ServedVersion): void;
  /** Closes all former bundles, which frees their space on disk; their assets are no longer served. */
  dropPrevious(): void;
  /** Shows what a bundle was extended by: the next request sees it. */
  refresh(): void;
  /** The same content under another name. */
  relabel(name: PublishedName, activatedAt: number): void;
  /** Swaps since the start; the first activation is none. */
  readonly swaps: () => number;
}

/**
 * @param keep versions to hold open, the active one included; at least 1
 * @param onActive is called with every bundle that has become active, and the path under which it is reached; again where that
 *   changes
 * @param fixedBasePath of `--base-path`; `undefined`: the one of the active bundle
 * @param isOfOneVersion paths that are not found in former bundles, in addition to pages
 */
export function createLiveSite(
  keep: number,
  onActive: (bundle: LiveBundle, basePath: string) => void = () => {},
  fixedBasePath?: string,
  isOfOneVersion: (path: string) => boolean = () => false,
): LiveSite {
  let view: SiteView | undefined;
  let swaps = 0;
  const viewOf = (active: ServedVersion, previous: readonly ServedVersion[]): SiteView =>
    createView(active, previous, fixedBasePath ?? active.basePath ?? '', isOfOneVersion);
  const show = (active: ServedVersion, former: readonly ServedVersion[]): void => {
    const others = former.filter(({ bundle }) => bundle !== active.bundle);
    const previous = others
      .filter(
        ({ bundle }, at) =>
          bundle.digest !== active.bundle.digest &&
          others.findIndex((one) => one.bundle.digest === bundle.digest) === at,
      )
      .slice(0, Math.max(0, keep - 1));
    view = viewOf(active, previous);
    for (const one of others) if (!previous.includes(one)) void one.bundle.retire();
  };
  return {
    view: () => view,
    swap: (next) => {
      if (view !== undefined && view.active.bundle.digest !== next.bundle.digest) swaps += 1;
      show(next, view === undefined ? [] : [view.active, ...view.previous]);
      onActive(next.bundle, fixedBasePath ?? next.basePath ?? '');
    },
    addPrevious: (former) => {
      if (view === undefined) void former.bundle.retire();
      else show(view.active, [...view.previous, former]);
    },
    dropPrevious: () => {
      if (view !== undefined) {
        const { active, previous } = view;
        view = viewOf(active, []);
        for (const { bundle } of previous) void bundle.retire();
      }
    },
    refresh: () => {
      if (view !== undefined) view = viewOf(view.active, view.previous);
    },
    relabel: ({ version, basePath }, activatedAt) => {
      if (view === undefined) return;
      const before = view.basePath;
      view = viewOf({ ...view.active, version, basePath, activatedAt }, view.previous);
      if (view.basePath !== before) onActive(view.active.bundle, view.basePath);
    },
    swaps: () => swaps,
  };
}

/** Files of a search that are not named by their content: those of a former version lead to its pages. */
const searchOfOneVersion: ReadonlySet<string> = new Set(['/_sx/search/index.js', '/_sx/search/search.js']);

function createView(
  active: ServedVersion,
  previous: readonly ServedVersion[],
  basePath: string,
  isOfOneVersion: (path: string) => boolean,
): SiteView {
  const { routes } = active.bundle;
  const twins = active.bundle.extension()?.twins;
  const bundles = new Map([active, ...previous].map(({ bundle }) => [bundle.digest, bundle]));
  // Asked one after another, latest first: joining their tables would take as long as they are large.
  const findRetained = (path: string): FileRoute | undefined => {
    if (searchOfOneVersion.has(path) || isOfOneVersion(path)) return undefined;
    for (const { bundle } of previous) {
      const route = bundle.routes.findAsset(path);
      if (route !== undefined) return route;
    }
    return undefined;
  };
  return {
    active,
    basePath,
    previous,
    twins,
    find: (path) => routes.find(path) ?? twins?.findByName(path) ?? findRetained(path),
    findNotFoundPage: (path) => routes.findNotFoundPage(path),
    isUnchanged: ({ entityTag, file }) =>
      [active, ...previous].every(({ bundle }) => {
        const other = bundle.routes.findAsset(`/${file.path}`);
        return other === undefined || other.entityTag === entityTag;
      }),
    contentTypeOf: (route) => bundles.get(route.digest)?.contentTypeOf(route),
    bundleOf: (route) => bundles.get(route.digest),
    findVariant: (route, encoding) => bundles.get(route.digest)?.findVariant(route, encoding),
  };
}
