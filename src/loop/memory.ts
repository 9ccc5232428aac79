// What only this process knows, and may lose: when a job was last polled, what the API told everybody who uses
// one key to wait for, and archives being read in the background. Losing it costs a poll, a link request or a download,
// never a wrong decision: everything that must survive a restart is in status.

import type { ValuesPlan, WantedValues } from '../targets/values.ts';
import type { Link } from '../wire/link.ts';
import { InspectionPlaces } from './inspection-places.ts';
import type { Inspection, ObjectKey } from './ports.ts';
import type { SeenLink } from './set-back.ts';

/** Shared by all resources that use the same key of the same Secret at the same base URL. */
export interface Gate {
  /** Epoch ms before which nobody calls (`Retry-After`), and when that was said. */
  readonly closedUntil: number | undefined;
  readonly closedAt: number | undefined;
  readonly refused:
    | { readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number }
    | undefined;
}

export type ReadingOutcome =
  | { readonly kind: 'read'; readonly inspection: Inspection }
  | {
      readonly kind: 'failed';
      readonly failure: {
        readonly kind: 'dead-link' | 'transient' | 'refused';
        readonly code: string;
        readonly message: string;
      };
    };

/** The issued link of a job that is not published yet, and the inspection of its archive. */
export interface CandidateWork {
  readonly jobId: string;
  readonly link: Link;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Ends the reading when nobody wants it any more. */
  readonly stop: AbortController;
  /**
   * Set while it waits for its place, too. Never rejects; `undefined` comes of one that was stopped, or never began
   * because the link had died when there was a place, which is no outcome.
   */
  readonly reading: Promise<ReadingOutcome | undefined> | undefined;
  /** Set once `reading` is settled. */
  readonly done: ReadingOutcome | undefined;
  /** What the resource let an archive have when the reading began. */
  readonly maxBytes: number | undefined;
}

/** The plan of one target's edit, for one state of its document and one wish. */
export interface PlannedTarget {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly wanted: WantedValues;
  /** Ends the planning when its plan is no longer needed. */
  readonly stop: AbortController;
  /** Resolves when `done` is set, or when there is no plan and another may be asked for. Never rejects. */
  readonly ended: Promise<void>;
  done: ValuesPlan | undefined;
  /** A reconcile went on without it: its end asks for another. */
  isAwaited: boolean;
}

/** By the target's id. */
export type TargetPlans = Map<string, PlannedTarget>;

/** When a job was started or asked about last, and how long its API asked to wait. */
export interface LastPoll {
  readonly jobId: string;
  readonly at: number;
  readonly retryAfterMs: number | undefined;
}

/** What is known of other installations that write the same resources. */
export interface OtherOperators {
  /** Resources whose status this process left as its own. */
  readonly ours: Set<string>;
  /** Who else wrote, and when that was seen last (monotonic ms), by resource. */
  readonly found: Map<string, { readonly operatorLease: string; readonly at: number }>;
  /** Installations that the log has named. */
  readonly named: Set<string>;
}

/** What a pass must know beside the resource: its key, its outputs, and that these are not of the past. */
export type ReadPlace = 'key' | 'output' | 'confirmation';

/** Since when a place could not be read, and when that was seen last, on the monotonic clock. */
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
  /** By {@link resourceId}: the published link as it was seen last. */
  readonly links: Map<string, SeenLink>;
  /** By {@link resourceId}: what the cluster would not let a pass read. */
  readonly refusedReads: Readonly<Record<ReadPlace, Map<string, RefusedRead>>>;
  /** By {@link gateId}: the version of the Secret whose odd prefix was mentioned already. */
  readonly warnedKeys: Map<string, string>;
  /** By {@link resourceId}: the gate it goes through. A gate that nobody goes through is forgotten. */
  readonly users: Map<string, string>;
  /** By {@link gateId}: how many go through it. */
  readonly userCounts: Map<string, number>;
  /** Where candidates' archives are read, by {@link resourceId}. */
  readonly places: InspectionPlaces;
  /** By {@link resourceId}. */
  readonly plans: Map<string, TargetPlans>;
  readonly otherOperators: OtherOperators;
  /** Ends background work: the process stops, or lost leadership. */
  readonly signal: AbortSignal;
}

/**
 * @param signal ends background work
 * @param places of the whole process; one, of its own, for whoever has a single resource
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

/** Keeps a newly issued link instead of the one before it, whose reading ends. A place that is kept, waits for it. */
export function replaceCandidate({ candidates }: ProcessMemory, id: string, work: CandidateWork): void {
  candidates.get(id)?.stop.abort();
  candidates.set(id, work);
}

/** Ends the reading, if one goes on or waits for its place, and forgets its link. */
export function dropCandidate({ candidates, places }: ProcessMemory, id: string): void {
  candidates.get(id)?.stop.abort();
  candidates.delete(id);
  places.giveUp(id);
}

/** Forgets the plans of a resource's targets; one under way ends without being heard. */
export function dropPlans({ plans }: ProcessMemory, id: string): void {
  for (const { stop } of plans.get(id)?.values() ?? []) stop.abort();
  plans.delete(id);
}

/** Notes which gate a resource goes through, and forgets the one before if it was the last to use it. */
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

/** Drops what is kept for a resource that no longer exists. */
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
