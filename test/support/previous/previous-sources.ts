// The sources of the previous release, from the history of this clone, in a folder of their own. Refuses a clone that lacks
// them: an upgrade that is not tested must not look like one that works.

import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { version } from '#platform/runtime/version.ts';
import { mustRun } from '../command.ts';
import { maySkip } from '../may-skip.ts';
import { choosePreviousRelease } from './previous-release.ts';

const project = resolve(import.meta.dirname, '../../..');

export interface PreviousSources {
  /** Tag or commit. */
  readonly reference: string;
  readonly folder: string;
}

interface Found {
  readonly reference: string;
  /** What to do where this clone lacks it. */
  readonly missing: string | false;
}

/**
 * @param parent existing; gets the folder `previous`
 * @throws Error with the remedy where this clone lacks the commit
 */
export async function extractPreviousSources(parent: string): Promise<PreviousSources> {
  const { reference, missing } = findPrevious();
  if (missing !== false) throw new Error(missing);
  const folder = join(parent, 'previous');
  const archive = join(parent, 'previous.tar');
  await mkdir(folder);
  await mustRun(['git', '-C', project, 'archive', `--output=${archive}`, reference]);
  await mustRun(['tar', '-xf', archive, '-C', folder]);
  return { reference, folder };
}

/** Why tests that can do without the previous release are skipped here; `false` when they are not. */
export const noPreviousRelease = (): string | false => maySkip('history', findPrevious().missing);

function findPrevious(): Found {
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-C', project, ...args], { encoding: 'utf8' });
  const tags = (...which: readonly string[]) =>
    (git('tag', ...which, '--list', 'v*').stdout ?? '').split('\n');
  const reference = choosePreviousRelease(tags('--merged=HEAD'), tags('--points-at=HEAD'), version);
  const { status, stderr, error } = git('cat-file', '-e', `${reference}^{commit}`);
  const said = error?.message ?? stderr.trim();
  const remedy = 'Run `git fetch --unshallow --tags` and repeat';
  return {
    reference,
    missing:
      status !== 0 && `This clone lacks ${reference}, the release before ${version} (${said}). ${remedy}`,
  };
}
