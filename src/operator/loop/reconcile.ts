// One reconcile of one resource, in order: read → adopt → classify → choose → execute → settle → outputs → targets →
// status → wake. The order is the design; every step is a call away. Refuses: deciding anything itself.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import { outputRefused, settle } from '#operator/reconcile/settle/settle.ts';
import type { Plan, State } from '#operator/reconcile/state.ts';
import { sentence } from '#operator/reconcile/status/failure-words.ts';
import { statusOf, statusOfUnreadable } from '#operator/reconcile/status/status.ts';
import { findChanges } from '#operator/reconcile/status/status-changes.ts';
import { nextWake } from '#operator/reconcile/wake.ts';
import { parseStaticExport, type StaticExport } from '#operator/staticexport/parse.ts';
import { exportedReasons } from '#operator/staticexport/reasons.ts';
import type { Spec } from '#operator/staticexport/schema.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { ObjectKey, StaticExportObject } from '#platform/wire/cluster.ts';
import { readInstant, wholeSecond } from '#platform/wire/instant.ts';
import type { Link } from '#platform/wire/link.ts';
import type { Publication } from '#platform/wire/publication.ts';
import { changeRateLimit } from './calls/rate-limit.ts';
import type {
  ActionContext,
  ClusterContext,
  ReconcileContext,
  ReconcileOutcome,
  ReconcileReport,
  ReportContext,
  TargetContext,
} from './context.ts';
import { execute } from './execute.ts';
import { gather, type Handles, readProcess } from './gather.ts';
import { releaseUnusedSlot, stopUnwantedInspection } from './inspection/inspection.ts';
import { forgetResource, resourceId, useRateLimit } from './memory.ts';
import { findOtherOperator, type OtherOperator, rememberOwn } from './other-operators.ts';
import { confirmOutput } from './publish/confirmed-output.ts';
import { type OutputsWritten, writeOutputs } from './publish/outputs.ts';
import { writeTargets } from './publish/targets.ts';
import { attachReport, ReconcileRefused, reportRefusal } from './refused-reconcile.ts';
import { reportReconcile } from './report.ts';
import { reportChanges, warnOfLostOutput, warnOfPrefix } from './reporting.ts';
import { saveStarted, saveStatus } from './save.ts';

const unreadableRecheckMs = 3_600_000;

/** The resource as read, all its inputs, and the resulting plan. */
interface ReconcileInput {
  readonly object: StaticExportObject;
  readonly resource: StaticExport;
  readonly observation: Observation;
  readonly handles: Handles;
  readonly plan: Plan;
}

/** The result of the action, and the status and outputs that follow from it. */
interface ActionOutcome {
  readonly result: ActionResult;
  readonly link: Link | undefined;
  /** As last stored: starting a job writes it in between. */
  readonly object: StaticExportObject;
  /** The observation at the time when the action ended, with the status that follows from its result. */
  readonly settled: Observation;
  readonly publication: Publication | undefined;
}

/** What the Kubernetes API server accepted of it. */
interface PublishOutcome {
  readonly outputs: OutputsWritten;
  /** A publication that is not in the Secret. */
  readonly isWithheld: boolean;
  readonly observation: Observation;
}

/**
 * Brings one StaticExport one step further. The caller never runs it twice at once for the same key.
 *
 * @returns when to reconcile again, at the latest
 * @throws {ClusterError} when a read or write failed (`Conflict`: another client wrote first)
 * @throws {ReconcileRefused} when all reads succeeded; the next reconcile finds what was done. Call again with a
 *   back-off
 */
export async function reconcile(
  key: ObjectKey,
  context: ReconcileContext,
  signal: AbortSignal,
): Promise<ReconcileOutcome> {
  const object = await context.cluster.readStaticExport(key, signal);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    // A `Retry-After` and a corrected clock must stay for a resource whose read returned 404 although the watch
    // knows it.
    if (!context.isKnown(key)) {
      forgetResource(context.memory, key);
      context.git.keep(key, []);
    }
    const because = object === undefined ? 'gone' : 'deleting';
    return { wakeAfterMs: undefined, because, report: undefined };
  }
  const resource = parseStaticExport(object);
  const other = findOtherOperator(object, resource.status, context);
  // After an upgrade a spec may be unreadable. The published link must not expire because of that.
  const spec = resource.spec ?? (resource.status.active && resource.remains);
  if (spec === undefined) return reportUnreadable(object, resource, other, context, signal);

  const input = await observeAndPlan(object, resource, spec, context, signal);
  const action = await executePlan(input, context, signal);
  const published = await publish(input, action, context, signal);
  const targets = await syncTargets(input, published, context, signal);
  const { last, state, report } = await storeStatus(input, action, published, targets, context, signal);

  const upcoming = choose(state, last);
  releaseUnusedSlot(key, upcoming, context.memory);
  const wakeAt = nextWake(last, upcoming);
  return { ...requeue(wakeAt, other, context), because: input.plan.because, report };
}

function requeue(
  wakeAt: number,
  other: OtherOperator | undefined,
  { clock }: ClusterContext,
): Pick<ReconcileOutcome, 'wakeAfterMs' | 'overlapsWith'> {
  const untilMs = Math.min(wakeAt - clock.now(), other?.calmAfterMs ?? Number.POSITIVE_INFINITY);
  return { wakeAfterMs: Math.max(0, untilMs), overlapsWith: other?.operatorLease };
}

/** read → classify → choose */
async function observeAndPlan(
  object: StaticExportObject,
  resource: StaticExport,
  spec: Spec,
  context: ClusterContext & ReportContext,
  signal: AbortSignal,
): Promise<ReconcileInput> {
  const gathered = await gather(object, resource, spec, context, signal);
  const { observation: seen, handles } = await confirmOutput(object, gathered, context, signal);
  useRateLimit(context.memory, resourceId(object.metadata), handles.rateLimitId);
  const observation = adopt(seen);
  const plan = choose(classify(observation), observation);
  stopUnwantedInspection(object.metadata, plan.state, context.memory);
  return { object, resource, observation, handles, plan };
}

/** do: executes the one action. Saves the id of a started job before anything else. */
async function executePlan(
  input: ReconcileInput,
  context: ActionContext & ReportContext,
  signal: AbortSignal,
): Promise<ActionOutcome> {
  const { object, observation, handles, plan } = input;
  const { key } = handles;
  const work = { plan, observation, object, key, published: handles.published?.link };
  const done = await reportRefusal(execute(work, context, signal), object, context);

  const now = wholeSecond(context.clock.now());
  const {
    status: next,
    publish: publication,
    rateLimit: change,
  } = settle({ ...observation, now }, plan, done.result);
  const rateLimit = changeRateLimit(context.memory, handles.rateLimitId, change, now);
  const settled = { ...observation, now, status: next, rateLimit };
  const action = { ...done, settled, publication };
  if (done.result.kind !== 'started') return action;
  const status = statusOf(settled, classify(settled), next.targets ?? []);
  const saving = saveStarted(done.object, status, context, signal);
  return { ...action, object: await reportRefusal(saving, object, context) };
}

/** outputs: writes Secret and ConfigMap, changed or restored. */
async function publish(
  { object, observation: before, handles, plan }: ReconcileInput,
  { result, link, settled, publication }: ActionOutcome,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<PublishOutcome> {
  const id = resourceId(object.metadata);
  const change = publication && publishedWith(publication, link);
  const found = { state: before.output, handles };
  const outputs = await writeOutputs(object, before.wanted, found, change, context, signal);
  const { refusal } = outputs;
  const isWithheld = change !== undefined && !outputs.isPublished;
  if (result.kind === 'inspected' && !isWithheld) context.memory.candidates.delete(id);
  const { refreshRequest: token } = before;
  if (token !== undefined && plan.action.kind === 'issue' && plan.action.cause === 'refresh') {
    context.memory.refreshes.set(id, { token, isPublished: change !== undefined && !isWithheld });
  }
  const status = isWithheld
    ? outputRefused({ ...settled, status: before.status }, plan, refusal?.message ?? '')
    : settled.status;
  const observation = adopt({
    ...settled,
    status,
    output: outputs.state,
    unwritten: isWithheld ? undefined : refusal?.message,
    process: readProcess(object.metadata, context, status.job?.id),
  });
  return { outputs, isWithheld, observation };
}

/** @returns `undefined` where the link that must be published is no longer in hand */
function publishedWith(publication: Publication, url: Link | undefined): PublishedBundle | undefined {
  const { link } = publication;
  if (link === undefined) return { ...publication, link };
  return url && { ...publication, link: { ...link, url } };
}

/** targets: writes the published version into other objects. */
function syncTargets(
  { object, resource, observation: before }: ReconcileInput,
  { outputs, observation: after }: PublishOutcome,
  context: TargetContext,
  signal: AbortSignal,
): Promise<readonly TargetStatus[]> {
  const { status } = resource;
  const input = {
    isUnknown: resource.spec === undefined || before.output.kind === 'unreadable',
    owner: object.metadata,
    now: after.now,
    isSuspended: before.wanted.isSuspended,
    isHurried:
      status.observedGeneration !== after.generation ||
      status.lastHandledRequest !== after.status.lastHandledRequest,
    published: outputs.published,
    before: status.targets ?? [],
  };
  return writeTargets(before.wanted.targets, input, context, signal);
}

/** status, and its reports: the log, events, metrics. */
async function storeStatus(
  { object, resource, observation: before, handles, plan }: ReconcileInput,
  { result, object: stored }: ActionOutcome,
  { outputs: { refusal }, isWithheld, observation: after }: PublishOutcome,
  targets: readonly TargetStatus[],
  context: ClusterContext & ReportContext,
  signal: AbortSignal,
): Promise<{ readonly last: Observation; readonly state: State; readonly report: ReconcileReport }> {
  const { action } = plan;
  const state = classify(after);
  const status = statusOf(after, state, targets);
  const last = { ...after, status };
  const unreadable = resource.spec === undefined ? 'InvalidSpec' : undefined;
  const report = reportReconcile(last, state, action.kind, result, refusal?.code ?? unreadable);
  const saving = reportRefusal(saveStatus(stored, status, context, signal), object, context);
  const saved = await attachReport(saving, report);
  rememberOwn(saved, context);
  warnOfPrefix(last, handles.rateLimitId, object, context);
  warnOfLostOutput(before, last.output, resource.status, saved, context);
  const changes = findChanges(resource.status, status);
  // An event lasts an hour, and the next retry is often seconds away. Status has the time of the retry.
  const lasting =
    changes.length === 0
      ? changes
      : findChanges(resource.status, statusOf({ ...after, saysNext: false }, state, targets));
  const reasons = reportChanges(
    saved,
    { changes, lasting, before: resource.status, after: status, action, result, wanted: before.wanted },
    context,
  );
  if (refusal !== undefined) {
    const reason = 'OutputWriteFailed';
    const message = `${exportedReasons[reason]} ${sentence(refusal.message)}`;
    if (!reasons.includes(reason)) context.events.record(saved, { type: 'Warning', reason, message });
    // A withheld publication waits in its operation's back-off. Any other refusal needs the caller's back-off.
    if (!isWithheld) throw new ReconcileRefused(refusal, report);
  }
  return { last, state, report };
}

async function reportUnreadable(
  object: StaticExportObject,
  { status, problems }: StaticExport,
  other: OtherOperator | undefined,
  context: ClusterContext & ReportContext,
  signal: AbortSignal,
): Promise<ReconcileOutcome> {
  const generation = object.metadata.generation ?? 0;
  const now = wholeSecond(context.clock.now());
  const next = statusOfUnreadable(status, problems, generation, now);
  const saved = await reportRefusal(saveStatus(object, next, context, signal), object, context);
  rememberOwn(saved, context);
  const nothing = { kind: 'none' } as const;
  const changes = findChanges(status, next);
  reportChanges(
    saved,
    {
      ...{ changes, lasting: changes },
      before: status,
      after: next,
      action: nothing,
      result: nothing,
      wanted: { baseUrl: undefined, domain: undefined, project: undefined },
    },
    context,
  );
  // Its link still expires at its time, and status reports that then.
  const endsAt = readInstant(status.active?.linkExpirationTime) ?? 0;
  const wakeAt = Math.min(now + unreadableRecheckMs, endsAt > now ? endsAt : Number.POSITIVE_INFINITY);
  return { ...requeue(wakeAt, other, context), because: 'unreadable → none', report: undefined };
}
