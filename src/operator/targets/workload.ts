// The `Workload` target, pure: annotations of a pod template, so that pods restart with a new version, and the rollout
// that follows. Refuses: a paused Deployment, and an annotation that another manager applies.

import { annotations, fieldManager } from '#operator/staticexport/names.ts';
import type { ForeignKind } from '#platform/wire/cluster.ts';
import { type JsonRecord, numberAt, textAt, valueAt } from '#platform/wire/json-fields.ts';
import { conditionOf, ownersOf, shownInStatus } from './fields.ts';
import { planOfChanges, wantedKeysOf } from './static-export-keys.ts';
import type { ObjectFindings, ObjectPlan, Rollout, WantedKeys } from './target-plan.ts';

export type WorkloadKind = Extract<ForeignKind, 'Deployment' | 'StatefulSet' | 'DaemonSet'>;

const annotationPath = ['spec', 'template', 'metadata', 'annotations'] as const;
const annotationOf = {
  version: annotations.version,
  digest: annotations.digest,
  ref: annotations.ref,
} as const;

/** Never throws. */
export function readWorkload(kind: WorkloadKind, object: JsonRecord, wanted: WantedKeys): ObjectFindings {
  const isPaused = valueAt(object, ['spec', 'paused']) === true;
  return {
    plan: planAnnotations(object, wanted),
    rollout: isPaused
      ? { state: 'paused', message: 'the Deployment is paused; resume it with kubectl rollout resume' }
      : rolloutOf(kind, object),
    held: shownInStatus(textAt(object, ...annotationPath, annotations.version)),
  };
}

/** The fields of the apply. */
export function workloadFields(wanted: WantedKeys): JsonRecord {
  const values = Object.fromEntries(wantedKeysOf(wanted).map(([name, value]) => [annotationOf[name], value]));
  return { spec: { template: { metadata: { annotations: values } } } };
}

function planAnnotations(object: JsonRecord, wanted: WantedKeys): ObjectPlan {
  const stale = wantedKeysOf(wanted).filter(
    ([name, value]) => textAt(object, ...annotationPath, annotationOf[name]) !== value,
  );
  const owners = stale.flatMap(([name]) => ownersOf(object, [...annotationPath, annotationOf[name]]));
  const foreign = owners.find(({ manager }) => manager !== fieldManager);
  if (foreign !== undefined) {
    const message = `${foreign.manager} owns the annotation; remove it from the pod template of that manifest`;
    return { outcome: 'owned', message };
  }
  return planOfChanges(stale.map(([name, value]) => ({ key: annotationOf[name], value })));
}

/** As `kubectl rollout status` reads it. */
function rolloutOf(kind: WorkloadKind, object: JsonRecord): Rollout {
  const observed = numberAt(object, 'status', 'observedGeneration') ?? 0;
  if (observed < (numberAt(object, 'metadata', 'generation') ?? 0)) {
    return { state: 'in-progress', message: 'its controller has not observed the new template' };
  }
  if (textAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete') return { state: 'complete' };
  const isDaemonSet = kind === 'DaemonSet';
  const wanted = isDaemonSet
    ? (numberAt(object, 'status', 'desiredNumberScheduled') ?? 0)
    : (numberAt(object, 'spec', 'replicas') ?? 1);
  const updated = numberAt(object, 'status', isDaemonSet ? 'updatedNumberScheduled' : 'updatedReplicas') ?? 0;
  const available = numberAt(object, 'status', isDaemonSet ? 'numberAvailable' : 'availableReplicas') ?? 0;
  const all = kind === 'Deployment' ? (numberAt(object, 'status', 'replicas') ?? 0) : wanted;
  const progressing = conditionOf(object, 'Progressing');
  if (kind === 'Deployment' && progressing['reason'] === 'ProgressDeadlineExceeded') {
    return {
      state: 'failed',
      message: 'the rollout exceeded its progress deadline; read its pods and events',
    };
  }
  if (updated < expected(kind, object, wanted)) {
    return { state: 'in-progress', message: 'not all pods have the new version' };
  }
  if (all > updated && kind === 'Deployment') return { state: 'in-progress', message: 'old pods still run' };
  if (available < wanted) return { state: 'in-progress', message: 'not all new pods are available' };
  return { state: 'complete' };
}

/** A StatefulSet with a partition updates only the pods above it. */
function expected(kind: WorkloadKind, object: JsonRecord, wanted: number): number {
  if (kind !== 'StatefulSet') return wanted;
  const partition = numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  return Math.max(0, wanted - partition);
}
