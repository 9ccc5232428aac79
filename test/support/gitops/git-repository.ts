// A bare repository that a test's git server serves: commits without a work tree, files of a branch, a protected branch.
// A commit is one `git fast-import`, so that a test can write what ordinary clients would not: links, submodules, odd
// paths. Invariant: a commit never drops another client's commit.

import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, mustRun, runCommand } from '../command.ts';

/** What a commit puts at a path: a text file, or an entry of another mode. */
export type GitEntry =
  | string
  /** An executable file, or a symbolic link whose target is the content. */
  | { readonly mode: '100755' | '120000'; readonly content: string }
  /** A submodule at this commit. */
  | { readonly mode: '160000'; readonly commit: string }
  /** Removes what is at the path. */
  | undefined;

export interface CommitOptions {
  /** `main` when absent. */
  readonly branch?: string;
  readonly message?: string;
  /** `Name <address>`. */
  readonly author?: string;
}

export interface GitRepository {
  /** Where clients find it, on the server of the test. */
  readonly url: string;
  readonly folder: string;
  /** Adds a commit to the branch, and makes the branch if it is not there. @returns the commit's id */
  commit(files: Readonly<Record<string, GitEntry>>, options?: CommitOptions): Promise<string>;
  /** The text of a file at the head of a branch; undefined where there is none. */
  read(path: string, branch?: string): Promise<string | undefined>;
  /** A line for each commit of a branch, newest first; `format` is that of `git log`. */
  log(branch?: string, format?: string): Promise<readonly string[]>;
  /** From now on every push to these branches is refused, as hosts with protected branches do. */
  protect(...branches: readonly string[]): Promise<void>;
  /** `git ARGS` in the repository. */
  git(...args: readonly string[]): Promise<CommandResult>;
}

/** Without waits for the disk and without packing after each push: a test that ends loses its repositories anyway. */
const settings = `[http]
\treceivepack = true
[core]
\tfsync = none
[receive]
\tautogc = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;

/** Makes an empty bare repository in `folder`. */
export async function initRepository(folder: string, url: string): Promise<GitRepository> {
  await mustRun(['git', 'init', '--quiet', '--bare', '--template=', '--initial-branch=main', folder]);
  await appendFile(join(folder, 'config'), settings);
  const git = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(['git', '-C', folder, ...args]);
  const headOf = async (branch: string): Promise<string | undefined> => {
    const { code, stdout } = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
    return code === 0 ? stdout.trim() : undefined;
  };
  return {
    url,
    folder,
    git,
    commit: async (files, options = {}) => {
      const { branch = 'main' } = options;
      for (let attempt = 1; ; attempt += 1) {
        const input = importStream(files, options, await headOf(branch));
        const { code, stderr } = await runCommand(['git', '-C', folder, 'fast-import', '--quiet'], { input });
        if (code === 0) return (await headOf(branch)) ?? '';
        // Another client pushed between the read and the import, which then leaves the branch as it is.
        if (!/Not updating|cannot lock ref/.test(stderr) || attempt === 20) throw new Error(stderr);
      }
    },
    read: async (path, branch = 'main') => {
      const { code, stdout } = await git('show', `refs/heads/${branch}:${path}`);
      return code === 0 ? stdout : undefined;
    },
    log: async (branch = 'main', format = '%s') => {
      const command = ['git', '-C', folder, 'log', `--format=${format}`, `refs/heads/${branch}`];
      return (await mustRun(command)).trimEnd().split('\n');
    },
    protect: async (...branches) => {
      await mkdir(join(folder, 'hooks'), { recursive: true });
      const refs = branches.map((branch) => `refs/heads/${branch}`).join('|');
      const lines = [
        '#!/bin/sh',
        `case "$1" in ${refs}) echo "protected branch: $1" >&2; exit 1 ;; esac`,
        '',
      ];
      await writeFile(join(folder, 'hooks/update'), lines.join('\n'));
      await chmod(join(folder, 'hooks/update'), 0o755);
    },
  };
}

function importStream(
  files: Readonly<Record<string, GitEntry>>,
  { branch = 'main', message = 'change files', author = 'Test <test@example.com>' }: CommitOptions,
  parent: string | undefined,
): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, entry]) => {
    const quoted = JSON.stringify(path);
    if (entry === undefined) return `D ${quoted}\n`;
    if (typeof entry === 'string') return `M 100644 inline ${quoted}\n${data(entry)}`;
    if ('commit' in entry) return `M 160000 ${entry.commit} ${quoted}\n`;
    return `M ${entry.mode} inline ${quoted}\n${data(entry.content)}`;
  });
  return [
    'feature date-format=now\n',
    `commit refs/heads/${branch}\n`,
    `author ${author} now\n`,
    `committer ${author} now\n`,
    data(message),
    parent === undefined ? '' : `from ${parent}\n`,
    ...changes,
    '\ndone\n',
  ].join('');
}
