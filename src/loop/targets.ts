// Further places where the published version, and when asked the link, are written: leaves of documents that
// belong to somebody else. Each has its own back-off and delays nothing. Invariants: only an object that consents
// is touched; a target follows what the output Secret holds; whoever undoes a write three times is left alone.

import type { PublishedBundle } from '../bundle/published-bundle.ts';
import { waitMs } from '../reconcile/backoff.ts';
import { formatInstant, readInstant } from '../staticexport/instant.ts';
import { annotations } from '../staticexport/names.ts';
import { type TargetReason, targetReasons } from '../staticexport/reasons.ts';
import type { TargetStatus } from '../staticexport/status-schema.ts';
import type { WantedTarget } from '../staticexport/wanted.ts';
import { planValuesEdit } from '../targets/values.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import type { PassEdge } from './edge.ts';
import type { ObjectMeta } from './ports.ts';

const contestedWindowMs = 10 * 60_000;
const contestedReverts = 3;

export interface TargetsInput {
  readonly owner: ObjectMeta;
  readonly now: number;
  readonly isSuspended: boolean;
  readonly published: PublishedBundle | undefined;
  readonly before: readonly TargetStatus[];
}

/** Brings every target in step, one after the other. Throws only when aborted. */
export async function writeTargets(
  targets: readonly WantedTarget[],
  input: TargetsInput,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<readonly TargetStatus[]> {
  const results: TargetStatus[] = [];
  for (const target of targets) {
    const before = input.before.find((one) => one.target === target.id);
    results.push(await writeTarget(target, before, input, edge, signal));
  }
  return results;
}

async function writeTarget(
  target: WantedTarget,
  before: TargetStatus | undefined,
  input: TargetsInput,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const { published, now } = input;
  if (published === undefined)
    return { ...pick(before), target: target.id, synced: false, reason: 'Pending' };
  if (input.isSuspended) return before ?? { target: target.id, synced: false, reason: 'Suspended' };
  if (before !== undefined && isLeftAlone(before, input, published)) return before;
  try {
    return await editTarget(target, before, { ...input, published }, edge, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError)) throw error;
    const isHidden = error.code === 'Forbidden' || error.code === 'NotFound';
    return failed(
      target,
      before,
      isHidden ? 'NotGranted' : 'WriteFailed',
      isHidden ? undefined : error.code,
      now,
    );
  }
}

/** Contested until a new version or spec, and in back-off until its time. */
function isLeftAlone(
  before: TargetStatus,
  { owner, now }: TargetsInput,
  published: PublishedBundle,
): boolean {
  if (before.reason === 'Contested') {
    return before.version === published.version && before.contestedGeneration === owner.generation;
  }
  const retryAt = readInstant(before.retryAt);
  return !before.synced && retryAt !== undefined && retryAt > now && retryAt <= now + contestedWindowMs;
}

/** What of the record outlives a failure: the last write and who undid it. */
function pick(before: TargetStatus | undefined): Pick<TargetStatus, 'version' | 'linkIssuedAt' | 'reverts'> {
  return { version: before?.version, linkIssuedAt: before?.linkIssuedAt, reverts: before?.reverts };
}

function failed(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
  detail: string | undefined,
  now: number,
): TargetStatus {
  const failures = (before?.synced === false ? (before.failures ?? 0) : 0) + 1;
  return {
    ...pick(before),
    target: target.id,
    synced: false,
    reason,
    message: (detail ?? targetReasons[reason]).slice(0, 512),
    failures,
    retryAt: formatInstant(now + waitMs('target', failures, undefined)),
  };
}

interface Document {
  readonly metadata: ObjectMeta;
  readonly text: string | undefined;
}

async function readDocument(
  target: WantedTarget,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const key = { namespace: target.namespace, name: target.name };
  if (target.objectKind === 'ConfigMap') {
    const found = await edge.cluster.readConfigMap(key, signal);
    return found && { metadata: found.metadata, text: found.data[target.dataKey] };
  }
  const found = await edge.cluster.readSecret(key, signal);
  const bytes = found?.data[target.dataKey];
  return found && { metadata: found.metadata, text: bytes && new TextDecoder().decode(bytes) };
}

async function editTarget(
  target: WantedTarget,
  before: TargetStatus | undefined,
  input: TargetsInput & { readonly published: PublishedBundle },
  edge: PassEdge,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const { owner, now, published } = input;
  const document = await readDocument(target, edge, signal);
  if (document?.metadata.annotations[annotations.allowFrom] !== `${owner.namespace}/${owner.name}`) {
    return failed(target, before, 'NotGranted', undefined, now);
  }
  if (document.text === undefined) return failed(target, before, 'Refused', `no key ${target.dataKey}`, now);
  const plan = planValuesEdit(document.text, {
    enabled: true,
    ...(target.writesVersion && { version: published.version }),
    ...(target.writesLink && { bundleUrl: published.bundleUrl }),
  });
  const issuedAt = target.writesLink ? formatInstant(published.issuedAt) : undefined;
  const isSameWish = before?.version === published.version && before.linkIssuedAt === issuedAt;
  const synced: TargetStatus = {
    target: target.id,
    synced: true,
    reason: 'Synced',
    version: published.version,
    linkIssuedAt: issuedAt,
    reverts: before?.version === published.version ? before.reverts : undefined,
  };
  switch (plan.outcome) {
    case 'in-sync':
      return synced;
    case 'refused':
      return failed(target, before, 'Refused', `${plan.code}: ${plan.message}`, now);
    case 'edit': {
      const reverts =
        before?.synced === true && isSameWish ? revertsWith(before.reverts, now) : synced.reverts;
      if (
        reverts !== undefined &&
        reverts.length >= contestedReverts &&
        before?.synced === true &&
        isSameWish
      ) {
        return {
          ...synced,
          synced: false,
          reason: 'Contested',
          reverts,
          contestedGeneration: owner.generation,
        };
      }
      const { metadata, text } = { metadata: document.metadata, text: plan.text };
      const { objectKind, dataKey } = target;
      const key = { namespace: metadata.namespace, name: metadata.name };
      await edge.cluster.editDocument(
        { kind: objectKind, key, dataKey, text, resourceVersion: metadata.resourceVersion },
        signal,
      );
      return { ...synced, reverts };
    }
    default:
      return plan satisfies never;
  }
}

/** This revert and those of the last ten minutes, at most as many as make it contested. */
function revertsWith(before: readonly string[] | undefined, now: number): string[] {
  const recent = (before ?? []).filter((at) => (readInstant(at) ?? 0) > now - contestedWindowMs);
  return [...recent, formatInstant(now)].slice(-contestedReverts);
}
