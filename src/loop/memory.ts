// What only this process knows, and may lose: when a job was last polled, what the API told everybody who uses
// one key to wait for, and archives being read in the background. Losing it costs a poll, a mint or a download,
// never a wrong decision: everything that must survive a restart is in status.

import type { Link } from '../wire/link.ts';
import type { Inspection } from './ports.ts';

/** Shared by all resources that use the same key of the same Secret at the same base URL. */
export interface Gate {
  /** Epoch ms before which nobody calls (`Retry-After`), and when that was said. */
  readonly closedUntil?: number | undefined;
  readonly closedAt?: number | undefined;
  readonly refused?:
    | { readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number }
    | undefined;
}

export type InspectionOutcome =
  | { readonly outcome: 'read'; readonly inspection: Inspection }
  | { readonly outcome: 'failed'; readonly error: unknown };

/** A minted link of a job that is not published yet, and the reading of its archive. */
export interface CandidateWork {
  readonly jobId: string;
  readonly link: Link;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly reading: Promise<InspectionOutcome> | undefined;
  /** Set once `reading` is settled. */
  readonly done: InspectionOutcome | undefined;
}

export interface ProcessMemory {
  /** By `baseUrl namespace/secret/key`. */
  readonly gates: Map<string, Gate>;
  /** Epoch ms of the last poll, by uid. */
  readonly polledAt: Map<string, number>;
  /** By uid. */
  readonly candidates: Map<string, CandidateWork>;
  /** Ends background work; abort it when the process stops. */
  readonly signal: AbortSignal;
}

/** @param signal ends background work when the process stops or loses leadership */
export function createMemory(signal: AbortSignal): ProcessMemory {
  return { gates: new Map(), polledAt: new Map(), candidates: new Map(), signal };
}

/** Drops what is kept for a resource that no longer exists. */
export function forgetResource(memory: ProcessMemory, uid: string): void {
  memory.polledAt.delete(uid);
  memory.candidates.delete(uid);
}
