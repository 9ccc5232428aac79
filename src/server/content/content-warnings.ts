// What visitors miss of a bundle that is served, for the log and for /status: the home page, hidden pages, and scripts below
// another base path. A hint, never a refusal.

import type { BundleNote } from '#bundle/bundle-index.ts';
import { printableName } from '#bundle/refusal.ts';
import { findMisplacedName } from './home-page.ts';
import type { LiveBundle } from './live-bundle.ts';

/** The notes of the archive. Of an index of an earlier version the home page is looked up here. */
export function notesOfServed({
  routes,
  stored,
}: Pick<LiveBundle, 'routes' | 'stored'>): readonly BundleNote[] {
  const { notes } = stored.index;
  const isKnown = routes.find('/') !== undefined || notes.some(({ code }) => code === 'HomePageMissing');
  return isKnown ? notes : [...notes, { code: 'HomePageMissing', count: 1, example: '' }];
}

/** Without these warnings visitors see a 404 or bare text, and the administrator sees nothing. */
export async function findContentWarnings(bundle: LiveBundle, basePath: string): Promise<readonly string[]> {
  const misplaced = await findMisplacedName(bundle, basePath).catch(() => undefined);
  const { count, example } = bundle.routes.missing;
  return [
    ...notesOfServed(bundle).flatMap((note) => warningOf(note) ?? []),
    ...(count === 0
      ? []
      : [
          `the stored copy of this version has no bytes of ${count} files that --serve-dotfiles names, such as ${printableName(example)}. They get 404 until another version is published, or the store is emptied`,
        ]),
    ...(misplaced === undefined
      ? []
      : [
          `the home page loads ${printableName(misplaced)}, which is not in the bundle; export the site for the base path ${basePath || '/'}, or correct --base-path`,
        ]),
  ];
}

function warningOf({ code, count, example, paths = [] }: BundleNote): string | undefined {
  if (code === 'HomePageMissing') {
    const first = example === '' ? '' : ` The first page is ${example}.`;
    return `the home page does not answer, because the bundle has no index.html at its root.${first} Export the site with its home page`;
  }
  if (code !== 'NotServed') return undefined;
  const more = count > paths.length ? `, and ${count - paths.length} more` : '';
  return `pages or linked files get 404, because a name in their path is hidden: ${paths.join(', ')}${more}. Rename them, or name the hidden part in --serve-dotfiles`;
}
