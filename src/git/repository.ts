// A remote repository and what is held of it in memory. Fetches one commit without its history, then only what is new,
// and pushes a commit. Refuses to push where the remote branch is not where it was fetched. Invariants: what the client
// throws leaves this file as a fault without foreign text, and memory is bounded however often it fetches.

import git from 'isomorphic-git';
import { GitFault, isTooLarge } from './git-fault.ts';
import type { GitExchange, GitHttp } from './git-http.ts';
import { codeOf, GitObjects } from './git-objects.ts';
import { type PushOutcome, pushFailure } from './push-report.ts';

export interface Push {
  readonly commit: string;
  /** Of the remote. What it holds is not sent again. */
  readonly parent: string;
  readonly branch: string;
  /** Where the branch was fetched; `undefined` where the push makes it. The push is refused where it is elsewhere. */
  readonly expected: string | undefined;
  /** Whether commits of the branch may be dropped. */
  readonly isForced: boolean;
}

/** Of the limit, for what is new since the last fetch: it is held in addition to the repository. */
const newShare = 1 / 4;

/** Of the commit that the next fetch need not send again. */
const knownRef = 'refs/heads/known';
/** Of the commit that is pushed. */
const newRef = 'refs/heads/new';
const remote = 'origin';

export class Repository {
  readonly #url: string;
  readonly #http: GitHttp;
  readonly #maxBytes: number;
  #objects: GitObjects;
  /** The last fetched head. Absent while nothing is held. */
  #known: string | undefined;

  private constructor(url: string, http: GitHttp, maxBytes: number, objects: GitObjects) {
    this.#url = url;
    this.#http = http;
    this.#maxBytes = maxBytes;
    this.#objects = objects;
  }

  /** @param maxBytes of one fetch */
  static async open(url: string, http: GitHttp, maxBytes: number): Promise<Repository> {
    return new Repository(url, http, maxBytes, await openObjects(url, maxBytes));
  }

  /** Of the fetched commits. A later fetch may drop them for others. */
  get objects(): GitObjects {
    return this.#objects;
  }

  /** @returns the head of the branch on the remote; `undefined` where there is none */
  async readHead(branch: string): Promise<string | undefined> {
    const ref = `refs/heads/${branch}`;
    return (await this.#listRefs(ref)).find((one) => one.ref === ref)?.oid;
  }

  /** Whether the remote has no branch at all. */
  async isEmpty(): Promise<boolean> {
    return (await this.#listRefs('refs/heads/')).length === 0;
  }

  #listRefs(prefix: string) {
    return this.#call(this.#maxBytes, (http) =>
      git.listServerRefs({ http, url: this.#url, prefix, protocolVersion: 2 }),
    );
  }

  /**
   * Fetches what is new since the last fetch. Where nothing is held, or too much is new, fetches the head without what
   * is held, which is dropped.
   *
   * @param depth commits of the branch, if they are within the limit; otherwise the head alone
   * @returns the head of the branch as fetched; `undefined` where there is none
   */
  async fetch(branch: string, depth: number): Promise<string | undefined> {
    if (this.#known !== undefined) {
      await this.#objects.writeRef(knownRef, this.#known);
      // Without a depth, the server ends at the commits that are held, and does not send their history.
      const found = await this.#tryFetch(branch, undefined, this.#maxBytes * newShare);
      if (!(found instanceof GitFault)) return found.head;
      await this.#drop();
    }
    for (const commits of depth > 1 ? [depth, 1] : [1]) {
      const found = await this.#tryFetch(branch, commits, this.#maxBytes);
      if (!(found instanceof GitFault)) return found.head;
      if (commits === 1) throw found;
      await this.#drop();
    }
    throw new Error('a depth of one is tried last');
  }

  async #drop(): Promise<void> {
    this.#known = undefined;
    this.#objects = await openObjects(this.#url, this.#maxBytes);
  }

  /** @returns the fault of a fetch that is too large */
  async #tryFetch(
    branch: string,
    depth: number | undefined,
    maxBytes: number,
  ): Promise<{ readonly head: string | undefined } | GitFault> {
    try {
      const { fetchHead } = await this.#call(maxBytes, (http) =>
        git.fetch({
          ...this.#objects.folder,
          http,
          remote,
          url: this.#url,
          ref: knownRef,
          remoteRef: `refs/heads/${branch}`,
          singleBranch: true,
          tags: false,
          ...(depth === undefined ? {} : { depth }),
        }),
      );
      this.#known = fetchHead ?? this.#known;
      return { head: fetchHead ?? undefined };
    } catch (error) {
      if (codeOf(error) === 'NotFoundError') return { head: undefined };
      if (isTooLarge(error)) return error;
      throw error;
    }
  }

  async push({ commit, parent, branch, expected, isForced }: Push): Promise<PushOutcome> {
    const lines: string[] = [];
    const { folder } = this.#objects;
    await this.#objects.writeRef(newRef, commit);
    if (expected !== parent) {
      // The client sends nothing of the remote's default branch, and takes a commit for its name. Otherwise a new branch
      // would send the whole repository.
      const [ref, value] = [`refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${parent}`];
      await git.writeRef({ ...folder, ref, value, symbolic: true, force: true });
    }
    try {
      await this.#call(this.#maxBytes, (http) =>
        git.push({
          ...folder,
          http,
          remote,
          url: this.#url,
          ref: newRef,
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
  async #call<T>(maxBytes: number, work: (http: GitExchange['client']) => Promise<T>): Promise<T> {
    const exchange = this.#http.exchange(maxBytes);
    try {
      const result = await work(exchange.client);
      if (exchange.fault !== undefined) throw exchange.fault;
      return result;
    } catch (error) {
      throw exchange.fault ?? error;
    }
  }
}

async function openObjects(url: string, maxBytes: number): Promise<GitObjects> {
  // Packs and their indexes, which are as large as a pack of small objects, and what a commit adds.
  const objects = await GitObjects.open(2 * maxBytes);
  await git.addRemote({ ...objects.folder, remote, url });
  return objects;
}
