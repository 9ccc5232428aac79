// What a group of extended tests depends on: its own folder, what it names, and what its tests and programs load, as folders
// of `src` and files of `test`. Files of test/support do not count where a test loads them: every run of `npm test` uses them.

import { existsSync, globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { filesLoadedBy } from '../support/import-graph.ts';
import type { Group } from './groups.ts';

const root = resolve(import.meta.dirname, '../..');

/** The test files that it runs, its own first. */
export const testFilesOf = (name: string, { files = [] }: Group): readonly string[] => [
  ...globSync(`test/extended/${name}/**/*.test.ts`, { cwd: root }),
  ...files,
];

/** Paths relative to the repository, each once. */
export function dependenciesOf(name: string, group: Group): readonly string[] {
  const own = join('test/extended', name);
  const programs = (group.commands ?? []).map(([program]) => program ?? '');
  const roots = [...testFilesOf(name, group), ...programs].map((file) => join(root, file));
  const loaded = [...filesLoadedBy(roots)]
    .map((file) => relative(root, file))
    .flatMap((file) => {
      const [first, second] = file.split('/');
      if (first === 'src') return [`src/${second}`];
      return first === 'test' && second !== 'support' && !file.startsWith(`${own}/`) ? [file] : [];
    });
  const named = [...(existsSync(join(root, own)) ? [own] : []), 'package-lock.json', ...group.dependsOn];
  const isCovered = (path: string): boolean => named.some((one) => path.startsWith(`${one}/`));
  return [...new Set([...named, ...loaded.sort()])].filter((path) => !isCovered(path));
}
