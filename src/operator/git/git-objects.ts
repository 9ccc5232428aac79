// Commits, trees and files in memory, as the git client stores them: reads those of a commit, writes a new commit. What was
// received stays in its packs, and the client sees each object of them as a loose one when it asks. Refuses packs that take
// more memory or work than allowed. Invariant: one repository's objects, which nothing else holds, so that dropping them
// frees their memory.

import { deflateSync } from 'node:zlib';
import git from 'isomorphic-git';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type GitFault, mebibytes, tooLarge } from './git-fault.ts';
import { createMemoryFiles, type MadeFiles, type MemoryFiles } from './memory-files.ts';
import {
  type Commit,
  type GitTree,
  nameKey,
  type Person,
  readCommitBytes,
  readTree,
  replaceIds,
  type TreeEntry,
} from './object-bytes.ts';
import { PackRefused } from './pack-refused.ts';
import { PackStore } from './pack-store.ts';
import type { SigningKey } from './ssh-signature.ts';
import { signText } from './ssh-signature.ts';

/** What is at a path of a commit. */
export type Entry =
  | { readonly type: 'file'; readonly oid: string }
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
  readonly #trees = new Map<string, GitTree>();
  /** Ids of the objects that were written here. The remote may lack them; all others came from it. */
  readonly #made = new Set<string>();

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
      return readCommitBytes(oid, await this.#read(oid));
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
      const entry = (await this.#readTree(oid)).entries.get(nameKey(name));
      if (entry === undefined) return { type: 'absent' };
      const { type } = entry;
      if (type === 'link' || type === 'submodule') return { type };
      const isLast = depth === names.length - 1;
      if (type === 'folder' && isLast) return { type };
      if (type === 'file') return isLast ? { type, oid: entry.oid } : { type: 'absent' };
      oid = entry.oid;
    }
    return { type: 'folder' };
  }

  async readFile(oid: string): Promise<Uint8Array> {
    return await this.#read(oid);
  }

  /** @returns the tree with these files replaced; each is a file of the tree already */
  async replaceFiles(tree: string, texts: ReadonlyMap<string, string>): Promise<string> {
    return await this.#replaceBelow(
      tree,
      [...texts].map(([path, text]) => ({ names: path.split('/'), text })),
    );
  }

  /** Writes each folder once, however many of its files change. */
  async #replaceBelow(oid: string, files: readonly ReplacedFile[]): Promise<string> {
    if (files.length === 0) return oid;
    const tree = await this.#readTree(oid);
    const ids: [TreeEntry, string][] = [];
    for (const [name, below] of Map.groupBy(files, ({ names }) => names[0] ?? '')) {
      const entry = tree.entries.get(nameKey(name));
      const [first] = below;
      if (entry === undefined || first === undefined) throw new Error('a replaced file is in the tree');
      const inner = below.map(({ names, text }) => ({ names: names.slice(1), text }));
      const replaced =
        entry.type === 'folder'
          ? await this.#replaceBelow(entry.oid, inner)
          : await this.#write('blob', Buffer.from(first.text));
      ids.push([entry, replaced]);
    }
    return await this.#write('tree', replaceIds(tree, ids));
  }

  async #readTree(oid: string): Promise<GitTree> {
    const known = this.#trees.get(oid);
    if (known !== undefined) return known;
    const tree = readTree(await this.#read(oid));
    this.#trees.set(oid, tree);
    return tree;
  }

  async #read(oid: string): Promise<Buffer> {
    const { object } = await git.readObject({ ...this.folder, oid, format: 'content' });
    if (!Buffer.isBuffer(object)) throw new Error('the git client returns content as bytes');
    return object;
  }

  async #write(type: 'blob' | 'tree', object: Uint8Array): Promise<string> {
    const oid = await git.writeObject({ ...this.folder, type, object, format: 'content' });
    this.#made.add(oid);
    return oid;
  }

  async commit({ tree, parent, message, author, at, key }: NewCommit): Promise<string> {
    const person = { ...author, timestamp: Math.floor(at / 1000), timezoneOffset: 0 };
    const oid = await git.commit({
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
    this.#made.add(oid);
    return oid;
  }

  /** @returns a pack of the commit and of what was written for it. The remote has everything else. */
  async packCommit(oid: string): Promise<Uint8Array> {
    const { tree } = readCommitBytes(oid, await this.#read(oid));
    const oids = new Set([oid]);
    const trees = [tree];
    for (let next = trees.pop(); next !== undefined; next = trees.pop()) {
      if (!this.#made.has(next) || oids.has(next)) continue;
      oids.add(next);
      for (const entry of (await this.#readTree(next)).entries.values()) {
        if (entry.type === 'folder') trees.push(entry.oid);
        else if (this.#made.has(entry.oid)) oids.add(entry.oid);
      }
    }
    const { packfile } = await git.packObjects({ ...this.folder, oids: [...oids] });
    if (packfile === undefined) throw new Error('the git client returns a pack that it does not write');
    return packfile;
  }

  async writeRef(ref: string, value: string): Promise<void> {
    await git.writeRef({ ...this.folder, ref, value, force: true });
  }
}

interface ReplacedFile {
  readonly names: readonly string[];
  readonly text: string;
}

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
      return new PublishableError('Unreachable', 'The git host sent a damaged pack.', {
        kind: 'retry',
        cause: refused,
      });
    default:
      return refused.why satisfies never;
  }
}
