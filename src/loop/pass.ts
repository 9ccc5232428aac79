// One pass over one resource: read → classify → choose → do → outputs → status → wake. The order is the design;
// every step is a call away. Refuses: deciding anything itself.

import { adopt } from '../reconcile/adopt.ts';
import { choose } from '../reconcile/choose.ts';
import { classify } from '../reconcile/classify.ts';
import { sentence } from '../reconcile/failure-words.ts';
import type { Observation } from '../reconcile/observation.ts';
import { outputRefused, settle } from '../reconcile/settle.ts';
import { statusOf, statusOfUnreadable } from '../reconcile/status.ts';
import { nextWake } from '../reconcile/wake.ts';
import { wholeSecond } from '../staticexport/instant.ts';
import { parseStaticExport } from '../staticexport/parse.ts';
import { exportedReasons } from '../staticexport/reasons.ts';
import type { Status } from '../staticexport/status-schema.ts';
import { confirmOutput } from './confirmed-output.ts';
import type { PassEdge, PassOutcome } from './edge.ts';
import { execute } from './execute.ts';
import { changeGate } from './gates.ts';
import { gather, readProcess } from './gather.ts';
import { forgetResource, resourceId, useGate } from './memory.ts';
import { notesOf } from './notes.ts';
import { observe } from './observed.ts';
import { writeOutputs } from './outputs.ts';
import type { ObjectKey, StaticExportObject } from './ports.ts';
import { leaveIdlePlace, stopUnwantedReading } from './reading.ts';
import { PassRefused, tellRefusal, withObserved } from './refused-pass.ts';
import { findRival, noteOwn } from './rivals.ts';
import { saveStarted, saveStatus } from './save.ts';
import { correctLife } from './set-back.ts';
import { type Chapter, storyOf } from './story.ts';
import { writeTargets } from './targets.ts';

const unreadableLookMs = 3_600_000;

/**
 * Brings one StaticExport one step further. Never run twice at once for the same key.
 *
 * @returns when to look again, at the latest
 * @throws {ClusterError} when the cluster could not be read or written (`Conflict`: somebody wrote first), a
 *   `PassRefused` where all was seen; what was done is found by the next pass. Call again with a back-off.
 */
export async function runPass(key: ObjectKey, edge: PassEdge, signal: AbortSignal): Promise<PassOutcome> {
  const object = await edge.cluster.readStaticExport(key, signal);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    forgetResource(edge.memory, key);
    return {
      wakeAfterMs: undefined,
      because: object === undefined ? 'gone' : 'deleting',
      observed: undefined,
    };
  }
  const resource = parseStaticExport(object);
  const rival = findRival(object, resource.status, edge);
  // A spec that an upgrade made unreadable must not cost the published link its life.
  const spec = resource.spec ?? (resource.status.active && resource.remains);
  if (spec === undefined) return reportUnreadable(object, resource.status, resource.problems, edge, signal);
  const { observation, handles: read } = await gather(object, resource, spec, edge, signal);
  const handles = await confirmOutput(object, observation, read, edge, signal);
  useGate(edge.memory, resourceId(key), handles.gateId);
  warnOfPrefix(observation, handles.gateId, object, edge);

  const before = adopt(observation);
  const plan = choose(classify(before), before);
  stopUnwantedReading(key, plan.state, edge.memory);
  const work = {
    plan,
    observation: before,
    object,
    key: handles.key,
    published: handles.published?.bundleUrl,
  };
  const done = await tellRefusal(execute(work, edge, signal), object, edge);

  const settling = { ...before, now: wholeSecond(edge.clock.now()) };
  const settled = settle(settling, plan, done.result);
  const gate = changeGate(edge.memory, handles.gateId, settled.gate, settling.now);
  const wanted = adopt({ ...settling, status: settled.status, gate });
  const stored =
    done.result.kind === 'started'
      ? await tellRefusal(
          saveStarted(
            done.object,
            statusOf(wanted, classify(wanted), wanted.status.targets ?? []),
            edge,
            signal,
          ),
          object,
          edge,
        )
      : done.object;

  const publish = settled.publish && done.link && { publication: settled.publish, link: done.link };
  const found = { state: before.output, handles };
  const outputs = await writeOutputs(object, before.wanted.outputName, found, publish, edge, signal);
  const { published, refusal } = outputs;
  // From its first moment on, so that no set-back of the clock is missed.
  if (published !== undefined) correctLife(edge.memory.links, resourceId(key), published, edge.clock);
  const isWithheld = publish !== undefined && !outputs.isPublished;
  const why = refusal?.message ?? '';
  const next = isWithheld ? adopt({ ...settling, status: outputRefused(settling, plan, why), gate }) : wanted;
  if (done.result.kind === 'inspected' && !isWithheld) edge.memory.candidates.delete(resourceId(key));

  const after = adopt({
    ...next,
    output: outputs.state,
    unwritten: isWithheld ? undefined : refusal?.message,
    process: readProcess(object.metadata, edge, next.status.job?.id),
  });
  const targets = await writeTargets(
    before.wanted.targets,
    {
      isUnknown: resource.spec === undefined || before.output.kind === 'unreadable',
      owner: object.metadata,
      now: after.now,
      isSuspended: before.wanted.isSuspended,
      isHurried:
        resource.status.observedGeneration !== after.generation ||
        resource.status.lastHandledRequest !== after.status.lastHandledRequest,
      published: outputs.published,
      before: resource.status.targets ?? [],
    },
    edge,
    signal,
  );

  const state = classify(after);
  const status = statusOf(after, state, targets);
  const last = { ...after, status };
  const unreadable = resource.spec === undefined ? 'InvalidSpec' : undefined;
  const observed = observe(last, state, plan.action.kind, done.result, refusal?.code ?? unreadable);
  const saving = tellRefusal(saveStatus(stored, status, edge, signal), object, edge);
  const saved = await withObserved(saving, observed);
  noteOwn(saved, edge);
  const { action } = plan;
  const { baseUrl } = before.wanted;
  tell(saved, { before: resource.status, after: status, action, result: done.result, baseUrl }, edge);
  const notes = notesOf(resource.status, status);
  for (const note of notes) edge.events.record(saved, note);
  if (refusal !== undefined) {
    const reason = 'OutputWriteFailed';
    const isTold = notes.some((note) => note.reason === reason);
    const message = `${exportedReasons[reason]} ${sentence(why)}`;
    if (!isTold) edge.events.record(saved, { type: 'Warning', reason, message });
    // What is withheld waits in its lane; anything else has no lane but the caller's.
    if (!isWithheld) throw new PassRefused(refusal, observed);
  }
  const upcoming = choose(state, last);
  leaveIdlePlace(key, upcoming, edge.memory);
  const wakeAt = nextWake(last, upcoming);
  return {
    wakeAfterMs: Math.max(
      0,
      Math.min(wakeAt - edge.clock.now(), rival?.calmAfterMs ?? Number.POSITIVE_INFINITY),
    ),
    contestedBy: rival?.installation,
    because: plan.because,
    observed,
  };
}

async function reportUnreadable(
  object: StaticExportObject,
  status: Status,
  problems: readonly string[],
  edge: PassEdge,
  signal: AbortSignal,
): Promise<PassOutcome> {
  const generation = object.metadata.generation ?? 0;
  const next = statusOfUnreadable(status, problems, generation, wholeSecond(edge.clock.now()));
  const saved = await tellRefusal(saveStatus(object, next, edge, signal), object, edge);
  noteOwn(saved, edge);
  const nothing = { kind: 'none' } as const;
  tell(saved, { before: status, after: next, action: nothing, result: nothing, baseUrl: undefined }, edge);
  for (const note of notesOf(status, next)) edge.events.record(saved, note);
  return { wakeAfterMs: unreadableLookMs, because: 'unreadable → none', observed: undefined };
}

function tell({ metadata }: StaticExportObject, chapter: Chapter, { logger }: PassEdge): void {
  for (const { level, fields, message } of storyOf(chapter)) {
    logger[level]({ object: resourceId(metadata), ...fields }, message);
  }
}

/** The usual keys begin with `svc_`; one that does not may still be right. Said once per Secret version. */
function warnOfPrefix(
  { key, wanted }: Observation,
  gate: string,
  { metadata }: StaticExportObject,
  { memory, logger }: PassEdge,
): void {
  if (key.kind !== 'present' || key.hasUsualPrefix) return;
  if (memory.warnedKeys.get(gate) === key.secretVersion) return;
  memory.warnedKeys.set(gate, key.secretVersion);
  const secret = `${metadata.namespace}/${wanted.keySecret.name}`;
  logger.warn(
    { object: resourceId(metadata), secret },
    'the API key does not begin with svc_; is it an admin key?',
  );
}
