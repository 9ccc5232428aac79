// What a corpus is: the sources of a small site, the packages and commands that build it, how its origin serves it, and how a
// visitor searches it. Data only, so that a site is built again exactly when its recipe changes.

export interface CorpusSearch {
  /** Where the search is opened. */
  readonly path: string;
  /** Elements to click first, in order. */
  readonly opens?: readonly string[];
  /** Where the word is typed. Absent: the path holds it. */
  readonly input?: string;
  /** What shows the results. */
  readonly results: string;
  /** Of each index that the report names. */
  readonly tools: readonly string[];
}

export interface CorpusNavigation {
  readonly from: string;
  /** The link that is clicked. */
  readonly link: string;
  /** Path of the page that is shown then. */
  readonly to: string;
}

export interface Corpus {
  readonly name: string;
  readonly packages?: Readonly<Record<string, string>>;
  /** Python packages, with their versions. */
  readonly pythonPackages?: readonly string[];
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** Run in order in the folder of the sources. The programs of its packages are on the path. */
  readonly commands: readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
  /** A program that serves it, with `PORT` in place of the port. Absent: a server of files. */
  readonly serve?: readonly string[];
  /** What is kept: the folder that is served. */
  readonly output: string;
  readonly search?: CorpusSearch;
  readonly navigations: readonly CorpusNavigation[];
  /** How many it has. */
  readonly pages: number;
}
