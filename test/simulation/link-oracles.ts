// The rules of the published link: it is refreshed in time, and never expired while the export API answers. Judged by
// the vendor's data of the link and by the monotonic clock, before and after each step. Owns the counts.

import assert from 'node:assert/strict';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { parseDurationMs } from '#operator/staticexport/duration.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { requestTimeoutMs, type Simulation, type Step } from './simulation.ts';

/** A vendor that issues the same link until it expires permits only a quick replacement, not one in time. */
const quickMs = 15_000;
/** Defaults of `linkRefresh`. */
const usualPercent = 66;
const usualInterval = '30s';

export class LinkOracles {
  readonly #simulation: Simulation;
  #calmSince: number | undefined;
  /** Links that expired while published, when the vendor issued no other. */
  excused = 0;
  /** Links that expired because the operator's clock was set back by more than their remaining lifetime. */
  expiredBySetBack = 0;
  #expiredOnce = new Set<string>();
  /** The published link, and when it was requested. */
  #published: { readonly link: string; readonly askedAt: number } | undefined;

  /** The resource as the last reconcile read it. */
  #seen: StaticExportObject | undefined;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#seen = simulation.object();
  }

  /** @param hadFaults in this step: the spec may have been read stale */
  check(step: Step, isCalm: boolean, hadFaults = false): void {
    const { clock } = this.#simulation;
    if (!isCalm) this.#calmSince = undefined;
    else this.#calmSince ??= clock.monotonic();
    this.#judge(step.linkBefore, step.startedAt, step.wasLinkValid, step);
    this.#noteSpec(step, hadFaults);
    this.#note(this.#simulation.output()?.['bundleUrl']);
    if (this.#simulation.object() !== undefined)
      this.#judge(
        this.#simulation.output()?.['bundleUrl'],
        clock.monotonic(),
        this.#simulation.isLinkValid(),
        step,
      );
  }

  /**
   * The rule counts from the answer that brought the published link: lifetime = expiry − the response's `Date`.
   * A link whose first answer was lost counts from the later answer. A published link that is issued again keeps
   * its first answer.
   */
  #note(link: string | undefined): void {
    if (link === this.#published?.link) return;
    const askedAt = link === undefined ? undefined : this.#simulation.vendor.issuedAt.get(link);
    this.#published = link === undefined || askedAt === undefined ? undefined : { link, askedAt };
  }

  /**
   * An edit missed by a stale read is seen at the next reconcile. Until then the former spec holds: status names the
   * generation that it describes.
   */
  #noteSpec({ error }: Step, hadFaults: boolean): void {
    const object = this.#simulation.object();
    const isSeen = this.#simulation.status().observedGeneration === object?.metadata.generation;
    if (isSeen || (error === undefined && !hadFaults)) this.#seen = object;
  }

  #judge(link: string | undefined, now: number, isLive: boolean, step: Step): void {
    const { vendor } = this.#simulation;
    const fact = link === undefined ? undefined : vendor.links.get(link);
    if (link === undefined || fact === undefined) return;
    const isExcused = this.#isExcused(fact.jobId, now);
    if (isExcused) {
      if (isLive || this.#expiredOnce.has(link)) return;
      this.#expiredOnce.add(link);
      this.excused += 1;
      return;
    }
    const deadMs = now - fact.expiresAt;
    const askedAt = this.#published?.link === link ? this.#published.askedAt : fact.issuedAt;
    const lifetimeMs = fact.expiresAt - askedAt;
    const dueMs = Math.max(dueAgeMs(this.#simulation.object(), lifetimeMs), dueAgeMs(this.#seen, lifetimeMs));
    const ageMs = now - askedAt;
    // With its clock set back the operator sees a younger link, so by that time the refresh may come late, or after expiry.
    const setBackMs = this.#simulation.jumps.setBackMs(askedAt);
    const slackMs = requestTimeoutMs + 2000 + setBackMs;
    const allowedMs = vendor.isCachingLinks ? quickMs : 0;
    const isOutlived = setBackMs > 0 && ageMs <= dueMs + slackMs;
    assert.ok(
      isLive || deadMs <= allowedMs || isOutlived,
      'an expired link is published although the export API answers',
    );
    if (!isLive && deadMs > allowedMs && !this.#expiredOnce.has(link)) {
      this.#expiredOnce.add(link);
      this.expiredBySetBack += 1;
    }
    if (vendor.isCachingLinks || this.#isWaiting(step)) return;
    assert.ok(ageMs <= dueMs + slackMs, `a link is not replaced at its time: ${ageMs - dueMs} ms late`);
  }

  /** The export API issued no other link in this link's lifetime, or no longer has the job. */
  #isExcused(jobId: string, now: number): boolean {
    const { vendor } = this.#simulation;
    const object = this.#simulation.object();
    if (this.#calmSince === undefined || now < this.#calmSince || object === undefined) return true;
    return !vendor.jobs.has(jobId);
  }

  /** An attempt failed before the calm time, and its wait has not ended. */
  #isWaiting({ before }: Step): boolean {
    const failed = this.#simulation.status().failures?.link ?? parseStatus(before?.status).failures?.link;
    return failed !== undefined;
  }
}

/** The job whose content is published, by the output. */
export function publishedJob(simulation: Simulation): string | undefined {
  const text = simulation.output()?.['bundle.json'];
  return text === undefined ? undefined : parsePublishedBundle(text).jobId;
}

/** Parsed once, because every step reads the same few texts. */
const durations = new Map<string, number>();

function durationMs(text: string): number {
  const known = durations.get(text) ?? parseDurationMs(text) ?? 0;
  durations.set(text, known);
  return known;
}

/** The age at which the spec requires the refresh of a link with this lifetime. */
export function dueAgeMs(object: StaticExportObject | undefined, lifetimeMs: number): number {
  const refresh = object && parseStaticExport(object).spec?.linkRefresh;
  const floorMs = durationMs(refresh?.minInterval ?? usualInterval);
  return Math.max(floorMs, (lifetimeMs * (refresh?.atPercent ?? usualPercent)) / 100);
}
