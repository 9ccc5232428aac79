// The status that a controller writes while it rolls an object's values out: helm-controller, Argo CD, and the
// controllers of Kubernetes. Pure; the time comes with the stage.

import type { ForeignObject } from '#platform/wire/cluster.ts';
import { textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import type { ObjectShape } from './object-target.ts';

/** `unseen`: the controller has not read the values. `unsynced`: Argo CD read them and may not sync. */
export type Stage = 'unseen' | 'unsynced' | 'rolling' | 'complete' | 'failed';

export function rolloutStatus(shape: ObjectShape, found: ForeignObject, stage: Stage): object {
  if (stage === 'unseen') return {};
  if (shape === 'HelmRelease') return releaseStatus(found, stage);
  return shape.startsWith('Application') ? applicationStatus(found, stage) : podsStatus(shape, found, stage);
}

/** `observedGeneration` follows at the end of a release. */
function releaseStatus({ metadata }: ForeignObject, stage: Stage): object {
  const ready = (status: string, reason: string) => ({
    conditions: [{ type: 'Ready', status, reason, observedGeneration: metadata.generation }],
  });
  const { generation: observedGeneration } = metadata;
  if (stage === 'complete') {
    const history = [{ status: 'deployed' }, { status: 'superseded' }];
    return { ...ready('True', 'UpgradeSucceeded'), observedGeneration, history };
  }
  if (stage === 'failed') {
    const history = [{ status: 'failed' }, { status: 'deployed' }];
    return { ...ready('False', 'UpgradeFailed'), observedGeneration, history };
  }
  return ready('Unknown', 'Progressing');
}

/** Without automated sync it is the sync that fails, and not the health after it. */
function applicationStatus({ content }: ForeignObject, stage: Stage): object {
  const spec = isRecord(content['spec']) ? content['spec'] : {};
  const { source, sources } = spec;
  const compared = source === undefined ? { sources } : { source };
  const hasFailedSync = stage === 'failed' && spec['syncPolicy'] === undefined;
  const isEnded = stage === 'complete' || stage === 'failed';
  const status = isEnded && !hasFailedSync ? 'Synced' : 'OutOfSync';
  const sync = { status, comparedTo: compared };
  if (stage === 'unsynced') {
    // A sync of other values ends, whatever it found.
    const isRunning = textAt(content, 'status', 'operationState', 'phase') === 'Running';
    const ended = isRunning ? { operationState: { phase: 'Error', syncResult: undefined } } : {};
    return { sync, health: { status: 'Healthy' }, ...ended };
  }
  if (stage === 'rolling') {
    return { sync, operationState: { phase: 'Running' }, health: { status: 'Progressing' } };
  }
  const health = { status: stage === 'complete' ? 'Healthy' : 'Degraded' };
  return {
    sync,
    health,
    operationState: { phase: hasFailedSync ? 'Failed' : 'Succeeded', syncResult: compared },
  };
}

function podsStatus(shape: ObjectShape, { metadata }: ForeignObject, stage: Stage): object {
  const { generation: observedGeneration } = metadata;
  const updated = stage === 'complete' ? 2 : 1;
  if (shape === 'DaemonSet') {
    const pods = { desiredNumberScheduled: 2, updatedNumberScheduled: updated, numberAvailable: updated };
    return { observedGeneration, ...pods };
  }
  const reason = stage === 'failed' ? 'ProgressDeadlineExceeded' : 'ReplicaSetUpdated';
  const pods = { replicas: 2, updatedReplicas: updated, availableReplicas: updated };
  return { observedGeneration, ...pods, conditions: [{ type: 'Progressing', reason }] };
}
