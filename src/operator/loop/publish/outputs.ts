// The output Secret and ConfigMap, which servers, charts and people read. The Secret holds the link and changes
// with it. The ConfigMap holds no link and changes with the content only. The Secret is written first; both only on
// change, and never over another owner's object.

import { formatPublishedBundle, type PublishedBundle } from '#bundle/published-bundle.ts';
import { clusterPolicies } from '#operator/reconcile/failure-policy.ts';
import type { OutputState } from '#operator/reconcile/observation.ts';
import {
  apiVersion,
  fluxWatchLabel,
  outputKeys,
  outputLabels,
  resourceKind,
} from '#operator/staticexport/names.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';
import type { AppliedObject, ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { ClusterContext } from '../context.ts';
import type { Handles } from '../gather.ts';
import { resourceId } from '../memory.ts';
import { readPublished, seePublished } from './found-outputs.ts';
import { formatValues } from './values-text.ts';

export interface OutputsWritten {
  readonly state: OutputState;
  /** As the Secret holds it now. */
  readonly published: PublishedBundle | undefined;
  /** The Kubernetes API server refused a write; `isPublished` says whether it accepted the Secret. */
  readonly refusal: ClusterError | undefined;
  readonly isPublished: boolean;
}

/**
 * Writes both objects as just decided, or restores them from the Secret's publication if they drifted.
 *
 * @param publish `undefined` to keep what is published
 * @param publishesLink false: a reference that is published needs no link beside it
 * @throws {ClusterError}
 */
export async function writeOutputs(
  { metadata }: StaticExportObject,
  { outputName: name, publishesLink }: Pick<Wanted, 'outputName' | 'publishesLink'>,
  found: { readonly state: OutputState; readonly handles: Handles },
  publish: PublishedBundle | undefined,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<OutputsWritten> {
  const { handles, state } = found;
  const wanted = withoutNeedless(publish ?? handles.published, publishesLink);
  const kept = { state, published: handles.published, refusal: undefined, isPublished: false };
  if (state.kind === 'foreign' || state.kind === 'unreadable' || wanted === undefined) return kept;
  const secret = secretOf(metadata, name, wanted, handles.secret?.metadata);
  const configMap = configMapOf(metadata, name, wanted, handles.configMap?.metadata);
  const isSecretKept =
    handles.secret !== undefined && holds(textOf(handles.secret.data), handles.secret.metadata, secret);
  const applied = isSecretKept
    ? undefined
    : await unlessOvertaken(context.cluster.applySecret(secret, signal), signal);
  if (applied instanceof ClusterError) return { ...kept, refusal: applied };
  const isConfigMapKept =
    handles.configMap !== undefined && holds(handles.configMap.data, handles.configMap.metadata, configMap);
  const isForeign = state.kind === 'ours' && state.isConfigMapForeign === true;
  const { unreadConfigMap } = state;
  const isConfigMapLeft = isConfigMapKept || isForeign || unreadConfigMap !== undefined;
  const writing = isConfigMapLeft ? undefined : context.cluster.applyConfigMap(configMap, signal);
  const refusal =
    writing &&
    (await unlessOvertaken(
      writing.then(() => undefined),
      signal,
    ));
  if (applied === undefined) return { ...kept, refusal, isPublished: true };
  // Targets follow the Secret as the write returned it, not what this reconcile meant to write.
  const published = readPublished(applied);
  // Stored from its first moment on, so that no set-back of the clock is missed. A known link keeps its correction.
  return {
    state: {
      kind: 'ours',
      published: published && seePublished(published, resourceId(metadata), context),
      isConfigMapForeign: isForeign,
      unreadConfigMap,
    },
    published,
    refusal,
    isPublished: true,
  };
}

/** The bundle without its link, where `spec.output.link` is Never and a copy is there instead. */
function withoutNeedless(
  bundle: PublishedBundle | undefined,
  publishesLink: boolean,
): PublishedBundle | undefined {
  return publishesLink || bundle?.ref === undefined ? bundle : { ...bundle, link: undefined };
}

/** Returns a refusal or a missing answer. Rethrows a conflict and an abort. */
async function unlessOvertaken<T>(write: Promise<T>, signal: AbortSignal): Promise<T | ClusterError> {
  try {
    return await write;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError) || clusterPolicies[error.code].endsReconcile) throw error;
    return error;
  }
}

/** The Secret that publishes a bundle. It may replace only the Secret that was read. */
export function secretOf(
  owner: ObjectMeta,
  name: string,
  bundle: PublishedBundle,
  found: ObjectMeta | undefined,
): AppliedObject {
  const bundleUrl = bundle.link?.url.reveal();
  const { ref } = bundle;
  return {
    metadata: { ...ownedBy(owner, name), ...sameAs(found), labels: outputLabels(owner.name) },
    readVersion: found?.resourceVersion,
    data: {
      [outputKeys.bundle]: formatPublishedBundle(bundle),
      ...(bundleUrl !== undefined && { [outputKeys.bundleUrl]: bundleUrl }),
      [outputKeys.version]: bundle.version,
      ...(ref !== undefined && { [outputKeys.ref]: ref }),
      [outputKeys.values]: valuesText(bundle, bundleUrl),
    },
  };
}

function configMapOf(
  owner: ObjectMeta,
  name: string,
  bundle: PublishedBundle,
  found: ObjectMeta | undefined,
): AppliedObject {
  const { version, digest, ref } = bundle;
  return {
    metadata: {
      ...ownedBy(owner, name),
      ...sameAs(found),
      labels: { ...outputLabels(owner.name), ...fluxWatchLabel },
    },
    readVersion: found?.resourceVersion,
    data: {
      [outputKeys.version]: version,
      ...(digest !== undefined && { [outputKeys.digest]: digest }),
      ...(ref !== undefined && { [outputKeys.ref]: ref }),
      [outputKeys.values]: valuesText(bundle, undefined),
    },
  };
}

/** For `helm upgrade -f`: the group that the vendor's chart reads. A reference is used with its digest only. */
function valuesText({ version, digest, ref }: PublishedBundle, bundleUrl: string | undefined): string {
  return formatValues({ bundleUrl, version, ...(ref !== undefined && { ref, digest }) });
}

function ownedBy(owner: ObjectMeta, name: string): Omit<AppliedObject['metadata'], 'labels'> {
  const { uid } = owner;
  return {
    namespace: owner.namespace,
    name,
    annotations: {},
    ownerReferences: [{ apiVersion, kind: resourceKind, name: owner.name, uid, controller: true }],
  };
}

function sameAs(found: ObjectMeta | undefined): Pick<AppliedObject['metadata'], 'uid'> {
  return found === undefined ? {} : { uid: found.uid };
}

function holds(
  data: Readonly<Record<string, string>>,
  { labels, ownerReferences }: ObjectMeta,
  wanted: AppliedObject,
): boolean {
  return (
    // An adopted object has no owner yet.
    wanted.metadata.ownerReferences.every(({ uid }) => ownerReferences.some((owner) => owner.uid === uid)) &&
    Object.entries(wanted.data).every(([key, text]) => data[key] === text) &&
    Object.entries(wanted.metadata.labels).every(([label, value]) => labels[label] === value)
  );
}

function textOf(data: Readonly<Record<string, Uint8Array>>): Readonly<Record<string, string>> {
  const decoder = new TextDecoder();
  return Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, decoder.decode(bytes)]));
}
