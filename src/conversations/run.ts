// One run: reads what no run has read, then again what may have changed, window by window, and hands new and changed turns
// to a sink. Owns the order: the sink has the turns, then the state says so. A window whose listing does not end is closed as
// read in part, so that later ones are read. Invariant: whatever ends the run, the next one reads each window that is not
// closed from its start.

import type { ConversationPage } from '#export-api/conversation-answers.ts';
import { pagesOf } from '#export-api/conversation-pages.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { createEstimator, type Estimate, type Estimator } from './estimate.ts';
import type { TurnBatch } from './known-turns.ts';
import type { PacedListing } from './paced-listing.ts';
import { CursorLost, isBrokenPaging, withCursorLost } from './paced-listing.ts';
import type { Sink } from './sink.ts';
import type { ConversationState } from './state.ts';
import { type ReadTurn, readTurn, type Turn, utcText, withTexts } from './turn.ts';
import {
  closeWindow,
  firstStepMs,
  nextStep,
  type PlannedSpan,
  planSpans,
  shortestStepMs,
  type TimeSpan,
} from './windows.ts';

export interface RunRequest {
  readonly project: string;
  /** Epoch ms; turns before it are left out. */
  readonly since: number;
  /** Epoch ms, exclusive. */
  readonly until: number | undefined;
  /** Turns younger than this may still be missing in the listing. */
  readonly lagMs: number;
  /** How long a turn may change after its time. */
  readonly lookBackMs: number;
  /** Turns in a page. */
  readonly limit: number;
}

export interface RunDependencies {
  readonly listing: PacedListing;
  readonly state: ConversationState;
  readonly sink: Sink;
  readonly clock: Clock;
  /** Before a sink or a report gets a turn. */
  readonly redact: (turn: ReadTurn) => ReadTurn;
  readonly dropsResponse: boolean;
  readonly onProgress: (progress: RunProgress) => void;
  /** After each page: a window may have hundreds. */
  readonly onPage?: (counts: RunCounts) => void;
}

export interface RunCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Turns that the sink has already. */
  readonly unchanged: number;
  /** Turns outside of the time that was asked for. */
  readonly outside: number;
  /** Turns whose timestamp is not an instant. */
  readonly undated: number;
  readonly windows: number;
  /** Windows whose listing did not come to its end. */
  readonly partialWindows: number;
  readonly requests: number;
}

/** The first window that was read in part, and why. */
export interface PartialRead {
  readonly window: TimeSpan;
  readonly why: string;
}

export interface RunResult extends RunCounts {
  readonly partial: PartialRead | undefined;
}

export interface RunProgress extends RunCounts {
  readonly estimate: Estimate;
}

/** `dateFrom` may be exclusive, and a service may cut an instant to seconds. */
const earlierMs = 1_000;
const mostRestarts = 3;
/** A sink that gets nothing new is never full, and the hashes of a long window would fill the memory. */
const mostUncommitted = 20_000;

/**
 * @throws {ExportApiError} {PublishableError} the signal's reason; what was committed stays
 */
export async function exportTurns(
  request: RunRequest,
  dependencies: RunDependencies,
  signal: AbortSignal,
): Promise<RunResult> {
  const { state, clock } = dependencies;
  const now = clock.now();
  // Whole seconds, because a service may cut an instant to them.
  const horizon = Math.floor(Math.min(now - request.lagMs, request.until ?? now) / 1000) * 1000;
  // A cycle that did not end goes on, so that it is not read from its start for ever.
  const cycle = Math.min(state.cycle ?? now, now);
  if (state.cycle !== cycle) state.beginCycle(cycle);
  const since = Math.floor(Math.max(request.since, state.prunedBefore) / 1000) * 1000;
  const spans = planSpans(state.windows, { since, horizon, cycleStart: cycle });
  const run = new Run({ ...request, since }, cycle, spans, dependencies, signal);
  for (const span of spans) await run.readSpan(span);
  state.endCycle();
  await dependencies.sink.keepBookmark?.(state);
  return { ...run.counts, partial: run.partial };
}

class Run {
  readonly #request: RunRequest;
  readonly #cycle: number;
  readonly #dependencies: RunDependencies;
  readonly #signal: AbortSignal;
  readonly #estimator: Estimator;
  readonly #counts = {
    inserted: 0,
    updated: 0,
    unchanged: 0,
    outside: 0,
    undated: 0,
    windows: 0,
    partialWindows: 0,
  };
  #stepMs: number;
  #batch: TurnBatch;
  /** Rows, those that the sink has already included. */
  #uncommitted = 0;
  /** Of this run: what it saw before is counted. */
  #firstReading: number | undefined;
  /** Of the window that is read. */
  #pages = 0;
  #rows = 0;
  #partial: PartialRead | undefined;
  /** Shorter windows did not end either, so that the next one is not tried with them. */
  #isShorterFutile = false;

  constructor(
    request: RunRequest,
    cycle: number,
    spans: readonly TimeSpan[],
    dependencies: RunDependencies,
    signal: AbortSignal,
  ) {
    this.#request = request;
    this.#cycle = cycle;
    this.#estimator = createEstimator(spans, request.limit);
    this.#dependencies = dependencies;
    this.#signal = signal;
    this.#batch = dependencies.state.known.newBatch();
    this.#stepMs = dependencies.state.stepMs ?? firstStepMs;
  }

  get counts(): RunCounts {
    return { ...this.#counts, requests: this.#dependencies.listing.requests };
  }

  get partial(): PartialRead | undefined {
    return this.#partial;
  }

  async readSpan(span: PlannedSpan): Promise<void> {
    let restarts = 0;
    let stepBefore = this.#stepMs;
    for (let from = span.from; from < span.until; ) {
      const window = { from, until: Math.min(from + this.#stepMs, span.until) };
      const before = this.#dependencies.listing.requests;
      const fault = await this.#readWindow(window).then(
        () => undefined,
        async (error: unknown) => {
          if (error instanceof CursorLost || isBrokenPaging(error)) return error;
          // The run ends with its own failure, also where the sink or the state cannot take this either.
          await this.#keepShorterStep(window).catch(() => {});
          throw error;
        },
      );
      if (fault !== undefined && this.#mayEndShorter(window, restarts)) {
        // A cursor does not outlive its time, and a page that has all rows needs no cursor.
        if (restarts === 0) stepBefore = this.#stepMs;
        restarts += 1;
        this.#stepMs = shorterStep(window);
        continue;
      }
      const requests = this.#dependencies.listing.requests - before;
      if (fault === undefined) {
        if (requests > 1) this.#isShorterFutile = false;
        const isFull = this.#rows > this.#request.limit / 2;
        // A window that the end of its span cuts short says little about the next one.
        const isCut = window.until - window.from < this.#stepMs;
        if (!isCut) this.#stepMs = nextStep(this.#stepMs, { requests, isFull });
      } else if (isBrokenPaging(fault)) {
        this.#isShorterFutile = true;
        this.#stepMs = restarts > 0 ? stepBefore : this.#stepMs;
      }
      restarts = 0;
      await this.#close(window, requests, fault);
      from = window.until;
    }
  }

  #mayEndShorter(window: TimeSpan, restarts: number): boolean {
    return (
      !this.#isShorterFutile && restarts < mostRestarts && shorterStep(window) < window.until - window.from
    );
  }

  /** The next run may have no more requests than this one, and would never come to the end of the same window. */
  async #keepShorterStep(window: TimeSpan): Promise<void> {
    if (this.#pages === 0) return;
    const { state, sink } = this.#dependencies;
    state.closeWindow(state.windows, shorterStep(window));
    await sink.keepBookmark?.(state);
  }

  async #readWindow({ from, until }: TimeSpan): Promise<void> {
    const { listing, state, sink } = this.#dependencies;
    const { project, limit } = this.#request;
    const reading = state.nextReading();
    this.#firstReading ??= reading;
    const query = { projectId: project, dateFrom: from - earlierMs, dateTo: until, limit };
    this.#rows = 0;
    this.#pages = 0;
    const pages = pagesOf({ listConversations: withCursorLost(listing) }, query, this.#signal);
    for await (const page of pages) {
      this.#signal.throwIfAborted();
      this.#rows += page.rows.length;
      this.#pages += 1;
      await this.#takePage(page, reading);
      if (sink.isFull() || this.#uncommitted >= mostUncommitted) await this.#commit();
      this.#dependencies.onPage?.(this.counts);
    }
    await this.#commit();
  }

  async #takePage(page: ConversationPage, reading: number): Promise<void> {
    const { sink, clock, redact, dropsResponse } = this.#dependencies;
    const observedAt = utcText(clock.now()) ?? '';
    const turns: Turn[] = [];
    this.#batch.nextPage();
    this.#uncommitted += page.rows.length;
    for (const row of page.rows) {
      const read = redact(readTurn(row, this.#request.project));
      if (!this.#isAskedFor(read)) continue;
      const turn = dropsResponse ? { ...read, response: null } : read;
      const found = this.#batch.recognize(turn, read.response, reading);
      // A turn without an instant may be in the listing of every window.
      const isCounted = found.seenBy !== undefined && found.seenBy >= (this.#firstReading ?? 0);
      if (turn.timestamp === null && !isCounted) this.#counts.undated += 1;
      if (found.kind === 'known') {
        if (turn.timestamp !== null || !isCounted) this.#counts.unchanged += 1;
        continue;
      }
      this.#counts[found.kind === 'insert' ? 'inserted' : 'updated'] += 1;
      const { turnKey, contentHash, kind } = found;
      turns.push({
        turn_key: turnKey,
        // A vendor may cut a text inside of a character. The hashes are of what came, so that a turn stays one.
        ...withTexts(turn, (text) => text.toWellFormed()),
        content_hash: contentHash,
        change: kind,
        observed_at: observedAt,
      });
    }
    if (turns.length > 0) await sink.write(turns);
  }

  /** A turn without an instant is taken, because nothing says that it is not asked for. */
  #isAskedFor({ timestamp }: ReadTurn): boolean {
    if (timestamp === null) return true;
    const at = Date.parse(timestamp);
    const isInside = at >= this.#request.since && at < (this.#request.until ?? Number.POSITIVE_INFINITY);
    if (!isInside) this.#counts.outside += 1;
    return isInside;
  }

  async #commit(): Promise<void> {
    const { sink, state } = this.#dependencies;
    if (this.#uncommitted === 0) return;
    const parts = await sink.flush();
    state.commit(this.#batch, parts);
    this.#batch = state.known.newBatch();
    this.#uncommitted = 0;
  }

  /** @param fault why its listing did not come to its end */
  async #close(window: TimeSpan, requests: number, fault: Error | undefined): Promise<void> {
    const { state, sink, onProgress } = this.#dependencies;
    await this.#commit();
    const settledBefore = this.#cycle - this.#request.lagMs - this.#request.lookBackMs;
    const settled = fault === undefined ? settledBefore : undefined;
    state.closeWindow(closeWindow(state.windows, window, this.#cycle, settled), this.#stepMs);
    await sink.keepBookmark?.(state);
    this.#counts.windows += 1;
    if (fault !== undefined) {
      this.#counts.partialWindows += 1;
      this.#partial ??= { window, why: fault.message };
    }
    const { counts } = this;
    const read = { rows: this.#rows, requests, sent: counts.requests, stepMs: this.#stepMs };
    onProgress({ ...counts, estimate: this.#estimator.windowRead(window, read) });
  }
}

const shorterStep = ({ from, until }: TimeSpan): number =>
  Math.max(shortestStepMs, Math.floor((until - from) / 4));
