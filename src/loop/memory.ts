// State that only this process holds and may lose: the times of polls, each key's `Retry-After`, and archive
// inspections in the background. Losing it costs a poll, a link request or a download, never a wrong decision.
// Everything that must survive a restart is in status.

import type { InspectionFailure } from '../reconcile/result.ts';
import type { ValuesPlan, WantedValues } from '../targets/values.ts';
import type { ObjectKey } from '../wire/cluster.ts';
import type { Link } from '../wire/link.ts';
import type { LinkTimes } from '../wire/publication.ts';
import { InspectionPlaces } from './inspection-places.ts';
import type { Inspection } from './ports.ts';
import type { SeenLink } from './set-back.ts';

/** Shared by all resources that use the same key of the same Secret at the same base URL. */
export interface Gate {
  /** Epoch ms before which no resource calls the export API (`Retry-After`), and the time of that answer. */
  readonly closedUntil: number | undefined;
  readonly closedAt: number | undefined;
  readonly refused:
    | { readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number }
    | undefined;
}

export type ReadingOutcome =
  | { readonly kind: 'read'; readonly inspection: Inspection }
  | { readonly kind: 'failed'; readonly failure: InspectionFailure };

/** The issued link of an unpublished job, and the inspection of its archive. */
export interface CandidateWork extends LinkTimes {
  readonly jobId: string;
  readonly link: Link;
  /** Stops the inspection when its result is no longer needed. */
  readonly stop: AbortController;
  /**
   * Set while it waits for its slot, too. Never rejects. Resolves to `undefined`, which is not an outcome, when it
   * was stopped, or when the link had expired before a slot was free.
   */
  readonly reading: Promise<ReadingOutcome | undefined> | undefined;
  /** Set once `reading` is settled. */
  readonly done: ReadingOutcome | undefined;
  /** The resource's size limit when the inspection began. */
  readonly maxBytes: number | undefined;
}

/** The plan of one target's edit, for one state of its document and one wanted result. */
export interface PlannedTarget {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly wanted: WantedValues;
  /** Ends the planning when its plan is no longer needed. */
  readonly stop: AbortController;
  /** Resolves when `done` is set, or when there is no plan and a reconcile may request another. Never rejects. */
  readonly ended: Promise<void>;
  done: ValuesPlan | undefined;
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
  readonly ours: Set<string>;
  /** Which other operator wrote, and when this was last seen (monotonic ms), by resource. */
  readonly found: Map<string, { readonly operatorLease: string; readonly at: number }>;
  /** Operators that the log has named. */
  readonly named: Set<string>;
}

/** What a reconcile must read besides the resource: its key, its outputs, and whether these are current. */
export type ReadPlace = 'key' | 'output' | 'confirmation';

/** Since when a read was refused, and when that was last seen, on the monotonic clock. */
export interface RefusedRead {
  readonly since: number;
  readonly seenAt: number;
}

export interface ProcessMemory {
  /** By {@link gateId}. */
  readonly gates: Map<string, Gate>;
  /** By {@link resourceId}. */
  readonly polls: Map<string, LastPoll>;
  readonly candidates: Map<string, CandidateWork>;
  /** By {@link resourceId}: the published link as last seen. */
  readonly links: Map<string, SeenLink>;
  /** By {@link resourceId}: reads that the Kubernetes API server refused. */
  readonly refusedReads: Readonly<Record<ReadPlace, Map<string, RefusedRead>>>;
  /** By {@link gateId}: the version of the Secret whose unusual prefix the log has reported. */
  readonly warnedKeys: Map<string, string>;
  /** By {@link resourceId}: the gate that it uses. A gate without users is forgotten. */
  readonly users: Map<string, string>;
  /** By {@link gateId}: the number of its users. */
  readonly userCounts: Map<string, number>;
  /** Slots for inspecting candidates' archives, by {@link resourceId}. */
  readonly places: InspectionPlaces;
  /** By {@link resourceId}. */
  readonly plans: Map<string, TargetPlans>;
  readonly otherOperators: OtherOperators;
  /** Stops background work when the process stops or loses leadership. */
  readonly signal: AbortSignal;
}

/**
 * @param signal stops background work
 * @param places of the whole process; a caller with a single resource uses the default
 */
export function createMemory(signal: AbortSignal, places = new InspectionPlaces(1)): ProcessMemory {
  return {
    gates: new Map(),
    polls: new Map(),
    candidates: new Map(),
    links: new Map(),
    refusedReads: { key: new Map(), output: new Map(), confirmation: new Map() },
    warnedKeys: new Map(),
    users: new Map(),
    plans: new Map(),
    otherOperators: { ours: new Set(), found: new Map(), named: new Set() },
    userCounts: new Map(),
    places,
    signal,
  };
}

export function resourceId({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

export function gateId(
  baseUrl: string | undefined,
  namespace: string,
  secret: { readonly name: string; readonly key: string },
): string {
  return `${baseUrl ?? ''} ${namespace}/${secret.name}/${secret.key}`;
}

/** Keeps a newly issued link, and stops the inspection of the previous link. A kept slot stays kept. */
export function replaceCandidate({ candidates }: ProcessMemory, id: string, work: CandidateWork): void {
  candidates.get(id)?.stop.abort();
  candidates.set(id, work);
}

/** Stops the inspection, even if it still waits for its slot, and forgets the link. */
export function dropCandidate({ candidates, places }: ProcessMemory, id: string): void {
  candidates.get(id)?.stop.abort();
  candidates.delete(id);
  places.giveUp(id);
}

/** Forgets the plans of a resource's targets. The result of a plan in progress is ignored. */
export function dropPlans({ plans }: ProcessMemory, id: string): void {
  for (const { stop } of plans.get(id)?.values() ?? []) stop.abort();
  plans.delete(id);
}

/** Stores which gate a resource uses, and forgets its previous gate if that has no more users. */
export function useGate(memory: ProcessMemory, id: string, gate: string): void {
  if (memory.users.get(id) === gate) return;
  leaveGate(memory, id);
  memory.users.set(id, gate);
  memory.userCounts.set(gate, (memory.userCounts.get(gate) ?? 0) + 1);
}

function leaveGate({ users, userCounts, gates, warnedKeys }: ProcessMemory, id: string): void {
  const gate = users.get(id);
  if (gate === undefined) return;
  users.delete(id);
  const others = (userCounts.get(gate) ?? 1) - 1;
  if (others > 0) {
    userCounts.set(gate, others);
    return;
  }
  userCounts.delete(gate);
  gates.delete(gate);
  warnedKeys.delete(gate);
}

/** Drops the state of a resource that no longer exists. */
export function forgetResource(memory: ProcessMemory, key: ObjectKey): void {
  const id = resourceId(key);
  memory.polls.delete(id);
  memory.links.delete(id);
  for (const reads of Object.values(memory.refusedReads)) reads.delete(id);
  memory.otherOperators.ours.delete(id);
  memory.otherOperators.found.delete(id);
  dropCandidate(memory, id);
  dropPlans(memory, id);
  leaveGate(memory, id);
}
