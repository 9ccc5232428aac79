// The thread that answers agents, as the site port sees it: its start and end, which bundle it has open, and the calls under way.
// Refuses more calls at once than allowed. Invariant: whatever a call or the thread does (hangs, exhausts its memory, ends), the site goes
// on, and a thread that ended is started again, later after each failure. A bundle whose index ended it is opened without a search.

import { bundleFolder } from '#bundle/store/store-layout.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { startTaskThread, type TaskHost } from '#platform/runtime/task.ts';
import { unlessAborted, waitAtMost } from '#platform/runtime/time-limit.ts';
import { type BackOff, backOffMs } from '#platform/wire/back-off.ts';
import { decodeError, PublishableError } from '#platform/wire/publishable-error.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import type { AgentCall, AgentContent, AgentQuestion, AgentReply, AgentReport } from './mcp-task.ts';

export type McpThreadErrorCode =
  | 'McpNotReady' // no thread, or no bundle that is open in it
  | 'McpBusy'
  | 'McpTooLate';

export interface McpThreadOptions {
  readonly start: () => TaskHost;
  readonly store: string;
  /** Share of one core that the index of a search may take, 1 to 100. */
  readonly cpuPercent: number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** `opening`: no call is answered yet. `making`: pages are listed and read. `ready`: they are searched too. `unsearchable`: never. */
export type AgentState = 'opening' | 'making' | 'ready' | 'unsearchable';

export interface McpThread {
  /** Of the bundle that answers, and how many of its pages are searched. */
  state(): { readonly state: AgentState; readonly searchedPages: number };
  /**
   * Opens the bundle that has just become active; the one before answers until then.
   *
   * @param made resolves with whether files of a search were made for its readers, which agents then search too; never rejects
   */
  useBundle(bundle: LiveBundle, made?: Promise<boolean>): void;
  /**
   * @param callOf the call, to the content of that digest
   * @param signal of a caller who has left
   * @throws {PublishableError} with a {@link McpThreadErrorCode}
   */
  call(callOf: (digest: string) => AgentCall, signal: AbortSignal): Promise<AgentReply>;
  stop(): Promise<void>;
}

/** Most calls wait for the disk; one at a time uses the processor. */
export const mostCalls = 8;
export const longestCallMs = 20_000;
const longestWaitMs = 5_000;
const mostWaiting = 64;
const backOff: BackOff = [1000, 60_000];
/** A thread that lasted so long has not failed because of what it does first. */
const steadyMs = 600_000;

interface Wanted {
  readonly content: AgentContent;
  readonly made: Promise<boolean> | undefined;
}

interface Running {
  readonly host: TaskHost;
  readonly startedAt: number;
  readonly calls: Map<number, (reply: AgentReply | PublishableError<McpThreadErrorCode>) => void>;
  /** A call took too long: its end says nothing about the index. */
  isEndedByCall: boolean;
}

export function createMcpThread({ start, store, cpuPercent, clock, logger }: McpThreadOptions): McpThread {
  const stopping = new AbortController();
  const unsearchable = new Set<string>();
  let waiting = new AbortController();
  let wanted: Wanted | undefined;
  let running: Running | undefined;
  let opened: string | undefined;
  /** The bundle whose index the thread is making. */
  let indexing: string | undefined;
  /** Pages that are searched, by digest of the bundle that is open; 0 where its index could not be made. */
  let searched: { readonly digest: string; readonly pages: number } | undefined;
  let failures = 0;
  let lastId = 0;
  let waiters = 0;
  /** Resolves when a bundle has been opened. */
  let opening = Promise.withResolvers<void>();

  const ask = ({ host }: Running, question: AgentQuestion): void => host.postMessage(question);
  const open = (thread: Running, asked: Wanted): void => {
    const { content, made } = asked;
    const { digest } = content;
    if (unsearchable.has(digest)) {
      ask(thread, { kind: 'open', content, search: 'none' });
      return;
    }
    if (made === undefined) {
      indexing = digest;
      ask(thread, { kind: 'open', content, search: 'pages' });
      return;
    }
    ask(thread, { kind: 'open', content, search: 'made-files' });
    void made.then((isMade) => {
      // Of the same bundle under another base path, other files are waited for.
      if (running !== thread || wanted !== asked) return;
      indexing = digest;
      ask(thread, { kind: 'made', digest, isMade });
    });
  };

  const hear = (thread: Running, report: AgentReport): void => {
    if (report.kind === 'answer') {
      thread.calls.get(report.id)?.(report.reply);
      return;
    }
    const { digest } = report;
    if (report.kind === 'opened') {
      if (digest !== wanted?.content.digest) return;
      opened = digest;
      opening.resolve();
      return;
    }
    if (indexing === digest) indexing = undefined;
    searched = { digest, pages: report.kind === 'searchable' ? report.pages : 0 };
    if (report.kind === 'searchable') {
      logger.info({ digest, pages: report.pages }, 'agents can search the site');
    } else {
      const { code, message } = report.error;
      logger.warn(
        { digest, code, reason: message, error: decodeError(report.error) },
        failureSentences[code] ?? otherFailure,
      );
    }
  };

  const begin = (): void => {
    const thread: Running = {
      ...{ host: start(), startedAt: clock.monotonic(), calls: new Map(), isEndedByCall: false },
    };
    running = thread;
    thread.host.on('message', (report: AgentReport) => hear(thread, report));
    thread.host.once('exit', () => end(thread));
    if (wanted !== undefined) open(thread, wanted);
  };
  const end = (thread: Running): void => {
    if (running === thread) {
      running = undefined;
      opened = undefined;
      searched = undefined;
      opening = Promise.withResolvers();
    }
    for (const settle of thread.calls.values()) settle(notReady());
    if (stopping.signal.aborted) return;
    if (indexing !== undefined && !thread.isEndedByCall) unsearchable.add(indexing);
    indexing = undefined;
    failures = clock.monotonic() - thread.startedAt > steadyMs ? 1 : failures + 1;
    const waitMs = backOffMs(backOff, failures);
    logger.warn({ failures, waitMs }, 'the thread that answers agents has ended; starting it again');
    clock.after(waitMs, stopping.signal).then(begin, () => {});
  };

  /** A start, and a start again, take about a second. */
  const untilOpen = async (): Promise<void> => {
    if (waiters >= mostWaiting) throw busy();
    waiters += 1;
    try {
      await waitAtMost(opening.promise, longestWaitMs, clock, stopping.signal);
    } finally {
      waiters -= 1;
    }
  };

  const openWhenStored = async (
    bundle: LiveBundle,
    made: Wanted['made'],
    signal: AbortSignal,
  ): Promise<void> => {
    // The thread reads the files where they are stored, and without a check.
    await unlessAborted(bundle.committed, signal);
    await unlessAborted(bundle.stored.proven(), signal);
    const { digest } = bundle;
    wanted = { content: { folder: bundleFolder(store, digest), digest, cpuPercent }, made };
    if (running !== undefined) open(running, wanted);
    else if (failures === 0) begin();
  };

  return {
    state: () => {
      if (opened === undefined) return { state: 'opening', searchedPages: 0 };
      if (unsearchable.has(opened)) return { state: 'unsearchable', searchedPages: 0 };
      if (searched?.digest !== opened) return { state: 'making', searchedPages: 0 };
      const { pages } = searched;
      return { state: pages > 0 ? 'ready' : 'unsearchable', searchedPages: pages };
    },
    useBundle: (bundle, made) => {
      waiting.abort('another bundle');
      waiting = new AbortController();
      // A bundle that cannot be stored or proven is reported by what stores it.
      openWhenStored(bundle, made, AbortSignal.any([waiting.signal, stopping.signal])).catch(() => {});
    },
    call: async (callOf, signal) => {
      if (opened === undefined) await untilOpen();
      const thread = running;
      const digest = opened;
      if (thread === undefined || digest === undefined) throw notReady();
      if (thread.calls.size >= mostCalls) throw busy();
      lastId += 1;
      const id = lastId;
      const { promise, resolve } = Promise.withResolvers<AgentReply | PublishableError<McpThreadErrorCode>>();
      thread.calls.set(id, resolve);
      const leave = (): void => ask(thread, { kind: 'leave', id });
      signal.addEventListener('abort', leave, { once: true });
      const settled = new AbortController();
      const late = (): void => {
        resolve(tooLate());
        thread.isEndedByCall = true;
        // What keeps it busy is unknown, and would go on.
        void thread.host.terminate();
      };
      clock.after(longestCallMs, settled.signal).then(late, () => {});
      try {
        ask(thread, { kind: 'call', id, digest, call: callOf(digest) });
        const reply = await promise;
        if (reply instanceof PublishableError) throw reply;
        return reply;
      } finally {
        settled.abort('settled');
        signal.removeEventListener('abort', leave);
        thread.calls.delete(id);
      }
    },
    stop: async () => {
      stopping.abort('stopping');
      await running?.host.terminate();
    },
  };
}

/** By codes. */
const failureSentences: Readonly<Record<string, string | undefined>> = {
  SearchTooLarge:
    'the search of the site is too large; agents list and read pages. Publish fewer or shorter pages',
};
const otherFailure =
  'could not prepare the site for agents; calls may fail until the next version. Check the volume of the store';

const threadError = (code: McpThreadErrorCode, message: string): PublishableError<McpThreadErrorCode> =>
  new PublishableError(code, message, { kind: 'retry' });
const notReady = () => threadError('McpNotReady', 'The pages are not ready for agents yet. Try again soon.');
const busy = () => threadError('McpBusy', `This server answers ${mostCalls} calls at once. Try again soon.`);
const tooLate = () => threadError('McpTooLate', 'The call took too long. Ask for less.');

/** Heap of the thread; the files of its search, and the pages that it reads, lie outside of it. */
const limits = { maxOldGenerationSizeMb: 200 };

/** @param program of the thread (`src/bin/mcp-worker.ts`, or where the build put it) */
export const startMcpThread = (program: URL): TaskHost => startTaskThread(program, limits);
