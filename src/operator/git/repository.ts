// A remote repository and what is held of it in memory. Fetches one commit without its history, then only what is new,
// and pushes a commit. Refuses to push where the remote branch is not where it was fetched. Invariants: what the client
// throws leaves this file as a fault without foreign text, and memory is bounded however often it fetches.

import git from 'isomorphic-git';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type GitFault, isTooLarge, notAGitServer } from './git-fault.ts';
import type { GitExchange, GitHttp } from './git-http.ts';
import { codeOf, GitObjects } from './git-objects.ts';
import { type PushOutcome, readPushOutcome, readPushReport, writePushRequest } from './receive-pack.ts';

export interface Push {
  readonly commit: string;
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
const remote = 'origin';

export class GitRepository {
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
  static async open(url: string, http: GitHttp, maxBytes: number): Promise<GitRepository> {
    return new GitRepository(url, http, maxBytes, await openObjects(url, maxBytes));
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
      if (!(found instanceof PublishableError)) return found.head;
      await this.#drop();
    }
    for (const commits of depth > 1 ? [depth, 1] : [1]) {
      const found = await this.#tryFetch(branch, commits, this.#maxBytes);
      if (!(found instanceof PublishableError)) return found.head;
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

  async push({ commit, branch, expected, isForced }: Push): Promise<PushOutcome> {
    const pack = await this.#objects.packCommit(commit);
    const service = { forPush: true, protocolVersion: 1 } as const;
    return await this.#call(this.#maxBytes, async (http) => {
      const found = await git.getRemoteInfo2({ ...service, http, url: this.#url });
      if (found.refs === undefined) {
        throw notAGitServer(new URL(this.#url).host, 'listed no branches before the push');
      }
      const ref = `refs/heads/${branch}`;
      // The lease: the server compares the same value again when it updates the branch.
      if (found.refs.find((one) => one.ref === ref)?.oid !== expected) return { outcome: 'behind' };
      const update = { ref, from: expected, to: commit };
      const answer = await http.request({
        url: `${this.#url}/git-receive-pack`,
        method: 'POST',
        headers: {
          'content-type': 'application/x-git-receive-pack-request',
          accept: 'application/x-git-receive-pack-result',
        },
        body: toBody(writePushRequest(update, found.capabilities, pack)),
      });
      const report = Buffer.concat(await Array.fromAsync(answer.body ?? []));
      return readPushOutcome(readPushReport(report, found.capabilities), { branch, isForced });
    });
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

async function* toBody(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

async function openObjects(url: string, maxBytes: number): Promise<GitObjects> {
  // Packs and their indexes, which are as large as a pack of small objects, and what a commit adds.
  const objects = await GitObjects.open(2 * maxBytes);
  await git.addRemote({ ...objects.folder, remote, url });
  return objects;
}
