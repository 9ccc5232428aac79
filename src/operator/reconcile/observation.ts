// Everything that a decision may read, as one readonly value that includes the time. Gathered once per reconcile.
// Refuses: holding a key or a link. It holds only what may be published of both: state, host, clock.

import type { Status } from '#operator/staticexport/status-schema.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';

/** The API key's Secret as found. `secretVersion` is its uid and resourceVersion, never made of its content. */
export type KeyState =
  | { readonly kind: 'present'; readonly secretVersion: string; readonly hasUsualPrefix: boolean }
  | { readonly kind: 'missing'; readonly isSecretThere?: boolean }
  /** The Kubernetes API server refuses the read, with the reason. */
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'empty' | 'invalid' };

export type OutputState =
  | { readonly kind: 'absent'; readonly unreadConfigMap?: string | undefined }
  /** The Kubernetes API server refuses the read, so what is published is unknown. `why` is safe to publish. */
  | { readonly kind: 'unreadable'; readonly why: string }
  /** A Secret or ConfigMap of that name without this resource's ownership. */
  | { readonly kind: 'foreign'; readonly objectKind: 'Secret' | 'ConfigMap' }
  /** `published` is `undefined` when the resource's own Secret lost its `bundle.json`. */
  | {
      readonly kind: 'ours';
      readonly published: Publication | undefined;
      /** The ConfigMap of that name is another owner's. The link in the Secret is refreshed all the same. */
      readonly isConfigMapForeign?: boolean;
      /** Why the ConfigMap is unreadable, safe to publish. The link in the Secret is refreshed all the same. */
      readonly unreadConfigMap?: string | undefined;
    };

/** The limits of one key of one Secret at one base URL, shared by all resources that use it. */
export interface RateLimit {
  /** Epoch ms before which no resource calls the export API (`Retry-After`), and the time of that answer. */
  readonly closedUntil: number | undefined;
  readonly closedAt: number | undefined;
  readonly refused:
    | { readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number }
    | undefined;
}

export interface CandidateState {
  readonly jobId: string;
  /** Of the link; `undefined`: its copy in the mirror is read. */
  readonly link: LinkTimes | undefined;
  readonly inspection: 'not-started' | 'running' | 'read' | 'failed';
}

/** Kept in memory too, because a CRD that lacks `lastHandledRefresh` would request the same link for ever. */
export interface AttemptedRefresh {
  readonly token: string;
  /** The new link is in the output Secret. */
  readonly isPublished: boolean;
}

/** An export that another place holds. */
export interface Baseline {
  /** What the next one is compared with. */
  readonly content: { readonly digest: string; readonly pages: number } | undefined;
  /** The same content keeps its version. */
  readonly last: { readonly digest: string; readonly version: string } | undefined;
}

export interface Observation {
  /** Epoch ms, whole seconds. */
  readonly now: number;
  readonly uid: string;
  readonly generation: number;
  readonly wanted: Wanted;
  /** Unreadable fields of the stored spec; `wanted` is then what remains of it. Empty for a valid spec. */
  readonly specProblems: readonly string[];
  /** Names (domain, resolved base URL). */
  readonly inputHash: string;
  readonly status: Status;
  /** Token of `staticexport.dev/requestedAt`, bounded. */
  readonly request: string | undefined;
  /** Version named by `staticexport.dev/promote`. */
  readonly promote: string | undefined;
  /** Version named by `staticexport.dev/reject`. */
  readonly reject?: string | undefined;
  /** Token of `staticexport.dev/hookRequestedAt`, bounded. */
  readonly hookRequest?: string | undefined;
  /** Token of `staticexport.dev/refreshRequestedAt`, bounded. */
  readonly refreshRequest?: string | undefined;
  readonly isHostAllowed: boolean;
  /** For the message that names the entry to add. */
  readonly allowedHosts?: readonly string[];
  readonly key: KeyState;
  readonly output: OutputState;
  readonly rateLimit: RateLimit;
  /** What only this process knows. */
  readonly process: {
    readonly polledAt: number | undefined;
    /** The delay that the export API requested at the last poll of the job. */
    readonly pollAfterMs: number | undefined;
    readonly candidate: CandidateState | undefined;
    readonly refresh?: AttemptedRefresh | undefined;
    /** Work on the published copy. */
    readonly mirror?: { readonly isRunning: boolean; readonly link: LinkTimes | undefined } | undefined;
  };
  /** Of this program, by the name of the step: which content it makes of an archive. */
  readonly stepRevisions: Readonly<Record<string, number>>;
  readonly requestTimeoutMs: number;
  /** False: messages leave out what the program does next, because they or their reader outlast it. Default: true. */
  readonly saysNext?: boolean;
  /** A failed start has the back-off of a poll. Default: false. */
  readonly isAwaited?: boolean | undefined;
  /** False: messages leave out the Secret of the key, which no user wrote. Default: true. */
  readonly namesKeySecret?: boolean | undefined;
  /** Takes the place of what is published until something is. */
  readonly baseline?: Baseline | undefined;
  /**
   * The refusal of an output write in this reconcile, although nothing new was to be published. Safe to publish.
   * Every reconcile retries the write.
   */
  readonly unwritten?: string | undefined;
}

/** True if an object with the output's name is another owner's. Nothing new is published then. */
export function isOutputTaken({ output }: Pick<Observation, 'output'>): boolean {
  return output.kind === 'foreign' || (output.kind === 'ours' && output.isConfigMapForeign === true);
}

/** Why the Kubernetes API server refused to read an output. Nothing new is published over an unread output. */
export function unreadOutput({ output }: Pick<Observation, 'output'>): string | undefined {
  if (output.kind === 'foreign') return undefined;
  return output.kind === 'unreadable' ? output.why : output.unreadConfigMap;
}

/** The published link's times: from the Secret, or from the last status where the Secret is unreadable. */
export function publishedTimes({
  output,
  status,
}: Pick<Observation, 'output' | 'status'>): LinkTimes | undefined {
  if (output.kind === 'ours') return output.published?.link;
  if (output.kind !== 'unreadable') return undefined;
  const [issuedAt, expiresAt] = [
    readInstant(status.active?.linkIssueTime),
    readInstant(status.active?.linkExpirationTime),
  ];
  return issuedAt === undefined || expiresAt === undefined ? undefined : { issuedAt, expiresAt };
}

/** A request that no export has handled yet. */
export function pendingRequest({ request, status }: Observation): string | undefined {
  return request !== undefined && request !== status.lastHandledRequest ? request : undefined;
}

/** A request for a new link that no link has answered yet. */
export function pendingRefresh({ refreshRequest, status, process }: Observation): string | undefined {
  if (refreshRequest === undefined || refreshRequest === status.lastHandledRefresh) return undefined;
  const { refresh } = process;
  return refresh?.token === refreshRequest && refresh.isPublished ? undefined : refreshRequest;
}

/** The rejections that hold: the spec, the inputs and the handled request are those of the rejection. */
export function rejectedNow({ status, generation, inputHash }: Observation): Status['rejected'] {
  const { rejected } = status;
  const holds =
    rejected?.generation === generation &&
    rejected.inputHash === inputHash &&
    rejected.request === status.lastHandledRequest;
  return holds ? rejected : undefined;
}
