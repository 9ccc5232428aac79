// The rules of the published link: it is replaced at its time, and never dead while the API answers. Judged by
// what the vendor knows of the link and by time that cannot jump, before and after each turn. Owns the counts.

import assert from 'node:assert/strict';
import { parsePublishedBundle } from '../../src/bundle/published-bundle.ts';
import { parseDurationMs } from '../../src/staticexport/duration.ts';
import { parseStaticExport, parseStatus } from '../../src/staticexport/parse.ts';
import type { StaticExportObject } from '../../src/wire/cluster.ts';
import { requestTimeoutMs, type Simulation, type Step } from './simulation.ts';

/** Who hands out the same link until it is dead leaves no way to be in time, only to be quick. */
const quickMs = 15_000;
/** Where `linkRefresh` is silent. */
const usualPercent = 66;
const usualInterval = '30s';

export class LinkOracles {
  readonly #simulation: Simulation;
  #calmSince: number | undefined;
  /** Links that died while published, with nobody to ask for another. */
  excused = 0;
  /** Links that died because our clock was set back under them, by more than the rest of their life. */
  setBackDeaths = 0;
  #diedOnce = new Set<string>();
  /** The published link, and when it was asked for. */
  #published: { readonly link: string; readonly askedAt: number } | undefined;

  /** The resource as a pass saw it last. */
  #seen: StaticExportObject | undefined;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#seen = simulation.object();
  }

  /** @param hadFaults in this turn: the spec that it read may have been one of the past */
  check(turn: Step, isCalm: boolean, hadFaults = false): void {
    const { clock } = this.#simulation;
    if (!isCalm) this.#calmSince = undefined;
    else this.#calmSince ??= clock.monotonic();
    this.#judge(turn.linkBefore, turn.startedAt, turn.wasLinkLive, turn);
    this.#noteSpec(turn, hadFaults);
    this.#note(this.#simulation.output()?.['bundleUrl']);
    if (this.#simulation.object() !== undefined)
      this.#judge(
        this.#simulation.output()?.['bundleUrl'],
        clock.monotonic(),
        this.#simulation.isLinkLive(),
        turn,
      );
  }

  /**
   * The rule counts from the answer that the published link came with: lifetime = its end − the response's `Date`.
   * A link that was handed out before, in an answer that got lost, is younger than it says to whoever gets it now;
   * one that is published already is not made younger by being handed out again.
   */
  #note(link: string | undefined): void {
    if (link === this.#published?.link) return;
    const askedAt = link === undefined ? undefined : this.#simulation.vendor.handedOut.get(link);
    this.#published = link === undefined || askedAt === undefined ? undefined : { link, askedAt };
  }

  /**
   * An edit that is read too early is seen at the next look, and until then nothing is amiss but that: status says
   * which generation it is about.
   */
  #noteSpec({ error }: Step, hadFaults: boolean): void {
    const object = this.#simulation.object();
    const isSeen = this.#simulation.status().observedGeneration === object?.metadata.generation;
    if (isSeen || (error === undefined && !hadFaults)) this.#seen = object;
  }

  #judge(link: string | undefined, now: number, isLive: boolean, turn: Step): void {
    const { vendor } = this.#simulation;
    const fact = link === undefined ? undefined : vendor.links.get(link);
    if (link === undefined || fact === undefined) return;
    const isExcused = this.#isExcused(fact.jobId, now);
    if (isExcused) {
      if (isLive || this.#diedOnce.has(link)) return;
      this.#diedOnce.add(link);
      this.excused += 1;
      return;
    }
    const deadMs = now - fact.expiresAt;
    const askedAt = this.#published?.link === link ? this.#published.askedAt : fact.issuedAt;
    const lifetimeMs = fact.expiresAt - askedAt;
    const dueMs = Math.max(dueAgeMs(this.#simulation.object(), lifetimeMs), dueAgeMs(this.#seen, lifetimeMs));
    const ageMs = now - askedAt;
    // Set back, our clock sees the link younger than it is, and by so much it may be late, or even dead.
    const setBackMs = this.#simulation.jumps.setBackMs(askedAt);
    const slackMs = requestTimeoutMs + 2000 + setBackMs;
    const allowedMs = vendor.isCachingLinks ? quickMs : 0;
    const isOutlived = setBackMs > 0 && ageMs <= dueMs + slackMs;
    assert.ok(
      isLive || deadMs <= allowedMs || isOutlived,
      'a dead link is published although the API answers',
    );
    if (!isLive && deadMs > allowedMs && !this.#diedOnce.has(link)) {
      this.#diedOnce.add(link);
      this.setBackDeaths += 1;
    }
    if (vendor.isCachingLinks || this.#isWaiting(turn)) return;
    assert.ok(ageMs <= dueMs + slackMs, `a link is not replaced at its time: ${ageMs - dueMs} ms late`);
  }

  /** The API could not be asked for another in this link's window, or no longer knows the job. */
  #isExcused(jobId: string, now: number): boolean {
    const { vendor } = this.#simulation;
    const object = this.#simulation.object();
    if (this.#calmSince === undefined || now < this.#calmSince || object === undefined) return true;
    return !vendor.jobs.has(jobId);
  }

  /** A try failed before the calm, and its wait is not over. */
  #isWaiting({ before }: Step): boolean {
    const failed = this.#simulation.status().failures?.link ?? parseStatus(before?.status).failures?.link;
    return failed !== undefined;
  }
}

/** The job whose content is published, as the output says. */
export function publishedJob(simulation: Simulation): string | undefined {
  const text = simulation.output()?.['bundle.json'];
  return text === undefined ? undefined : parsePublishedBundle(text).jobId;
}

/** A few texts, read at every turn. */
const durations = new Map<string, number>();

function durationMs(text: string): number {
  const known = durations.get(text) ?? parseDurationMs(text) ?? 0;
  durations.set(text, known);
  return known;
}

/** The age at which the spec wants a link of this life replaced. */
export function dueAgeMs(object: StaticExportObject | undefined, lifetimeMs: number): number {
  const refresh = object && parseStaticExport(object).spec?.linkRefresh;
  const floorMs = durationMs(refresh?.minInterval ?? usualInterval);
  return Math.max(floorMs, (lifetimeMs * (refresh?.atPercent ?? usualPercent)) / 100);
}
