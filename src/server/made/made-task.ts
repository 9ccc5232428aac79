// What the keeper of made files and its thread have in common. Apart from made-making.ts, which makes them and which only the
// thread loads.

import type { Additions } from '../content/additions.ts';
import type { StoredFolder } from './stored-files.ts';

/** Crosses to the thread. */
export interface MadeTask extends StoredFolder {
  /** That addresses of the site begin with: decoded, without trailing slash; empty for the root. */
  readonly basePath: string;
  /** Share of one core that the work may take, 1 to 100. */
  readonly cpuPercent: number;
  /** Limit on disk for made files, and for what the bundle takes in addition to its files' own size. */
  readonly maxBytes: number;
}

/** Crosses back. */
export interface PreparedFiles {
  /** `undefined` where the bundle has such files of its own. */
  readonly additions: Additions | undefined;
  /** True when they were on disk already. */
  readonly isFound: boolean;
}

/** Folder of a bundle in which the files of its search lie. */
export const ownSearchFolder = '_sx/search/';
