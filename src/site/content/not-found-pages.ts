// Which of a site's `404.html` answers for a path that is absent: the one of the nearest folder, upwards from the
// path's own. Kept as a tree of the folders that hold one, so that a look-up ends at the first name that leads to
// none: a path of thousands of slashes costs no more than any other.

/** A folder that holds such a page, or leads to one. */
interface Folder<Page> {
  page: Page | undefined;
  readonly folders: Map<string, Folder<Page>>;
}

export interface NotFoundPages<Page> {
  /** Keeps the page where `path` (with its leading slash) is one of these; any other is ignored. */
  add(path: string, page: Page): void;
  /** @param path canonical, with its leading slash */
  nearest(path: string): Page | undefined;
}

const pageName = '/404.html';

export function createNotFoundPages<Page>(): NotFoundPages<Page> {
  const root: Folder<Page> = { page: undefined, folders: new Map() };
  return {
    add: (path, page) => {
      if (!path.endsWith(pageName)) return;
      let folder = root;
      for (const name of path.slice(0, -pageName.length).split('/').slice(1)) {
        const next = folder.folders.get(name) ?? { page: undefined, folders: new Map() };
        folder.folders.set(name, next);
        folder = next;
      }
      folder.page = page;
    },
    nearest: (path) => {
      let folder = root;
      let nearest = root.page;
      for (let from = 1; ; ) {
        const slash = path.indexOf('/', from);
        const next = slash < 0 ? undefined : folder.folders.get(path.slice(from, slash));
        if (next === undefined) return nearest;
        nearest = next.page ?? nearest;
        folder = next;
        from = slash + 1;
      }
    },
  };
}
