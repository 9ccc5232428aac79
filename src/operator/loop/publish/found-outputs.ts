// The output Secret and ConfigMap as a reconcile finds them: its own, restored without an owner, another owner's,
// deleted, or forbidden to read. Refuses: guessing at an unreadable object. Invariant: "unreadable" is a state of its own, never "gone".

import { type PublishedBundle, parsePublishedBundle } from '#bundle/published-bundle.ts';
import type { OutputState } from '#operator/reconcile/observation.ts';
import { defaultOutputName, labels, managedByLabels, outputKeys } from '#operator/staticexport/names.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { ConfigMapObject, ObjectMeta, SecretObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { Publication } from '#platform/wire/publication.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { correctTimes } from '../clock-set-back.ts';
import type { ClusterContext } from '../context.ts';
import { believeRefusal, unlessRefused } from '../lasting-refusal.ts';
import { resourceId } from '../memory.ts';

export interface FoundOutputs {
  readonly state: OutputState;
  readonly secret: SecretObject | undefined;
  readonly configMap: ConfigMapObject | undefined;
  readonly published: PublishedBundle | undefined;
}

/**
 * @param status as stored: a refusal that it already reports is believed at once
 * @throws {ClusterError} when a read fails, or is refused for the first time
 */
export async function readOutputs(
  metadata: ObjectMeta,
  name: string,
  status: Status,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<FoundOutputs> {
  const key = { namespace: metadata.namespace, name };
  const [secret, configMap] = await Promise.all([
    unlessRefused(context.cluster.readSecret(key, signal)),
    unlessRefused(context.cluster.readConfigMap(key, signal)),
  ]);
  const isSecretUnread = secret instanceof ClusterError;
  const isConfigMapUnread = configMap instanceof ClusterError;
  const refusal = isSecretUnread ? secret : isConfigMapUnread ? configMap : undefined;
  believeRefusal('output', refusal, metadata, status, context);
  if (isSecretUnread) {
    const state = { kind: 'unreadable', why: secret.message } as const;
    return { state, secret: undefined, configMap: undefined, published: undefined };
  }
  const published = secret === undefined ? undefined : readPublished(secret);
  const seen = published && seePublished(published, resourceId(metadata), context);
  return {
    state: outputState(metadata, secret, configMap, seen),
    secret,
    configMap: isConfigMapUnread ? undefined : configMap,
    published,
  };
}

/** `undefined` when this resource's Secret lost its `bundle.json`, or another client wrote invalid content into it. */
export function readPublished(secret: SecretObject): PublishedBundle | undefined {
  const bytes = secret.data[outputKeys.bundle];
  if (bytes === undefined) return undefined;
  try {
    return parsePublishedBundle(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof PublishableError) return undefined;
    throw error;
  }
}

/** The published bundle without its link's text, and with its times on the clock as it is set now. */
export function seePublished(
  { link, ...publication }: PublishedBundle,
  id: string,
  { memory, clock }: Pick<ClusterContext, 'memory' | 'clock'>,
): Publication {
  if (link === undefined) return { ...publication, link: undefined };
  const { issuedAt, expiresAt } = link;
  return { ...publication, link: correctTimes(memory.links, id, { issuedAt, expiresAt }, clock) };
}

/**
 * True for an object without an owner that has this project's labels and names the resource: backup tools restore the outputs
 * so, and the resource with another uid. Objects of older operators name it by the default name alone.
 */
function isRestored({ name }: ObjectMeta, found: ObjectMeta): boolean {
  if (found.ownerReferences.length > 0) return false;
  const isLabelled = Object.entries(managedByLabels).every(([label, value]) => found.labels[label] === value);
  const named = found.labels[labels.export];
  return isLabelled && (named === undefined ? found.name === defaultOutputName(name) : named === name);
}

function outputState(
  owner: ObjectMeta,
  secret: SecretObject | undefined,
  configMap: ConfigMapObject | ClusterError | undefined,
  published: Publication | undefined,
): OutputState {
  const isOurs = (one: { readonly metadata: ObjectMeta }): boolean =>
    one.metadata.ownerReferences.some(({ uid }) => uid === owner.uid) || isRestored(owner, one.metadata);
  if (secret !== undefined && !isOurs(secret)) return { kind: 'foreign', objectKind: 'Secret' };
  const unreadConfigMap = configMap instanceof ClusterError ? configMap.message : undefined;
  const isConfigMapForeign =
    configMap !== undefined && !(configMap instanceof ClusterError) && !isOurs(configMap);
  if (secret === undefined)
    return isConfigMapForeign
      ? { kind: 'foreign', objectKind: 'ConfigMap' }
      : { kind: 'absent', unreadConfigMap };
  return { kind: 'ours', published, isConfigMapForeign, unreadConfigMap };
}
