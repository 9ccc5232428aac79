// What only this process knows, and may lose: when a job was last polled, what the API told everybody who uses
// one key to wait for, and archives being read in the background. Losing it costs a poll, a mint or a download,
// never a wrong decision: everything that must survive a restart is in status.

import type { Link } from '../wire/link.ts';
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

/** A minted link of a job that is not published yet, and the reading of its archive. */
export interface CandidateWork {
  readonly jobId: string;
  readonly link: Link;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Ends the reading when nobody wants it any more. */
  readonly stop: AbortController;
  /** Never rejects; `undefined` comes of a reading that was stopped, which is no outcome. */
  readonly reading: Promise<ReadingOutcome | undefined> | undefined;
  /** Set once `reading` is settled. */
  readonly done: ReadingOutcome | undefined;
  /** What the resource let an archive have when the reading began. */
  readonly maxBytes: number | undefined;
}

/** When a job was started or asked about last, and how long its API asked to wait. */
export interface LastPoll {
  readonly jobId: string;
  readonly at: number;
  readonly retryAfterMs: number | undefined;
}

export interface ProcessMemory {
  /** By {@link gateId}. */
  readonly gates: Map<string, Gate>;
  /** By {@link resourceId}. */
  readonly polls: Map<string, LastPoll>;
  readonly candidates: Map<string, CandidateWork>;
  /** By {@link resourceId}: the published link as it was seen last. */
  readonly links: Map<string, SeenLink>;
  /** By {@link gateId}: the version of the Secret whose odd prefix was mentioned already. */
  readonly warnedKeys: Map<string, string>;
  /** By {@link resourceId}: the gate it goes through. A gate that nobody goes through is forgotten. */
  readonly users: Map<string, string>;
  /** Ends background work: the process stops, or lost leadership. */
  readonly signal: AbortSignal;
}

/** @param signal ends background work */
export function createMemory(signal: AbortSignal): ProcessMemory {
  return {
    gates: new Map(),
    polls: new Map(),
    candidates: new Map(),
    links: new Map(),
    warnedKeys: new Map(),
    users: new Map(),
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

/** Keeps a newly minted link instead of the one before it, whose reading ends. */
export function replaceCandidate(memory: ProcessMemory, id: string, work: CandidateWork): void {
  dropCandidate(memory, id);
  memory.candidates.set(id, work);
}

/** Ends the reading, if one goes on, and forgets its link. */
export function dropCandidate({ candidates }: ProcessMemory, id: string): void {
  candidates.get(id)?.stop.abort();
  candidates.delete(id);
}

/** Notes which gate a resource goes through, and forgets the one before if it was the last to use it. */
export function useGate(memory: ProcessMemory, id: string, gate: string): void {
  if (memory.users.get(id) === gate) return;
  leaveGate(memory, id);
  memory.users.set(id, gate);
}

function leaveGate({ users, gates, warnedKeys }: ProcessMemory, id: string): void {
  const gate = users.get(id);
  users.delete(id);
  if (gate === undefined || [...users.values()].includes(gate)) return;
  gates.delete(gate);
  warnedKeys.delete(gate);
}

/** Drops what is kept for a resource that no longer exists. */
export function forgetResource(memory: ProcessMemory, key: ObjectKey): void {
  const id = resourceId(key);
  memory.polls.delete(id);
  memory.links.delete(id);
  dropCandidate(memory, id);
  leaveGate(memory, id);
}
