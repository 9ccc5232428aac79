// The rules that change which files an archive has, and not what is in them: clutter and launchers go, a wrapping folder is taken
// off. Pure. Invariant: the last file of an archive stays, because an archive without files is rejected.

import { wrappingFolder } from '../archive/wrapping-folder.ts';
import { isClutter, isLauncher, isStarter } from '../store/hidden-files.ts';
import type { RepairRuleName, RuleModes } from './rule-modes.ts';

/** A file under the path that it has so far. */
export interface PlacedFile {
  readonly path: string;
  /** In the archive that was read. */
  readonly source: string;
}

export interface PathChange {
  readonly rule: RepairRuleName;
  /** In the archive that was read. */
  readonly source: string;
}

export interface PlacedSite {
  readonly files: readonly PlacedFile[];
  readonly changes: readonly PathChange[];
}

/** @param sources paths of the archive that was read */
export function placeFiles(sources: readonly string[], modes: RuleModes): PlacedSite {
  const changes: PathChange[] = [];
  let files: readonly PlacedFile[] = sources.map((path) => ({ path, source: path }));
  const drop = (rule: RepairRuleName, goes: (path: string) => boolean): void => {
    const kept = files.filter(({ path }) => !goes(path));
    if (kept.length === 0) return;
    for (const { path, source } of files) if (goes(path)) changes.push({ rule, source });
    files = kept;
  };
  for (;;) {
    if (modes.launchers.word !== 'off') drop('launchers', launchersOf(files, modes.launchers.word === 'all'));
    if (modes['wrapping-folder'].word !== 'off') drop('wrapping-folder', isClutter);
    // Also where the rule is off: a reader of the archive takes it off, and the content has one digest.
    const folder = wrappingFolder(files.map(({ path }) => path));
    if (folder === undefined) return { files, changes };
    // Each turn makes every path shorter, so that it ends.
    for (const { source } of files) changes.push({ rule: 'wrapping-folder', source });
    files = files
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .map(({ path, source }) => ({ path: path.slice(folder.length + 1), source }));
  }
}

function launchersOf(files: readonly PlacedFile[], isEach: boolean): (path: string) => boolean {
  const atRoot = new Set(files.map(({ path }) => path).filter((path) => !path.includes('/')));
  return (path) => isStarter(path, atRoot) || (isEach && isLauncher(path));
}
