// All reads of a reconcile, live and by name: the API key's Secret, the output Secret and ConfigMap, and this
// process's memory. The rest of the reconcile decides on the Observation made here. The key and the link stay in
// `Handles`, which no decision reads.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { stepRevisions } from '#bundle/transform.ts';
import type { KeyState, Observation, RateLimit } from '#operator/reconcile/observation.ts';
import { hashInputs, inputsInHand } from '#operator/reconcile/spread.ts';
import { annotations } from '#operator/staticexport/names.ts';
import type { StaticExport } from '#operator/staticexport/parse.ts';
import type { Spec } from '#operator/staticexport/schema.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { applyDefaults, type Wanted } from '#operator/staticexport/wanted.ts';
import type {
  ConfigMapObject,
  ObjectMeta,
  SecretObject,
  StaticExportObject,
} from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { wholeSecond } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { LinkTimes } from '#platform/wire/publication.ts';
import { allowedHosts, isAllowedHost } from './allowed-host.ts';
import type { ClusterContext } from './context.ts';
import { believeRefusal, unlessRefused } from './lasting-refusal.ts';
import { rateLimitId, resourceId } from './memory.ts';
import { isOverlapping, withoutTheirRefusal } from './other-operators.ts';
import { readOutputs } from './publish/found-outputs.ts';

/*
 * Scenarios of an Observation:
 *
 *   A  first export        no output, no status           → First: start, poll, issue, inspect, publish
 *   B  steady              output ours, link fresh        → no action until the refresh time or a tick
 *   C  lost status write   output newer than status       → adopt uses the output's version
 *   D  lost output         status.active, Secret absent   → issue the active job again, same version
 *   E  lost response       status.start without an id     → the same start, same key, twice at most
 *   F  another owner's     Secret of another owner        → held, untouched
 *   G  permission lost     Secret forbidden to read       → held, and judged by the last known status
 */

/** What a reconcile holds in addition to the observation. Never logged, and no decision reads it. */
export interface Handles {
  readonly key: string | undefined;
  readonly secret: SecretObject | undefined;
  readonly configMap: ConfigMapObject | undefined;
  readonly published: PublishedBundle | undefined;
  readonly rateLimitId: string;
}

export interface Gathered {
  readonly observation: Observation;
  readonly handles: Handles;
}

const maxTokenLength = 256;
const noProblems: readonly string[] = [];
const linklessProblem =
  'spec.output.link (Never needs spec.mirror, because the operator has no --default-mirror)';
const transformProblem =
  'spec.transform (needs spec.mirror, because the operator has no --default-mirror; add a mirror, or remove spec.transform)';
const refProblem =
  'spec.targets (ref needs spec.mirror, because the operator has no --default-mirror; add a mirror, or remove ref from write)';
const uninspectedProblem =
  'spec.targets (ref needs a mirror, and a mirror needs spec.promotion.inspect: Always; set it, or remove ref from write)';

/**
 * @param spec of the parsed `object`, or what remains of it
 * @throws {ClusterError} when a read fails; not when the key's Secret or the outputs are unreadable for long
 */
export async function gather(
  object: StaticExportObject,
  { status: stored, problems }: StaticExport,
  spec: Spec,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<Gathered> {
  const { metadata } = object;
  const applied = applyDefaults(metadata, spec, context.settings);
  const lacks = findMirrorProblems(spec, applied);
  const known = problems.length === 0 ? applied : { ...applied, repair: stored.active?.repair };
  const wanted = lacks.length === 0 ? known : { ...known, isSuspended: true };
  const { namespace } = metadata;
  const id = rateLimitId(wanted, namespace, wanted.keySecret);
  const rateLimit = context.memory.rateLimits.get(id) ?? noLimit;
  const status = withoutTheirRefusal(stored, rateLimit, context);
  const [found, outputs] = await Promise.all([
    readKey(metadata, wanted, status, context, signal),
    readOutputs(metadata, wanted.outputName, status, context, signal),
  ]);
  const observation: Observation = {
    now: wholeSecond(context.clock.now()),
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    wanted,
    specProblems: [...problems, ...lacks],
    // Half a spec names no inputs. The job or version that exists stays the wanted one.
    inputHash:
      (problems.length > 0 ? (status.job?.inputHash ?? status.active?.inputHash) : undefined) ??
      // With two default export APIs, each operator would export again what the other operator has just published.
      (spec.api.baseUrl === undefined && isOverlapping(resourceId(metadata), context)
        ? inputsInHand(status, wanted)
        : undefined) ??
      hashInputs(wanted),
    status,
    request: readToken(metadata, annotations.requestedAt),
    promote: readToken(metadata, annotations.promote),
    reject: readToken(metadata, annotations.reject),
    refreshRequest: readToken(metadata, annotations.refreshRequestedAt),
    hookRequest: readToken(metadata, annotations.hookRequestedAt),
    isHostAllowed: wanted.baseUrl !== undefined && isAllowedHost(wanted.baseUrl, context.settings),
    allowedHosts: allowedHosts(context.settings),
    key: found.state,
    output: outputs.state,
    rateLimit,
    process: readProcess(metadata, context, status.job?.id),
    stepRevisions: context.settings.stepRevisions ?? stepRevisions,
    requestTimeoutMs: context.settings.requestTimeoutMs,
    saysNext: context.settings.saysNext ?? true,
    isAwaited: context.settings.isAwaited ?? false,
    namesKeySecret: context.settings.namesKeySecret ?? true,
    baseline: context.settings.baseline,
  };
  const { secret, configMap, published } = outputs;
  return { observation, handles: { key: found.key, secret, configMap, published, rateLimitId: id } };
}

/** What needs a mirror, without one. Only the operator knows whether it has a default mirror. */
function findMirrorProblems(
  { output, promotion }: Spec,
  { mirror, repair, targets }: Wanted,
): readonly string[] {
  if (mirror !== undefined) return noProblems;
  const isUninspected = promotion?.inspect === 'Never';
  const ofTargets = isUninspected ? uninspectedProblem : refProblem;
  return [
    ...(output?.link === 'Never' ? [linklessProblem] : noProblems),
    ...(repair === undefined ? noProblems : [transformProblem]),
    ...(targets.some(({ writesRef }) => writesRef) ? [ofTargets] : noProblems),
  ];
}

const noLimit: RateLimit = { closedUntil: undefined, closedAt: undefined, refused: undefined };

function readToken({ annotations: found }: ObjectMeta, name: string): string | undefined {
  const text = found[name]?.slice(0, maxTokenLength);
  // Status repeats this text.
  return text === undefined || text === '' ? undefined : printable(text, maxTokenLength);
}

/** What this process knows of the resource, for the job that it tracks. */
export function readProcess(
  metadata: ObjectMeta,
  { memory }: ClusterContext,
  jobId: string | undefined,
): Observation['process'] {
  const poll = memory.polls.get(resourceId(metadata));
  const work = memory.candidates.get(resourceId(metadata));
  const mirror = memory.mirrorWorks.get(resourceId(metadata));
  return {
    polledAt: poll?.jobId === jobId ? poll?.at : undefined,
    pollAfterMs: poll?.jobId === jobId ? poll?.retryAfterMs : undefined,
    candidate: work && {
      jobId: work.jobId,
      link: work.link && timesOf(work.link),
      inspection:
        (work.done?.kind === 'uncopied' ? 'failed' : work.done?.kind) ??
        (work.inspection === undefined ? 'not-started' : 'running'),
    },
    refresh: memory.refreshes.get(resourceId(metadata)),
    mirror: mirror && { isRunning: mirror.isRunning, link: mirror.link && timesOf(mirror.link) },
  };
}

const timesOf = ({ issuedAt, expiresAt }: LinkTimes): LinkTimes => ({ issuedAt, expiresAt });

/** A user chose this key, so no value may come from a prototype. */
export function entryOf<T>(data: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}

async function readKey(
  metadata: ObjectMeta,
  { keySecret }: Wanted,
  status: Status,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<{ readonly state: KeyState; readonly key: string | undefined }> {
  const { namespace } = metadata;
  const secret = await unlessRefused(context.cluster.readSecret({ namespace, name: keySecret.name }, signal));
  const refusal = secret instanceof ClusterError ? secret : undefined;
  believeRefusal('key', refusal, metadata, status, context);
  if (secret instanceof ClusterError) {
    return { state: { kind: 'unreadable', why: secret.message }, key: undefined };
  }
  const bytes = secret && entryOf(secret.data, keySecret.key);
  if (secret === undefined || bytes === undefined) {
    return { state: { kind: 'missing', isSecretThere: secret !== undefined }, key: undefined };
  }
  return judgeKey(bytes, `${secret.metadata.uid}/${secret.metadata.resourceVersion}`);
}

/** A key that is valid in an Authorization header: RFC 6750 §2.1 b64token, and any other printable text. */
function judgeKey(
  bytes: Uint8Array,
  secretVersion: string,
): { readonly state: KeyState; readonly key: string | undefined } {
  const key = new TextDecoder().decode(bytes).trim();
  if (key === '') return { state: { kind: 'empty' }, key: undefined };
  if (key.length > 4096 || !/^[\x21-\x7e]+$/.test(key)) return { state: { kind: 'invalid' }, key: undefined };
  return { state: { kind: 'present', secretVersion, hasUsualPrefix: key.startsWith('svc_') }, key };
}
