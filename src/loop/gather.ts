// All reads of a pass, live and by name: the API key's Secret, the output Secret and ConfigMap, and what this
// process remembers. The rest of the pass decides on the Observation made here. The key and the link stay in
// `Handles`, which no decision sees.

import type { PublishedBundle } from '../bundle/published-bundle.ts';
import type { GateState, KeyState, Observation } from '../reconcile/observation.ts';
import { hashInputs, inputsInHand } from '../reconcile/spread.ts';
import { wholeSecond } from '../staticexport/instant.ts';
import { annotations } from '../staticexport/names.ts';
import type { StaticExport } from '../staticexport/parse.ts';
import type { Spec } from '../staticexport/schema.ts';
import type { Status } from '../staticexport/status-schema.ts';
import { applyDefaults, type Wanted } from '../staticexport/wanted.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import { printable } from '../wire/printable-text.ts';
import { allowedHosts, isAllowedHost } from './allowed-host.ts';
import type { PassEdge } from './edge.ts';
import { believeRefusal, unlessRefused } from './lasting-refusal.ts';
import { gateId, resourceId } from './memory.ts';
import { isDisputed, withoutTheirRefusal } from './other-operators.ts';
import type { ConfigMapObject, ObjectMeta, SecretObject, StaticExportObject } from './ports.ts';
import { readOutputs } from './publish/found-outputs.ts';

/*
 * The scenarios that the readers of an Observation speak of:
 *
 *   A  first export        no output, no status           → First: start, poll, issue, inspect, publish
 *   B  steady              output ours, link young        → nothing until the refresh time or a tick
 *   C  lost status write   output newer than status       → adopt takes the output's word
 *   D  lost output         status.active, Secret absent   → issue the active job again, same version
 *   E  lost response       status.start without an id     → the same start, same key, twice at most
 *   F  somebody else's     Secret without our ownership   → held, untouched
 *   G  a right lost        Secret that may not be read    → held, and judged by what status knew last
 */

/** What a pass holds besides the observation; never logged, never decided on. */
export interface Handles {
  readonly key: string | undefined;
  readonly secret: SecretObject | undefined;
  readonly configMap: ConfigMapObject | undefined;
  readonly published: PublishedBundle | undefined;
  readonly gateId: string;
}

export interface Gathered {
  readonly observation: Observation;
  readonly handles: Handles;
}

const maxTokenLength = 256;

/**
 * @param spec of the parsed `object`, or what remains of it
 * @throws {ClusterError} when a read fails, but where the key's Secret or the outputs cannot be read for long
 */
export async function gather(
  object: StaticExportObject,
  { status: stored, problems }: StaticExport,
  spec: Spec,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<Gathered> {
  const { metadata } = object;
  const wanted = applyDefaults(metadata, spec, edge.settings);
  const { namespace } = metadata;
  const id = gateId(wanted.baseUrl, namespace, wanted.keySecret);
  const gate = edge.memory.gates.get(id) ?? openGate;
  const status = withoutTheirRefusal(stored, gate, edge);
  const [found, outputs] = await Promise.all([
    readKey(metadata, wanted, status, edge, signal),
    readOutputs(metadata, wanted.outputName, status, edge, signal),
  ]);
  const observation: Observation = {
    now: wholeSecond(edge.clock.now()),
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    wanted,
    specProblems: problems,
    // Half a spec names no inputs: what was begun or published stays what is wanted.
    inputHash:
      (problems.length > 0 ? (status.job?.inputHash ?? status.active?.inputHash) : undefined) ??
      // Two default APIs would have each installation export what the other one has just published.
      (spec.api.baseUrl === undefined && isDisputed(resourceId(metadata), edge)
        ? inputsInHand(status, wanted.domain)
        : undefined) ??
      hashInputs(wanted.domain, wanted.baseUrl),
    status,
    request: readToken(metadata, annotations.requestedAt),
    promote: readToken(metadata, annotations.promote),
    isHostAllowed: wanted.baseUrl !== undefined && isAllowedHost(wanted.baseUrl, edge.settings),
    allowedHosts: allowedHosts(edge.settings),
    key: found.state,
    output: outputs.state,
    gate,
    process: readProcess(metadata, edge, status.job?.id),
    requestTimeoutMs: edge.settings.requestTimeoutMs,
  };
  const { secret, configMap, published } = outputs;
  return { observation, handles: { key: found.key, secret, configMap, published, gateId: id } };
}

const openGate: GateState = { closedUntil: undefined, closedAt: undefined, refused: undefined };

function readToken({ annotations: found }: ObjectMeta, name: string): string | undefined {
  const text = found[name]?.slice(0, maxTokenLength);
  // Echoed in status.
  return text === undefined || text === '' ? undefined : printable(text, maxTokenLength);
}

/** What this process knows of the resource, for the job that is followed. */
export function readProcess(
  metadata: ObjectMeta,
  { memory }: PassEdge,
  jobId: string | undefined,
): Observation['process'] {
  const poll = memory.polls.get(resourceId(metadata));
  const work = memory.candidates.get(resourceId(metadata));
  return {
    polledAt: poll?.jobId === jobId ? poll?.at : undefined,
    pollAfterMs: poll?.jobId === jobId ? poll?.retryAfterMs : undefined,
    candidate: work && {
      jobId: work.jobId,
      issuedAt: work.issuedAt,
      expiresAt: work.expiresAt,
      reading: work.done?.kind ?? (work.reading === undefined ? 'not-started' : 'running'),
    },
  };
}

/** By a key that a user named: nothing of it may come from a prototype. */
export function entryOf<T>(data: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}

async function readKey(
  metadata: ObjectMeta,
  { keySecret }: Wanted,
  status: Status,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<{ readonly state: KeyState; readonly key: string | undefined }> {
  const { namespace } = metadata;
  const secret = await unlessRefused(edge.cluster.readSecret({ namespace, name: keySecret.name }, signal));
  const refusal = secret instanceof ClusterError ? secret : undefined;
  believeRefusal('key', refusal, metadata, status, edge);
  if (secret instanceof ClusterError) {
    return { state: { kind: 'unreadable', why: secret.message }, key: undefined };
  }
  const bytes = secret && entryOf(secret.data, keySecret.key);
  if (secret === undefined || bytes === undefined) {
    return { state: { kind: 'missing', isSecretThere: secret !== undefined }, key: undefined };
  }
  return judgeKey(bytes, `${secret.metadata.uid}/${secret.metadata.resourceVersion}`);
}

/** A key as it may stand in an Authorization header (RFC 6750 §2.1 b64token, and whatever else is printable). */
function judgeKey(
  bytes: Uint8Array,
  secretVersion: string,
): { readonly state: KeyState; readonly key: string | undefined } {
  const key = new TextDecoder().decode(bytes).trim();
  if (key === '') return { state: { kind: 'empty' }, key: undefined };
  if (key.length > 4096 || !/^[\x21-\x7e]+$/.test(key)) return { state: { kind: 'invalid' }, key: undefined };
  return { state: { kind: 'present', secretVersion, hasUsualPrefix: key.startsWith('svc_') }, key };
}
