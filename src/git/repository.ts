// A repository in memory: the git client, its files and its HTTP. Fetches shallow, reads files of a commit, writes a
// commit, pushes it. Refuses to push where the remote branch is not where it was fetched. Invariant: what the client
// throws leaves this file as a fault without foreign text.

import git from 'isomorphic-git';
import { GitFault, tooLarge } from './git-fault.ts';
import type { GitHttp } from './git-http.ts';
import { createMemoryFiles } from './memory-files.ts';
import { checkPack, PackRefused } from './pack-guard.ts';
import { type PushOutcome, pushFailure } from './push-report.ts';
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

export interface Push {
  readonly commit: string;
  readonly branch: string;
  /** Where the branch was fetched; `undefined` where the push makes it. The push is refused where it is elsewhere. */
  readonly expected: string | undefined;
  /** Whether commits of the branch may be dropped. */
  readonly isForced: boolean;
}

/** A pack of small objects costs the index of each. */
const maxObjects = 500_000;
/** The client holds an object and what it was inflated from at once. */
const maxObjectBytes = 16 * 1024 * 1024;

const gitdir = '/repository';
const remote = 'origin';

export class Repository {
  readonly #url: string;
  readonly #http: GitHttp;
  readonly #fs: ReturnType<typeof createMemoryFiles>;
  readonly #cache = {};
  readonly #trees = new Map<string, readonly TreeEntry[]>();

  private constructor(url: string, http: GitHttp, maxBytes: number) {
    this.#url = url;
    this.#http = http;
    this.#fs = createMemoryFiles({
      // The pack, its index, and what a commit adds.
      maxBytes: 2 * maxBytes,
      refuse: () => tooLarge('needs more memory than allowed'),
      check: (path, content) => {
        if (path.endsWith('.pack')) refusePack(content);
      },
    });
  }

  static async open(url: string, http: GitHttp, maxBytes: number): Promise<Repository> {
    const repository = new Repository(url, http, maxBytes);
    const fs = repository.#fs;
    await fs.promises.mkdir(gitdir);
    await git.init({ fs, gitdir, bare: true });
    await git.addRemote({ fs, gitdir, remote, url });
    return repository;
  }

  /** @returns the head of the branch on the remote; `undefined` where there is none */
  async readHead(branch: string): Promise<string | undefined> {
    const ref = `refs/heads/${branch}`;
    const refs = await this.#call(() => this.#listRefs(ref));
    return refs.find((one) => one.ref === ref)?.oid;
  }

  /** Whether the remote has no branch at all. */
  async isEmpty(): Promise<boolean> {
    return (await this.#call(() => this.#listRefs('refs/heads/'))).length === 0;
  }

  #listRefs(prefix: string) {
    return git.listServerRefs({ http: this.#http.client, url: this.#url, prefix, protocolVersion: 2 });
  }

  /** @returns the head of the branch as fetched; `undefined` where there is none */
  async fetch(branch: string, depth: number): Promise<string | undefined> {
    try {
      const { fetchHead } = await this.#call(() =>
        git.fetch({
          fs: this.#fs,
          cache: this.#cache,
          http: this.#http.client,
          gitdir,
          remote,
          url: this.#url,
          ref: branch,
          remoteRef: `refs/heads/${branch}`,
          singleBranch: true,
          tags: false,
          depth,
        }),
      );
      return fetchHead ?? undefined;
    } catch (error) {
      if (codeOf(error) === 'NotFoundError') return undefined;
      throw error;
    }
  }

  /** @returns `undefined` for a commit that is not within the fetched depth */
  async readCommit(oid: string): Promise<Commit | undefined> {
    try {
      const { commit } = await git.readCommit({ fs: this.#fs, cache: this.#cache, gitdir, oid });
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
    return (await git.readBlob({ fs: this.#fs, cache: this.#cache, gitdir, oid })).blob;
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
        replaced.push({ ...entry, oid: await git.writeBlob({ fs: this.#fs, gitdir, blob }) });
      }
    }
    return git.writeTree({ fs: this.#fs, gitdir, tree: replaced });
  }

  async #readTree(oid: string): Promise<readonly TreeEntry[]> {
    const known = this.#trees.get(oid);
    if (known !== undefined) return known;
    const { tree } = await git.readTree({ fs: this.#fs, cache: this.#cache, gitdir, oid });
    this.#trees.set(oid, tree);
    return tree;
  }

  async commit({ tree, parent, message, author, at, key }: NewCommit): Promise<string> {
    const person = { ...author, timestamp: Math.floor(at / 1000), timezoneOffset: 0 };
    return git.commit({
      fs: this.#fs,
      cache: this.#cache,
      gitdir,
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

  async push({ commit, branch, expected, isForced }: Push): Promise<PushOutcome> {
    const ref = 'refs/heads/new';
    const lines: string[] = [];
    await git.writeRef({ fs: this.#fs, gitdir, ref, value: commit, force: true });
    try {
      await this.#call(() =>
        git.push({
          fs: this.#fs,
          cache: this.#cache,
          http: this.#http.client,
          gitdir,
          remote,
          url: this.#url,
          ref,
          remoteRef: `refs/heads/${branch}`,
          force: isForced,
          // The lease: the server compares the same value again when it updates the branch.
          onPrePush: ({ remoteRef }) => remoteRef.oid === (expected ?? '0'.repeat(40)),
          onMessage: (line) => void lines.push(line),
        }),
      );
      return { outcome: 'pushed' };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'UserCanceledError' || code === 'PushRejectedError') return { outcome: 'behind' };
      if (!(error instanceof git.Errors.GitPushError)) throw error;
      return pushFailure(error.data.result, branch, lines, isForced);
    }
  }

  /** A fault of the network is the cause of whatever the client makes of it. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      if (this.#http.fault !== undefined) throw this.#http.fault;
      return result;
    } catch (error) {
      throw this.#http.fault ?? error;
    }
  }
}

interface ReplacedFile {
  readonly names: readonly string[];
  readonly text: string;
}

type TreeEntry = Awaited<ReturnType<typeof git.readTree>>['tree'][number];

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function refusePack(pack: Uint8Array): void {
  try {
    checkPack(pack, { maxObjects, maxObjectBytes });
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error;
    if (error.why === 'ObjectTooLarge') {
      throw tooLarge(`holds a file larger than ${maxObjectBytes / 1024 / 1024} MiB`, error);
    }
    if (error.why === 'TooManyObjects') throw tooLarge(`has more than ${maxObjects} objects`, error);
    throw new GitFault('Unreachable', 'The git host sent a damaged pack. Retrying.', {
      isTemporary: true,
      cause: error,
    });
  }
}
