// What the keeper of made files and its thread have in common. Apart from made-making.ts, which makes them and which only the
// thread loads.

import type { MakeFiles } from '#bundle/made-files.ts';
import type { Additions, ExtensionCounts, MadeFeature } from '../content/additions.ts';
import type { StoredFolder } from './stored-files.ts';

/** Crosses to the thread. */
export interface MadeTask extends StoredFolder {
  /** At least one, in their order. */
  readonly features: readonly MadeFeature[];
  /** That addresses of the site begin with: decoded, without trailing slash; empty for the root. */
  readonly basePath: string;
  /** Share of one core that the work may take, 1 to 100. */
  readonly cpuPercent: number;
  /** Limit on disk for made files, and for what the bundle takes in addition to its files' own size. */
  readonly maxBytes: number;
}

/** Crosses back. */
export interface PreparedFiles {
  /** Of the task, without a search where the bundle has one of its own. */
  readonly features: readonly MadeFeature[];
  /** `undefined` where no feature is left. */
  readonly additions: Additions | undefined;
  readonly counts: ExtensionCounts;
  /** True when they were on disk already. */
  readonly isFound: boolean;
}

/** Loads a maker, of files for a site below that base path. */
export type LoadMaker = (basePath: string) => Promise<MakeFiles>;

/** Folder of a bundle in which the files of its search lie. */
export const ownSearchFolder = '_sx/search/';

const featureNames: Readonly<Record<MadeFeature, string>> = { search: 'search', markdown: 'Markdown' };

/** Names of features in a sentence. */
export function featureWords(features: readonly MadeFeature[]): string {
  return features.map((one) => `the ${featureNames[one]}`).join(' and ');
}
