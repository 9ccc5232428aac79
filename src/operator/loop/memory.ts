// State that only this process holds and may lose: the times of polls, each key's `Retry-After`, and archive
// inspections in the background. Losing it costs a poll, a link request or a download, never a wrong decision.
// Everything that must survive a restart is in status.

import type { AttemptedRefresh, RateLimit } from '#operator/reconcile/observation.ts';
import type { InspectedContent, InspectionFailure } from '#operator/reconcile/result.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';
import type { TargetPlan, TargetWish } from '#operator/targets/target-plan.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import type { Link } from '#platform/wire/link.ts';
import type { LinkTimes } from '#platform/wire/publication.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import type { StartsInMemory } from './calls/start-times.ts';
import type { SeenLink } from './clock-set-back.ts';
import { InspectionSlots } from './inspection/inspection-slots.ts';
import type { MirrorLook } from './ports.ts';

export type InspectionOutcome =
  | { readonly kind: 'read'; readonly inspection: InspectedContent; readonly uncopied?: PublishableFailure }
  | { readonly kind: 'failed'; readonly failure: InspectionFailure }
  /** The mirror kept it from publication. */
  | { readonly kind: 'uncopied'; readonly failure: PublishableFailure };

/** A link in memory. */
export interface RememberedLink extends LinkTimes {
  readonly url: Link;
}

/** The issued link of an unpublished job, and the inspection of its archive. */
export interface CandidateWork {
  readonly jobId: string;
  /** `undefined`: its copy in the mirror is read. */
  readonly link: RememberedLink | undefined;
  /** Stops the inspection when its result is no longer needed. */
  readonly stop: AbortController;
  /**
   * Set while it waits for its slot, too. Never rejects. Resolves to `undefined`, which is not an outcome, when it
   * was stopped, or when the link had expired before a slot was free.
   */
  readonly inspection: Promise<InspectionOutcome | undefined> | undefined;
  /** Set once `inspection` is settled. */
  readonly done: InspectionOutcome | undefined;
  /** The rules of the spec when the inspection began, and whether it has begun. */
  readonly rules: string | undefined;
}

export type MirrorOutcome =
  | ({ readonly kind: 'looked' } & MirrorLook)
  | { readonly kind: 'copied'; readonly ref: string }
  /** `isLinkUsable`: the link was not the cause. */
  | { readonly kind: 'failed'; readonly failure: PublishableFailure; readonly isLinkUsable: boolean };

/** Work on the published copy, between reconciles. */
export interface MirrorWork {
  /** Names the work; the outcome of another work is dropped. */
  readonly name: string;
  /** Issued for copying again, where no link is published. */
  readonly link: RememberedLink | undefined;
  readonly stop: AbortController;
  readonly isRunning: boolean;
  readonly done: MirrorOutcome | undefined;
}

/** The plan of one target's edit, for one state of its document and one wanted result. */
export interface PlannedTarget {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly wish: TargetWish;
  /** Ends the planning when its plan is no longer needed. */
  readonly stop: AbortController;
  /** Resolves when `done` is set, or when there is no plan and a reconcile may request another. Never rejects. */
  readonly ended: Promise<void>;
  done: TargetPlan | undefined;
  /** A reconcile continued without this plan. The end of the planning requests another reconcile. */
  isAwaited: boolean;
}

/** By the target's id. */
export type TargetPlans = Map<string, PlannedTarget>;

/** When a job was last started or polled, and the delay that its export API requested. */
export interface LastPoll {
  readonly jobId: string;
  readonly at: number;
  readonly retryAfterMs: number | undefined;
}

/** What this process knows of other operators that write the same resources. */
export interface OtherOperators {
  /** Resources whose status this process wrote last. */
  readonly written: Set<string>;
  /** Which other operator wrote, and when this was last seen (monotonic ms), by resource. */
  readonly found: Map<string, { readonly operatorLease: string; readonly at: number }>;
  /** Operators that the log has named. */
  readonly logged: Set<string>;
}

/** What a reconcile must read in addition to the resource: its key, its outputs, and whether these are current. */
export type RequiredRead = 'key' | 'output' | 'confirmation';

/** Since when a read was refused, and when that was last seen, on the monotonic clock. */
export interface RefusedRead {
  readonly since: number;
  readonly seenAt: number;
}

export interface ProcessMemory {
  /** By {@link rateLimitId}. */
  readonly rateLimits: Map<string, RateLimit>;
  /** By {@link resourceId}. */
  readonly polls: Map<string, LastPoll>;
  readonly candidates: Map<string, CandidateWork>;
  /** By {@link resourceId}. */
  readonly mirrorWorks: Map<string, MirrorWork>;
  /** By {@link resourceId}: the published link as last seen. */
  readonly links: Map<string, SeenLink>;
  /** By {@link resourceId}: the last requested refresh that was attempted. */
  readonly refreshes: Map<string, AttemptedRefresh>;
  /** By {@link resourceId}: reads that the Kubernetes API server refused. */
  readonly refusedReads: Readonly<Record<RequiredRead, Map<string, RefusedRead>>>;
  /** By {@link rateLimitId}: the version of the Secret whose unusual prefix the log has reported. */
  readonly warnedKeys: Map<string, string>;
  /** By {@link resourceId}: the rate limit that it shares. A rate limit without users is forgotten. */
  readonly users: Map<string, string>;
  /** By {@link rateLimitId}: the number of its users. */
  readonly userCounts: Map<string, number>;
  /** Starts of exports by project. Kept when a resource is deleted: its starts still count. */
  readonly starts: StartsInMemory;
  /** Slots for inspecting candidates' archives, by {@link resourceId}. */
  readonly slots: InspectionSlots;
  /** By {@link resourceId}. */
  readonly plans: Map<string, TargetPlans>;
  readonly otherOperators: OtherOperators;
  /** Stops background work when the process stops or loses leadership. */
  readonly signal: AbortSignal;
}

/**
 * @param signal stops background work
 * @param slots the inspection slots of the process; a caller with a single resource uses the default
 */
export function createMemory(signal: AbortSignal, slots = new InspectionSlots(1)): ProcessMemory {
  return {
    rateLimits: new Map(),
    polls: new Map(),
    candidates: new Map(),
    mirrorWorks: new Map(),
    links: new Map(),
    refreshes: new Map(),
    refusedReads: { key: new Map(), output: new Map(), confirmation: new Map() },
    warnedKeys: new Map(),
    users: new Map(),
    plans: new Map(),
    otherOperators: { written: new Set(), found: new Map(), logged: new Set() },
    userCounts: new Map(),
    starts: new Map(),
    slots,
    signal,
  };
}

export function resourceId({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** By project, a refusal may be about the project, so that another one with the same key goes on. */
export function rateLimitId(
  { baseUrl, project }: Pick<Wanted, 'baseUrl' | 'project'>,
  namespace: string,
  secret: { readonly name: string; readonly key: string },
): string {
  return `${baseUrl ?? ''} ${namespace}/${secret.name}/${secret.key} ${project?.id ?? ''}`.trimEnd();
}

/** Keeps a newly issued link, and stops the inspection of the previous link. A kept slot stays kept. */
export function replaceCandidate({ candidates }: ProcessMemory, id: string, work: CandidateWork): void {
  candidates.get(id)?.stop.abort();
  candidates.set(id, work);
}

/** Stops the inspection, even if it still waits for its slot, and forgets the link. */
export function dropCandidate({ candidates, slots }: ProcessMemory, id: string): void {
  candidates.get(id)?.stop.abort();
  candidates.delete(id);
  slots.giveUp(id);
}

/** Stops work on the published copy, and forgets its link. */
export function dropMirrorWork({ mirrorWorks }: ProcessMemory, id: string): void {
  mirrorWorks.get(id)?.stop.abort();
  mirrorWorks.delete(id);
}

/** Forgets the plans of a resource's targets. The result of a plan in progress is ignored. */
export function dropPlans({ plans }: ProcessMemory, id: string): void {
  for (const { stop } of plans.get(id)?.values() ?? []) stop.abort();
  plans.delete(id);
}

/** Stores which rate limit a resource shares, and forgets the previous one if it has no more users. */
export function useRateLimit(memory: ProcessMemory, id: string, rateLimit: string): void {
  if (memory.users.get(id) === rateLimit) return;
  leaveRateLimit(memory, id);
  memory.users.set(id, rateLimit);
  memory.userCounts.set(rateLimit, (memory.userCounts.get(rateLimit) ?? 0) + 1);
}

function leaveRateLimit({ users, userCounts, rateLimits, warnedKeys }: ProcessMemory, id: string): void {
  const rateLimit = users.get(id);
  if (rateLimit === undefined) return;
  users.delete(id);
  const others = (userCounts.get(rateLimit) ?? 1) - 1;
  if (others > 0) {
    userCounts.set(rateLimit, others);
    return;
  }
  userCounts.delete(rateLimit);
  rateLimits.delete(rateLimit);
  warnedKeys.delete(rateLimit);
}

/** Drops the state of a resource that no longer exists. */
export function forgetResource(memory: ProcessMemory, key: ObjectKey): void {
  const id = resourceId(key);
  memory.polls.delete(id);
  memory.links.delete(id);
  memory.refreshes.delete(id);
  for (const reads of Object.values(memory.refusedReads)) reads.delete(id);
  memory.otherOperators.written.delete(id);
  memory.otherOperators.found.delete(id);
  dropCandidate(memory, id);
  dropMirrorWork(memory, id);
  dropPlans(memory, id);
  leaveRateLimit(memory, id);
}
