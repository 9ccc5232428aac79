// The files of the working tree that name versions or are a part of a release, as texts. Reads what git
// tracks or would add. Refuses what it ignores, so that nothing that lies about is changed or counted, and a folder outside of
// git.

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandRefusal } from './command-line.ts';
import type { Tree } from './release-plan.ts';

export const projectRoot = resolve(import.meta.dirname, '../..');

const places =
  /^(?:package(?:-lock)?\.json|Dockerfile|\.gitlab-ci\.yml|[^/]+\.md|(?:src|charts|crds|examples|packaging|\.github)\/.+)$/;

/** @throws CommandRefusal where git does not list the files */
export async function readVersionTree(root: string): Promise<Tree> {
  const paths = listFiles(root)
    .split('\0')
    .filter((path) => places.test(path));
  const read = await Promise.all(
    paths.map(
      async (path) => [path, await readFile(join(root, path), 'utf8').catch(() => undefined)] as const,
    ),
  );
  return new Map(read.flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const])));
}

function listFiles(root: string): string {
  try {
    // New files count too: a release that was just prepared has some.
    return execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (cause) {
    throw new CommandRefusal(
      `git does not list the files of ${root}; install git, and run this in a clone of the repository`,
      1,
      { cause },
    );
  }
}
