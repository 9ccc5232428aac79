// The thread's side of answers to agents: opens bundles of the store, hands calls to them, and reports answers. Owns which bundles are
// open: the one that was named last, and former ones until their calls are answered. Refuses to know the protocol. Invariant: bundles are
// opened one after the other, and a call for one that is closed is answered from the current one.

import { join } from 'node:path';
import { parseIndex } from '#bundle/store/index-document.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { indexName, packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { encodeError, PublishableError } from '#platform/wire/publishable-error.ts';
import { shareOfCore } from '../made/core-share.ts';
import { type MadeFileReader, openMadeFiles } from '../made/made-file-reader.ts';
import type {
  AgentCall,
  AgentContent,
  AgentQuestion,
  AgentReply,
  AgentReport,
  AgentSite,
  OpeningSite,
  SearchSource,
} from './mcp-task.ts';

export type OpenAgentSite = (bundle: StoredBundle, opening: OpeningSite) => AgentSite;

/** The starter, as the thread sees it. */
export interface AgentPort {
  postMessage(report: AgentReport): void;
  on(event: 'message', listener: (question: AgentQuestion) => void): unknown;
}

interface OpenContent {
  readonly site: AgentSite;
  readonly bundle: StoredBundle;
  /** Of the source `made-files`. */
  readonly made: MadeWait | undefined;
  calls: number;
  isFormer: boolean;
}

/** Files that the server makes, until they are stored or will not be. */
interface MadeWait {
  settle(isMade: boolean): void;
  readonly files: Promise<MadeFileReader | undefined>;
}

const unavailable: AgentReply = {
  ...{ status: 503, contentType: 'text/plain; charset=utf-8' },
  body: 'The pages are not ready for agents yet. Try again soon.\n',
};

export function serveAgents(port: AgentPort, openSite: OpenAgentSite, clock: Clock): void {
  const contents = new Map<string, OpenContent>();
  const callers = new Map<number, AbortController>();
  let current: OpenContent | undefined;
  /** The digest that was named last. */
  let wanted: string | undefined;
  let opening: Promise<unknown> = Promise.resolve();

  const closeUnused = (digest: string, content: OpenContent): void => {
    if (!content.isFormer || content.calls > 0) return;
    contents.delete(digest);
    close(content).catch(() => {});
  };
  const open = async (named: AgentContent, search: SearchSource): Promise<OpenContent | undefined> => {
    const { digest } = named;
    if (digest !== wanted) return undefined;
    try {
      const known = contents.get(digest);
      const bundle = known?.bundle ?? (await openStored(named));
      if (digest !== wanted) {
        if (known === undefined) await bundle.close();
        return undefined;
      }
      const content = known ?? start(named, bundle, search);
      content.isFormer = false;
      contents.set(digest, content);
      current = content;
      port.postMessage({ kind: 'opened', digest });
      for (const [other, former] of contents) {
        if (former === content) continue;
        former.isFormer = true;
        closeUnused(other, former);
      }
      return content;
    } catch (error) {
      port.postMessage({ kind: 'failed', digest, error: encodeError(error) });
      return undefined;
    }
  };
  const start = (named: AgentContent, bundle: StoredBundle, search: SearchSource): OpenContent => {
    const made = search === 'made-files' ? waitForMade(named, bundle) : undefined;
    const rest = shareOfCore(named.cpuPercent, clock);
    const site = openSite(bundle, { search, madeFiles: made?.files, rest });
    return { site, bundle, made, calls: 0, isFormer: false };
  };
  const reportSearch = async ({ site }: OpenContent, digest: string): Promise<void> => {
    const isClosed = (): boolean => contents.get(digest)?.site !== site;
    try {
      const pages = await site.searchable;
      if (!isClosed()) port.postMessage({ kind: 'searchable', digest, pages });
    } catch (error) {
      if (!isClosed()) port.postMessage({ kind: 'failed', digest, error: encodeError(error) });
    }
  };
  const openInTurn = async (named: AgentContent, search: SearchSource): Promise<void> => {
    wanted = named.digest;
    const opened = opening.then(() => open(named, search));
    opening = opened;
    const content = await opened;
    if (content !== undefined && search !== 'none') await reportSearch(content, named.digest);
  };
  const settleMade = async (digest: string, isMade: boolean): Promise<void> => {
    // Both questions may come while a bundle is opened.
    await opening;
    contents.get(digest)?.made?.settle(isMade);
  };
  const answer = async (id: number, digest: string, call: AgentCall): Promise<void> => {
    const named = contents.get(digest);
    const content = named ?? current;
    // The version is that of the digest that was named.
    const asked = named === undefined ? { ...call, version: undefined } : call;
    const caller = new AbortController();
    callers.set(id, caller);
    if (content !== undefined) content.calls += 1;
    const reply = (await content?.site.answer(asked, caller.signal)) ?? unavailable;
    callers.delete(id);
    port.postMessage({ kind: 'answer', id, reply });
    if (content === undefined) return;
    content.calls -= 1;
    closeUnused(content.bundle.index.digest, content);
  };
  port.on('message', (question) => {
    if (question.kind === 'open') void openInTurn(question.content, question.search);
    else if (question.kind === 'made') void settleMade(question.digest, question.isMade);
    else if (question.kind === 'call') void answer(question.id, question.digest, question.call);
    else callers.get(question.id)?.abort('the caller has left');
  });
}

function waitForMade(named: AgentContent, { index }: StoredBundle): MadeWait {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const files = promise.then((isMade) => (isMade ? openMadeFiles(named, index) : undefined));
  // The site that reads them makes its search of the pages then.
  files.catch(() => {});
  return { settle: resolve, files };
}

async function close({ site, bundle, made }: OpenContent): Promise<void> {
  const closed = site.close();
  // The site may wait for files that are not made any longer.
  made?.settle(false);
  await closed;
  await made?.files.then((files) => files?.close()).catch(() => {});
  await bundle.close();
}

async function openStored({ folder, digest }: AgentContent): Promise<StoredBundle> {
  const text = await systemDisk.readText(join(folder, indexName));
  const index = text === undefined ? undefined : parseIndex(text)?.index;
  if (index?.digest !== digest) {
    throw new PublishableError('BundleGone', 'the bundle is no longer in the store; agents cannot read it');
  }
  return openPack(join(folder, packName), index, undefined);
}
