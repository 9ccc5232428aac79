// The files of the working tree that name versions or are a part of a release, as texts. Reads what git
// tracks or would add. Refuses what it ignores, so that nothing that lies about is changed or counted.

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Tree } from './release-plan.ts';

export const projectRoot = resolve(import.meta.dirname, '../..');

const places =
  /^(?:package(?:-lock)?\.json|Dockerfile|\.gitlab-ci\.yml|[^/]+\.md|(?:src|charts|crds|examples|packaging|\.github)\/.+)$/;

export async function readVersionTree(root: string): Promise<Tree> {
  // New files count too: a release that was just prepared has some.
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  const paths = listed.split('\0').filter((path) => places.test(path));
  const read = await Promise.all(
    paths.map(
      async (path) => [path, await readFile(join(root, path), 'utf8').catch(() => undefined)] as const,
    ),
  );
  return new Map(read.flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const])));
}
