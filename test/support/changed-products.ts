// Which test files a change reaches. A change in a product of `src` reaches the tests of it and of every product that imports
// it, at any distance; a test file is reached by what it loads. What all tests stand on, a lock file say, reaches all.

import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesLoadedBy, importedPath } from './import-graph.ts';

/** For each product of `src`, the products that import it directly. */
export type Dependants = ReadonlyMap<string, ReadonlySet<string>>;

export interface TestFile {
  /** From the root of the repository, as all paths here. */
  readonly path: string;
  /** Every file that it loads, itself included. */
  readonly loads: ReadonlySet<string>;
}

/** Files of these change what every test does. */
const reachesAll = /^(?:package(?:-lock)?\.json|tsconfig\.json|\.ci\/|test\/support\/)/;
/** Read the tree itself: sources, documents, charts. */
const isAboutTheTree = /^test\/unit\/[\w-]+\.test\.ts$/;
/** Folders outside `src`, and the tests that read them without an import. */
const readBy: readonly (readonly [changed: RegExp, tests: RegExp])[] = [
  [/^charts\//, /^test\/(?:charts|integration\/charts|unit\/packaging)\//],
  [
    /^(?:crds|schemas|packaging)\//,
    /^test\/(?:charts\/|unit\/packaging\/|integration\/(?:charts|operator|cli|crd|packaging))/,
  ],
  [/^(?:\.github\/|\.gitlab-ci\.yml)/, /^test\/integration\/packaging\//],
];
const productOfTest = (path: string): string | undefined => {
  if (path.startsWith('test/simulation/')) return 'operator';
  return /^test\/(?:unit|integration)\/([\w-]+)\//.exec(path)?.[1];
};

/** @returns the paths of the tests to run, in the order given */
export function testsReachedBy(
  changed: readonly string[],
  tests: readonly TestFile[],
  dependants: Dependants,
): readonly string[] {
  if (changed.some((path) => reachesAll.test(path))) return tests.map(({ path }) => path);
  const products = new Set<string>();
  const waiting = changed.flatMap((path) => /^src\/([\w-]+)\//.exec(path)?.[1] ?? []);
  for (let product = waiting.pop(); product !== undefined; product = waiting.pop()) {
    if (products.has(product)) continue;
    products.add(product);
    waiting.push(...(dependants.get(product) ?? []));
  }
  const readers = readBy.filter(([folder]) => changed.some((path) => folder.test(path)));
  const isReached = ({ path, loads }: TestFile): boolean =>
    isAboutTheTree.test(path) ||
    products.has(productOfTest(path) ?? '') ||
    readers.some(([, reader]) => reader.test(path)) ||
    changed.some((one) => loads.has(one));
  return tests.filter(isReached).map(({ path }) => path);
}

/** Reads the imports of `src` below the folder `root`, those of types alone included. */
export function readDependants(root: string): Dependants {
  const found = new Map<string, Set<string>>();
  const src = join(root, 'src');
  const productOf = (file: string): string => relative(src, file).split('/')[0] ?? '';
  for (const name of globSync('**/*.ts', { cwd: src })) {
    const file = join(src, name);
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\(|import )'([.#][^']+)'/g,
    )) {
      const imported = productOf(importedPath(file, specifier));
      if (imported === productOf(file)) continue;
      found.set(imported, (found.get(imported) ?? new Set()).add(productOf(file)));
    }
  }
  return found;
}

/** @returns each of the test files, whose paths start at `root`, with what it loads */
export const readTestFiles = (root: string, paths: readonly string[]): readonly TestFile[] =>
  paths.map((path) => ({
    path,
    loads: new Set([...filesLoadedBy([join(root, path)])].map((file) => relative(root, file))),
  }));
