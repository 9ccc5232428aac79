// What a group of extended tests depends on: its own folder, what it names, how it runs, and what its tests and programs load:
// rooms of `src`, and files of `test`, which count together. Files of test/support do not count where a test loads them: every run of `npm test` uses them.

import { existsSync, globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { filesLoadedBy } from '../support/import-graph.ts';
import { type Contents, contentsOf, contentsOfValue } from './contents.ts';
import type { Group } from './groups.ts';

const root = resolve(import.meta.dirname, '../..');

/** The test files that it runs, its own first. */
export const testFilesOf = (name: string, { files = [] }: Group): readonly string[] => [
  ...globSync(`test/extended/${name}/**/*.test.ts`, { cwd: root }),
  ...files,
];

/** Contents of all that it depends on. */
export function contentsFor(name: string, group: Group): Contents {
  const { paths, loadedTests } = dependenciesOf(name, group);
  return {
    ...contentsOfValue('how it runs', [group.files, group.commands, group.env]),
    ...contentsOfValue('test files that it loads', contentsOf(loadedTests)),
    ...contentsOf(paths),
  };
}

/** Paths relative to the repository, each once. */
export function dependenciesOf(
  name: string,
  group: Group,
): { readonly paths: readonly string[]; readonly loadedTests: readonly string[] } {
  const own = join('test/extended', name);
  const programs = (group.commands ?? []).map(([program]) => program ?? '');
  const roots = [...testFilesOf(name, group), ...programs].map((file) => join(root, file));
  const loaded = [...filesLoadedBy(roots)].map((file) => relative(root, file)).sort();
  const folders = loaded
    .filter((file) => file.startsWith('src/'))
    .map((file) => file.split('/', 3).join('/'));
  const named = [...(existsSync(join(root, own)) ? [own] : []), 'package-lock.json', ...group.dependsOn];
  const isCovered = (path: string): boolean => named.some((one) => path.startsWith(`${one}/`));
  const paths = [...new Set([...named, ...folders])].filter((path) => !isCovered(path));
  const loadedTests = loaded.filter((file) => /^test\/(?!support\/)/.test(file) && !isCovered(file));
  return { paths, loadedTests };
}
