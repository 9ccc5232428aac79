// Everything a decision may look at, as one readonly value that holds the time. Gathered once per pass.
// Refuses: holding a key or a link. Of both only what may be published is here: state, host, clock.

import { readInstant } from '../staticexport/instant.ts';
import type { Status } from '../staticexport/status-schema.ts';
import type { Wanted } from '../staticexport/wanted.ts';

/** The API key's Secret as found. `secretVersion` is its uid and resourceVersion, never made of its content. */
export type KeyState =
  | { readonly kind: 'present'; readonly secretVersion: string; readonly hasUsualPrefix: boolean }
  | { readonly kind: 'missing'; readonly isSecretThere?: boolean }
  /** The cluster will not let it be read, and why. */
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'empty' | 'invalid' };

/** What the output Secret publishes: `bundle.json` without its link. */
export interface PublishedFacts {
  readonly version: string;
  readonly digest: string | undefined;
  readonly jobId: string;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
  /** Epoch ms, whole seconds, on this machine's clock. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type OutputState =
  | { readonly kind: 'absent'; readonly unreadConfigMap?: string | undefined }
  /** The cluster will not let the Secret be read: what is published is not known. `why` is safe to publish. */
  | { readonly kind: 'unreadable'; readonly why: string }
  /** Secret or ConfigMap of that name without our ownership. */
  | { readonly kind: 'foreign'; readonly objectKind: 'Secret' | 'ConfigMap' }
  /** `published` is `undefined` when our own Secret lost its document. */
  | {
      readonly kind: 'ours';
      readonly published: PublishedFacts | undefined;
      /** The ConfigMap of that name belongs to somebody else; the Secret is kept alive all the same. */
      readonly isConfigMapForeign?: boolean;
      /** Why the ConfigMap may not be read, safe to publish; the Secret is kept alive all the same. */
      readonly unreadConfigMap?: string | undefined;
    };

export interface GateState {
  readonly closedUntil: number | undefined;
  readonly closedAt: number | undefined;
  readonly refused:
    | { readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number }
    | undefined;
}

export interface CandidateState {
  readonly jobId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly reading: 'not-started' | 'running' | 'read' | 'failed';
}

export interface Observation {
  /** Epoch ms, whole seconds. */
  readonly now: number;
  readonly uid: string;
  readonly generation: number;
  readonly wanted: Wanted;
  /** Fields of the stored spec that cannot be read; `wanted` is then what remains of it. Empty for a good spec. */
  readonly specProblems: readonly string[];
  /** Names (domain, resolved base URL). */
  readonly inputHash: string;
  readonly status: Status;
  /** Token of `staticexport.dev/requestedAt`, bounded. */
  readonly request: string | undefined;
  /** Version named by `staticexport.dev/promote`. */
  readonly promote: string | undefined;
  readonly isHostAllowed: boolean;
  /** For whoever has to add one. */
  readonly allowedHosts?: readonly string[];
  readonly key: KeyState;
  readonly output: OutputState;
  readonly gate: GateState;
  /** What only this process knows. */
  readonly process: {
    readonly polledAt: number | undefined;
    /** What the API asked to wait, when it was asked about the job last. */
    readonly pollAfterMs: number | undefined;
    readonly candidate: CandidateState | undefined;
  };
  readonly requestTimeoutMs: number;
  /**
   * What the cluster said when it would not take an output in this pass, although nothing new was to be published:
   * in words safe to publish. Asked anew by every pass.
   */
  readonly unwritten?: string | undefined;
}

/** Something of the output's name belongs to somebody else: nothing new is published. */
export function isOutputTaken({ output }: Pick<Observation, 'output'>): boolean {
  return output.kind === 'foreign' || (output.kind === 'ours' && output.isConfigMapForeign === true);
}

/** What the cluster said when it would not let an output be read: nothing new is published over it. */
export function unreadOutput({ output }: Pick<Observation, 'output'>): string | undefined {
  if (output.kind === 'foreign') return undefined;
  return output.kind === 'unreadable' ? output.why : output.unreadConfigMap;
}

/** The published link's clock: as the Secret says, or as status knew it last where the Secret may not be read. */
export function knownClock({
  output,
  status,
}: Pick<Observation, 'output' | 'status'>): Pick<PublishedFacts, 'issuedAt' | 'expiresAt'> | undefined {
  if (output.kind === 'ours') return output.published;
  if (output.kind !== 'unreadable') return undefined;
  const [issuedAt, expiresAt] = [
    readInstant(status.active?.linkIssueTime),
    readInstant(status.active?.linkExpirationTime),
  ];
  return issuedAt === undefined || expiresAt === undefined ? undefined : { issuedAt, expiresAt };
}

/** A request that no export has answered yet. */
export function pendingRequest({ request, status }: Observation): string | undefined {
  return request !== undefined && request !== status.lastHandledRequest ? request : undefined;
}
