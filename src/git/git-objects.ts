// Commits, trees and files in memory, as the git client stores them: reads those of a commit, writes a new commit. What was
// received stays in its packs, and the client sees each object of them as a loose one when it asks. Refuses packs that take
// more memory or work than allowed. Invariant: one repository's objects, which nothing else holds, so that dropping them
// frees their memory.

import { deflateSync } from 'node:zlib';
import git from 'isomorphic-git';
import { GitFault, mebibytes, tooLarge } from './git-fault.ts';
import { createMemoryFiles, type MadeFiles, type MemoryFiles } from './memory-files.ts';
import { PackRefused } from './pack-refused.ts';
import { PackStore } from './pack-store.ts';
import type { SigningKey } from './ssh-signature.ts';
import { signText } from './ssh-signature.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Commit {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
}

/** What is at a path of a commit. */
export type Entry =
  | { readonly type: 'file'; readonly oid: string; readonly mode: string }
  | { readonly type: 'absent' | 'folder' | 'link' | 'submodule' };

export interface NewCommit {
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
  readonly author: Person;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly key: SigningKey | undefined;
}

const packLimits = {
  /** A pack of small objects costs the id of each. */
  maxObjects: 500_000,
  /** A delta, its base and its result are held at once. */
  maxObjectBytes: 16 * 1024 * 1024,
  /** A few seconds of work. */
  maxResolvedBytes: 2 * 1024 ** 3,
  maxKeptBytes: 24 * 1024 * 1024,
};

/** What every command of the git client needs. */
export interface GitFolder {
  readonly fs: MemoryFiles;
  readonly cache: object;
  readonly gitdir: string;
}

const gitdir = '/repository';

export class GitObjects {
  readonly folder: GitFolder;
  readonly #trees = new Map<string, readonly TreeEntry[]>();

  private constructor(folder: GitFolder) {
    this.folder = folder;
  }

  /** @param maxBytes of all files: packs, their indexes, and what a commit adds */
  static async open(maxBytes: number): Promise<GitObjects> {
    const store = new PackStore(packLimits);
    const fs = createMemoryFiles({
      maxBytes,
      refuse: () => tooLarge('needs more memory than allowed'),
      check: (path, content) => {
        if (path.endsWith('.pack')) takePack(store, content);
      },
      made: looseObjects(store),
    });
    const folder = { fs, cache: {}, gitdir };
    await fs.promises.mkdir(folder.gitdir);
    await git.init({ ...folder, bare: true });
    return new GitObjects(folder);
  }

  /** @returns `undefined` for a commit that is not within the fetched depth */
  async readCommit(oid: string): Promise<Commit | undefined> {
    try {
      const { commit } = await git.readCommit({ ...this.folder, oid });
      const { tree, parent, author, committer } = commit;
      return { oid, tree, parents: parent, author, committer };
    } catch (error) {
      if (codeOf(error) === 'NotFoundError') return undefined;
      throw error;
    }
  }

  /** @param path of plain names, checked by the caller */
  async findEntry(tree: string, path: string): Promise<Entry> {
    const names = path.split('/');
    let oid = tree;
    for (const [depth, name] of names.entries()) {
      const entry = (await this.#readTree(oid)).find((one) => one.path === name);
      if (entry === undefined) return { type: 'absent' };
      if (entry.type === 'commit') return { type: 'submodule' };
      if (entry.mode === '120000') return { type: 'link' };
      const isLast = depth === names.length - 1;
      if (entry.type === 'tree' && isLast) return { type: 'folder' };
      if (entry.type === 'blob')
        return isLast ? { type: 'file', oid: entry.oid, mode: entry.mode } : { type: 'absent' };
      oid = entry.oid;
    }
    return { type: 'folder' };
  }

  async readFile(oid: string): Promise<Uint8Array> {
    return (await git.readBlob({ ...this.folder, oid })).blob;
  }

  /** @returns the tree with these files replaced; each is a file of the tree already */
  async replaceFiles(tree: string, texts: ReadonlyMap<string, string>): Promise<string> {
    return await this.#replaceBelow(
      tree,
      [...texts].map(([path, text]) => ({ names: path.split('/'), text })),
    );
  }

  /** Writes each folder once, however many of its files change. */
  async #replaceBelow(tree: string, files: readonly ReplacedFile[]): Promise<string> {
    if (files.length === 0) return tree;
    const byName = Map.groupBy(files, ({ names }) => names[0] ?? '');
    const replaced: TreeEntry[] = [];
    for (const entry of await this.#readTree(tree)) {
      const below = byName.get(entry.path);
      const [first] = below ?? [];
      if (below === undefined || first === undefined) replaced.push(entry);
      else if (entry.type === 'tree') {
        const inner = below.map(({ names, text }) => ({ names: names.slice(1), text }));
        replaced.push({ ...entry, oid: await this.#replaceBelow(entry.oid, inner) });
      } else {
        const blob = Buffer.from(first.text);
        replaced.push({ ...entry, oid: await git.writeBlob({ ...this.folder, blob }) });
      }
    }
    return git.writeTree({ ...this.folder, tree: replaced });
  }

  async #readTree(oid: string): Promise<readonly TreeEntry[]> {
    const known = this.#trees.get(oid);
    if (known !== undefined) return known;
    const { tree } = await git.readTree({ ...this.folder, oid });
    this.#trees.set(oid, tree);
    return tree;
  }

  async commit({ tree, parent, message, author, at, key }: NewCommit): Promise<string> {
    const person = { ...author, timestamp: Math.floor(at / 1000), timezoneOffset: 0 };
    return git.commit({
      ...this.folder,
      ref: 'refs/heads/new',
      noUpdateBranch: true,
      message,
      tree,
      parent: [parent],
      author: person,
      committer: person,
      ...(key === undefined
        ? {}
        : { signingKey: 'ssh', onSign: ({ payload }) => ({ signature: signText(payload, key) }) }),
    });
  }

  async writeRef(ref: string, value: string): Promise<void> {
    await git.writeRef({ ...this.folder, ref, value, force: true });
  }
}

interface ReplacedFile {
  readonly names: readonly string[];
  readonly text: string;
}

type TreeEntry = Awaited<ReturnType<typeof git.readTree>>['tree'][number];

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The client indexes what it wrote: it finds no object there, and keeps none. */
function takePack(store: PackStore, pack: Uint8Array): void {
  orRefused(() => store.add(pack));
  new DataView(pack.buffer, pack.byteOffset, pack.byteLength).setUint32(8, 0);
}

/** Each object of the packs as a file of its own (gitrepository-layout, `objects/[0-9a-f][0-9a-f]`). */
function looseObjects(store: PackStore): MadeFiles {
  const idOf = (path: string): string => {
    const [, begin = '', rest = ''] =
      /^\/repository\/objects\/([0-9a-f]{2})\/([0-9a-f]{38})$/.exec(path) ?? [];
    return begin + rest;
  };
  return {
    has: (path) => store.has(idOf(path)),
    read: (path) =>
      orRefused(() => {
        const object = store.read(idOf(path));
        if (object === undefined) return undefined;
        const header = Buffer.from(`${object.type} ${object.content.byteLength}\0`);
        return deflateSync(Buffer.concat([header, object.content]), { level: 0 });
      }),
  };
}

/** @throws {GitFault} in place of a {@link PackRefused} */
function orRefused<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof PackRefused ? faultOf(error) : error;
  }
}

function faultOf(refused: PackRefused): GitFault {
  const { maxObjectBytes, maxObjects, maxResolvedBytes } = packLimits;
  switch (refused.why) {
    case 'ObjectTooLarge':
      return tooLarge(`holds a file larger than ${mebibytes(maxObjectBytes)}`, refused);
    case 'TooManyObjects':
      return tooLarge(`has more than ${maxObjects} objects`, refused);
    case 'TooMuchWork':
      return tooLarge(`takes more than ${mebibytes(maxResolvedBytes)} of unpacked content to read`, refused);
    case 'DamagedPack':
      return new GitFault('Unreachable', 'The git host sent a damaged pack. Retrying.', {
        isTemporary: true,
        cause: refused,
      });
    default:
      return refused.why satisfies never;
  }
}
