// What must hold after every step of a simulation. Each oracle is a rule of the product; a breach is thrown with the
// rule's message. Owns its memory of the simulation; changes nothing.

import assert from 'node:assert/strict';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { gather } from '#operator/loop/gather.ts';
import { createMemory, type ProcessMemory } from '#operator/loop/memory.ts';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import { nextWake } from '#operator/reconcile/wake.ts';
import { parseStaticExport, parseStatus } from '#operator/staticexport/parse.ts';
import { type Status, statusSchema } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { brokenRules, type Moment } from '../support/kstatus-rules.ts';
import { CallOracles } from './call-oracles.ts';
import { signature } from './fake-vendor.ts';
import { noFaults } from './faults.ts';
import { GitOracles } from './git-target.ts';
import { HookOracles } from './hook-oracles.ts';
import { dueAgeMs, LinkOracles } from './link-oracles.ts';
import { earliestLook, MirrorOracles, wantsNoLink } from './mirror-oracles.ts';
import { ObjectOracles } from './object-oracles.ts';
import { checkJobShown, PublicationOracles } from './publication-oracles.ts';
import { outputName, resource, type Simulation, type Step } from './simulation.ts';
import { checkTarget } from './target-document.ts';

/** How long after the last disturbance everything must be in order: the longest back-off of an expired link, and slack. */
const calmMs = 7 * 60_000;
const longestWaitMs = 3_601_000;
/** A wake-up later than this counts as the hourly check. */
export const shortestLookMs = 50 * 60_000;

export class Oracles {
  readonly #simulation: Simulation;
  #disturbedAt = 0;
  readonly #seenJobs: Set<string>;
  #writesChecked = 0;
  /** The previous step read present states and left no due action. */
  #wasClean = false;
  #wasFaulty = false;
  #isShared = false;
  idleSteps = 0;
  readonly #events = new Reader<unknown>();
  readonly #logs = new Reader<string>();
  /** Objects that were searched already, with the key searched for. */
  readonly #searched = new WeakMap<object, string>();
  #judged: unknown;
  #judgedAt: Moment = 'any';
  #jobsChecked = '';
  readonly #calls: CallOracles;
  readonly #publication: PublicationOracles;
  readonly #object: ObjectOracles | undefined;
  readonly #hooks: HookOracles;
  readonly #mirror: MirrorOracles;
  readonly #git: GitOracles | undefined;
  readonly link: LinkOracles;
  /** While a trouble prevents new links. */
  isTroubled = false;
  /** Faults that may each have caused an untracked job or a second write. */
  excused = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#seenJobs = new Set(simulation.vendor.jobs.keys());
    this.link = new LinkOracles(simulation);
    this.#calls = new CallOracles(simulation);
    this.#publication = new PublicationOracles(simulation);
    const { object, git } = simulation.owned;
    this.#object = object && new ObjectOracles(simulation, object);
    this.#hooks = new HookOracles(simulation);
    this.#mirror = new MirrorOracles(simulation);
    this.#git = git && new GitOracles(simulation, git);
  }

  /** All untracked jobs of the simulation. */
  spareJobs(): number {
    const { exported, elsewhere } = this.#simulation.vendor;
    return [...exported.keys()].filter((id) => !this.#seenJobs.has(id) && !elsewhere.has(id)).length;
  }

  versions(): number {
    return this.#publication.versions();
  }

  /** Another resource of the same name: nothing of the old one binds it. */
  startOver(): void {
    this.#publication.startOver();
    this.#hooks.startOver();
  }

  /**
   * Another process reconciles within the next step. One of the two may know that the clock was set back, so that each
   * corrects the times of the other's status.
   */
  share(): void {
    this.#isShared = true;
  }

  /** A disturbance that the operator may need time to recover from. */
  disturb(): void {
    this.#disturbedAt = this.#simulation.clock.monotonic();
  }

  /**
   * @param hadFaults in this step: reads and answers may have been stale or wrong
   * @param isWhole includes the expensive check: whether a restart would requeue as early
   */
  async check(step: Step, hadFaults = false, isWhole = true): Promise<void> {
    if (step.error !== undefined || hadFaults) this.disturb();
    this.checkSecrets(step.error);
    this.checkStatus(step.error === undefined && !hadFaults ? 'after a pass' : 'any');
    this.#publication.check(step);
    this.link.check(step, this.isCalm(), hadFaults);
    this.#mirror.check(step, step.error === undefined && !hadFaults && this.isCalm());
    this.checkWrites(step, hadFaults);
    const wasShared = this.#isShared;
    this.#git?.check(step, step.error === undefined && !hadFaults && !wasShared && !this.isSuspended());
    this.#object?.check(step, step.error === undefined && !hadFaults && !wasShared && !this.isSuspended());
    this.#isShared = false;
    if (!hadFaults && !wasShared) this.checkIdle(step);
    const isLeft = step.callsMade + step.writesMade > 0 && (step.outcome?.wakeAfterMs ?? 0) < shortestLookMs;
    this.#wasClean = step.error === undefined && !hadFaults && !wasShared && !isLeft;
    this.#wasFaulty = hadFaults || step.error !== undefined;
    this.#calls.check(step, hadFaults);
    this.#hooks.check(step);
    this.checkJobs();
    this.checkGone(step, hadFaults);
    this.checkAwaited();
    if (step.error === undefined && !hadFaults && !this.isSuspended()) checkTarget(this.#simulation);
    if (!hadFaults && isWhole) await this.checkRestart(step);
  }

  /** Suspended, or invalid; targets are not written meanwhile. */
  isSuspended(): boolean {
    const object = this.#simulation.object();
    const spec = object && parseStaticExport(object).spec;
    return spec === undefined || spec.suspend === true;
  }

  /** Without a disturbance for long enough that every rule must hold. */
  isCalm(): boolean {
    const { clock, vendor } = this.#simulation;
    const isAnswering = vendor.failing === undefined && this.#simulation.keyInUse() === vendor.validKey;
    const disturbedAt = Math.max(this.#disturbedAt, vendor.waitUntil);
    return !this.isTroubled && isAnswering && clock.monotonic() - disturbedAt > calmMs;
  }

  /** Rule 5: keys and links appear in no status, event, log, ConfigMap, error. */
  checkSecrets(error?: unknown): void {
    const { cluster, events, logs, vendor } = this.#simulation;
    const { validKey } = vendor;
    const objects = [...cluster.exports.values(), ...cluster.configMaps.values()].filter(
      (one) => this.#searched.get(one) !== validKey,
    );
    const reported = this.#events.rest(events);
    const lines = this.#logs.rest(logs);
    if (objects.length + reported.length + lines.length === 0 && error === undefined) return;
    for (const one of objects) this.#searched.set(one, validKey);
    const shown = JSON.stringify([objects, reported, error instanceof Error ? error.message : error]);
    const isShown = (secret: string): boolean =>
      shown.includes(secret) || lines.some((line) => line.includes(secret));
    assert.ok(!isShown(signature), 'a link is shown');
    assert.ok(!isShown(validKey.slice(4)), 'a key is shown');
  }

  /** kstatus, and the schema that the API server would hold the status to. */
  checkStatus(moment: Moment): void {
    const object = this.#simulation.object();
    // The same object was judged before.
    if (object === undefined || (object === this.#judged && moment === this.#judgedAt)) return;
    this.#judged = object;
    this.#judgedAt = moment;
    const read = statusSchema.safeParse(object.status);
    checkJobShown(this.#simulation);
    assert.ok(read.success, `the API server would refuse this status: ${read.error?.message ?? ''}`);
    const { generation = 0 } = object.metadata;
    const broken = brokenRules(generation, read.data, moment);
    assert.equal(broken.length, 0, broken.join('; '));
  }

  /** Rule 11: foreign objects are not written; rule 6: written only on change. */
  checkWrites(step: Step, hadFaults: boolean): void {
    const { writes } = this.#simulation.cluster;
    const fresh = writes.slice(this.#writesChecked);
    this.#writesChecked = writes.length;
    for (const { isTakeover } of fresh) assert.notEqual(isTakeover, true, 'a foreign output was overwritten');
    if (step.error !== undefined || hadFaults) return;
    for (const { kind, isChange } of fresh) {
      const isFine = isChange || (kind === 'Secret' && isUnknownToStatus(step));
      assert.ok(isFine, `${kind} was written without a change`);
    }
  }

  /** Rule 6: without a change there is no call and no write between timers. */
  checkIdle(step: Step): void {
    if (
      step.error !== undefined ||
      !(
        (step.isUnprompted && !this.#wasFaulty) ||
        (this.#wasClean && isIdle(step, this.#simulation.clock.now()))
      )
    )
      return;
    this.idleSteps += 1;
    assert.equal(step.callsMade, 0, 'the export API was called before the named time');
    assert.equal(step.writesMade, 0, 'an object was written before the named time');
  }

  /** Rule 3: at most one untracked job for each crash or lost answer; none with idempotency keys. */
  checkJobs(): void {
    const { vendor } = this.#simulation;
    const { job, start } = this.#simulation.status();
    const id = job?.id;
    if (id !== undefined) this.#seenJobs.add(id);
    const seen = `${id} ${vendor.jobs.size} ${this.excused} ${start?.key}`;
    if (seen === this.#jobsChecked) return;
    this.#jobsChecked = seen;
    const spare = [...vendor.jobs.keys()].filter((jobId) => !this.#seenJobs.has(jobId)).length;
    const isUnconfirmed = start !== undefined ? 1 : 0;
    assert.ok(spare <= this.excused + isUnconfirmed, `${spare} untracked jobs, ${this.excused} excused`);
  }

  /** Rules 10, 12: no timer is long, and for a deleted resource nothing is done. */
  checkGone({ outcome, before, callsMade, writesMade }: Step, hadFaults: boolean): void {
    assert.ok((outcome?.wakeAfterMs ?? 0) <= longestWaitMs, 'a timer longer than the hourly check');
    // After a stale read the deletion may be unknown.
    if (before !== undefined || hadFaults) return;
    assert.equal(callsMade + writesMade, 0, 'work was done for a deleted resource');
  }

  /** Rules 1, 14: an existing resource is checked again, whatever a read returned. */
  checkAwaited(): void {
    const { wakeAt, clock, cluster } = this.#simulation;
    const isAwaited = wakeAt - clock.monotonic() <= longestWaitMs;
    assert.ok(isAwaited || !cluster.isWatched(resource), 'an existing resource is never checked again');
  }

  /** Rule 14: a restarted process requeues no later. */
  async checkRestart({ outcome, error, startedAt }: Step): Promise<void> {
    const object = this.#simulation.object();
    if (error !== undefined || outcome?.wakeAfterMs === undefined || object === undefined) return;
    const resource = parseStaticExport(object);
    // A new process has no running inspection, and no running work on a copy.
    const { candidates, mirrorWorks } = this.#simulation.memory();
    if (resource.spec === undefined || candidates.size + mirrorWorks.size > 0) return;
    const signal = new AbortController().signal;
    const context = this.#simulation.context(this.#forgetful(resource.status, signal), noFaults);
    const { observation } = await gather(object, resource, resource.spec, context, signal);
    const seen = adopt(observation);
    const wakeAt = nextWake(seen, choose(classify(seen), seen));
    const { clock } = this.#simulation;
    const before = clock.now() + outcome.wakeAfterMs;
    // A rollout is checked again after a time that counts from its last check, before slow calls.
    const tookMs = clock.monotonic() - startedAt;
    assert.ok(wakeAt <= before + tookMs + 1000, `a restart would wake ${wakeAt - before} ms later`);
  }

  /**
   * The memory of a new process. A refusal that is in no status is kept: another resource received it, or its status
   * write was overtaken. Without it the process would not check for a new key, only wait for the operation's retry.
   */
  #forgetful({ refusedKey }: Status, signal: AbortSignal): ProcessMemory {
    const memory = createMemory(signal);
    const { rateLimits, links, refusedReads } = this.#simulation.memory();
    // A new process also stalls on an unreadable object, after its own grace period.
    for (const place of ['key', 'output', 'confirmation'] as const) {
      for (const [id, read] of refusedReads[place]) memory.refusedReads[place].set(id, read);
    }
    // A new process cannot know that the clock was set back before its start.
    for (const [id, link] of links) memory.links.set(id, link);
    for (const [id, { refused }] of rateLimits) {
      if (refused === undefined || refused.secretVersion === refusedKey?.secretVersion) continue;
      memory.rateLimits.set(id, { closedUntil: undefined, closedAt: undefined, refused });
    }
    return memory;
  }

  /** At the end, after a calm time: the resource is Ready and all objects agree. */
  checkSettled(): void {
    const simulation = this.#simulation;
    const object = simulation.object();
    if (object === undefined) return;
    const { spec } = parseStaticExport(object);
    if (spec === undefined || spec.suspend === true || spec.pin !== undefined) return;
    assert.equal(
      simulation.condition('Ready'),
      'True/Published',
      `not ready after calm: ${JSON.stringify(simulation.status())}`,
    );
    this.#mirror.checkSettled();
    if (!wantsNoLink(spec)) assert.ok(simulation.isLinkValid(), 'no valid link after calm');
    const configMap = simulation.cluster.configMaps.get(`${resource.namespace}/${outputName}`);
    assert.equal(configMap?.data['version'], simulation.output()?.['version'], 'ConfigMap and Secret differ');
    assert.equal(
      simulation.status().active?.version,
      simulation.output()?.['version'],
      'status and Secret differ',
    );
    this.#hooks.checkSettled();
    const isInStep = (simulation.status().targets ?? []).every(({ synced }) => synced);
    assert.ok(isInStep, `a target is not synced after calm: ${JSON.stringify(simulation.status().targets)}`);
    this.#object?.checkSettled();
    this.#git?.checkSettled();
  }
}

/** The entries added to a list since it was read last; a long scenario run empties the list sometimes. */
class Reader<T> {
  #read = 0;

  rest(all: readonly T[]): readonly T[] {
    const rest = all.length === this.#read ? [] : all.slice(all.length < this.#read ? 0 : this.#read);
    this.#read = all.length;
    return rest;
  }
}

/** The Secret's publication was not in status; only a write can confirm that it is not an old one. */
function isUnknownToStatus({ before, bundleBefore }: Step): boolean {
  const { active } = parseStatus(before?.status);
  if (active === undefined || bundleBefore === undefined) return false;
  return parsePublishedBundle(bundleBefore).jobId !== active.jobId;
}

/** No action was due: no change, no running job, and no time named in status had come. */
export function isIdle({ before, wasDirty }: Step, now: number): boolean {
  return (
    !wasDirty && quietTime(before) > now && !isLookedAtLater(before, now) && !hasFailedLater(before, now)
  );
}

/** True if the clock was set back since the last look at the copy: the next look is due. */
function isLookedAtLater(object: StaticExportObject | undefined, now: number): boolean {
  return (readInstant(parseStatus(object?.status).active?.mirrorCheckTime) ?? 0) > now;
}

/** True if the clock was set back since a start failed: its wait is ignored. */
function hasFailedLater(object: StaticExportObject | undefined, now: number): boolean {
  return (readInstant(parseStatus(object?.status).failures?.start?.lastFailureTime) ?? 0) > now;
}

/** Until when a resource has no due action by its status, epoch ms; 0 when status does not say so. */
export function quietTime(object: StaticExportObject | undefined): number {
  const {
    active,
    job,
    start,
    nextRefreshTime,
    nextExportTime,
    failures,
    targets,
    refusedKey,
    conditions,
    hook,
  } = parseStatus(object?.status);
  // Status names no time for the inspection of a pinned job, and its result may come at any time.
  if (conditions?.some(({ type, reason }) => type === 'Reconciling' && reason === 'PinPending')) return 0;
  if (hook !== undefined) return 0;
  if (start !== undefined || refusedKey !== undefined || nextRefreshTime === undefined) return 0;
  if (job?.verdict === undefined || job.verdict === 'TimedOut' || job.verdict === 'JobLost') return 0;
  const isCopying = conditions?.some(({ type, status }) => type === 'Mirrored' && status !== 'True');
  if (isCopying) return 0;
  const operations = [failures?.export, failures?.poll, failures?.link, failures?.mirror];
  if (operations.some((one) => one !== undefined) || targets?.some(({ synced }) => !synced)) return 0;
  const [issuedAt, expiresAt] = [
    readInstant(active?.linkIssueTime) ?? 0,
    readInstant(active?.linkExpirationTime) ?? 0,
  ];
  const refreshAt = readInstant(nextRefreshTime) ?? 0;
  // Delayed by an answer to another resource: LinkFresh changes when the link is overdue, a time not named in status.
  if (refreshAt > issuedAt + dueAgeMs(object, expiresAt - issuedAt)) return 0;
  return Math.min(
    refreshAt,
    earliestLook(object),
    nextExportTime === undefined ? Number.POSITIVE_INFINITY : (readInstant(nextExportTime) ?? 0),
    // A start that another job delays, or the starts of the hour.
    failures?.start === undefined ? Number.POSITIVE_INFINITY : (readInstant(failures.start.retryTime) ?? 0),
  );
}

/** The next time after `now` that status names for an action, epoch ms; `now` when it names none. */
export function namedTime(object: StaticExportObject | undefined, now: number): number {
  const { nextRefreshTime, nextExportTime, failures, hook } = parseStatus(object?.status);
  if (nextRefreshTime === undefined || hook !== undefined) return now;
  const operations = [failures?.export, failures?.start, failures?.poll, failures?.link, failures?.mirror];
  const retries = operations.map((one) => one?.retryTime);
  const texts = [nextRefreshTime, nextExportTime, ...retries];
  const named = [...texts.flatMap((text) => readInstant(text) ?? []), earliestLook(object)];
  return Math.min(...named.filter((at) => at > now), Number.POSITIVE_INFINITY);
}
