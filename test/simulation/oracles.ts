// What must hold after every turn of a story, whatever happened in it. Each oracle is a rule of the product; a
// breach is thrown with the rule's words. Owns its memory of the story; changes nothing.

import assert from 'node:assert/strict';
import { gather } from '../../src/loop/gather.ts';
import { createMemory, type ProcessMemory } from '../../src/loop/memory.ts';
import { adopt } from '../../src/reconcile/adopt.ts';
import { choose } from '../../src/reconcile/choose.ts';
import { classify } from '../../src/reconcile/classify.ts';
import { nextWake } from '../../src/reconcile/wake.ts';
import { parseStaticExport, parseStatus } from '../../src/staticexport/parse.ts';
import { type Status, statusSchema } from '../../src/staticexport/status-schema.ts';
import type { StaticExportObject } from '../../src/wire/cluster.ts';
import { readInstant } from '../../src/wire/instant.ts';
import { brokenRules, type Moment } from '../support/kstatus-rules.ts';
import { CallOracles } from './call-oracles.ts';
import { signature } from './fake-vendor.ts';
import { noFaults } from './faults.ts';
import { dueAgeMs, LinkOracles } from './link-oracles.ts';
import { checkJobShown, PublicationOracles } from './publication-oracles.ts';
import { outputName, resource, type Simulation, type Step } from './simulation.ts';
import { checkTarget } from './target-document.ts';

/** How long after the last disturbance everything must be in order: the longest back-off of a dead link, and slack. */
const calmMs = 7 * 60_000;
const longestWaitMs = 3_601_000;
/** A wake-up later than this is the hourly look, or as good as one. */
export const shortestLookMs = 50 * 60_000;

export class Oracles {
  readonly #simulation: Simulation;
  #disturbedAt = 0;
  readonly #seenJobs: Set<string>;
  #writesChecked = 0;
  /** The step before this one saw things as they are, and found or left nothing to do. */
  #wasClean = false;
  #wasFaulty = false;
  idleTurns = 0;
  readonly #events = new Reader<unknown>();
  readonly #logs = new Reader<string>();
  /** What was searched already, and for which key. */
  readonly #searched = new WeakMap<object, string>();
  #judged: unknown;
  #judgedAt: Moment = 'any';
  #jobsChecked = '';
  readonly #calls: CallOracles;
  readonly #publication: PublicationOracles;
  readonly link: LinkOracles;
  /** While something goes on that a live link cannot be had through. */
  isTroubled = false;
  /** Faults that may each have cost a job nobody follows, or a write twice. */
  excused = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#seenJobs = new Set(simulation.vendor.jobs.keys());
    this.link = new LinkOracles(simulation);
    this.#calls = new CallOracles(simulation);
    this.#publication = new PublicationOracles(simulation);
  }

  /** Jobs that were started for nobody, in all. */
  spareJobs(): number {
    const { exported, elsewhere } = this.#simulation.vendor;
    return [...exported.keys()].filter((id) => !this.#seenJobs.has(id) && !elsewhere.has(id)).length;
  }

  versions(): number {
    return this.#publication.versions();
  }

  /** Another resource of the same name: nothing of the old one binds it. */
  startAnew(): void {
    this.#publication.startAnew();
  }

  /** Something happened that the operator may need time to get over. */
  disturb(): void {
    this.#disturbedAt = this.#simulation.clock.monotonic();
  }

  /**
   * @param hadFaults in this turn: what it read or was told may not have been so
   * @param isWhole the dear ones too: whether a restart would wake as early
   */
  async check(step: Step, hadFaults = false, isWhole = true): Promise<void> {
    if (step.error !== undefined || hadFaults) this.disturb();
    this.checkSecrets(step.error);
    this.checkStatus(step.error === undefined && !hadFaults ? 'after a pass' : 'any');
    this.#publication.check(step);
    this.link.check(step, this.isCalm(), hadFaults);
    this.checkWrites(step, hadFaults);
    if (!hadFaults) this.checkIdle(step);
    const isLeft = step.callsMade + step.writesMade > 0 && (step.outcome?.wakeAfterMs ?? 0) < shortestLookMs;
    this.#wasClean = step.error === undefined && !hadFaults && !isLeft;
    this.#wasFaulty = hadFaults || step.error !== undefined;
    this.#calls.check(step, hadFaults);
    this.checkJobs();
    this.checkGone(step, hadFaults);
    this.checkAwaited();
    if (step.error === undefined && !hadFaults && !this.isSuspended()) checkTarget(this.#simulation);
    if (!hadFaults && isWhole) await this.checkRestart(step);
  }

  /** As read; targets stay as they are meanwhile. */
  isSuspended(): boolean {
    const object = this.#simulation.object();
    const spec = object && parseStaticExport(object).spec;
    return spec === undefined || spec.suspend === true;
  }

  /** Nothing has happened for so long that everything must be in order. */
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
    const told = this.#events.rest(events);
    const lines = this.#logs.rest(logs);
    if (objects.length + told.length + lines.length === 0 && error === undefined) return;
    for (const one of objects) this.#searched.set(one, validKey);
    const shown = JSON.stringify([objects, told, error instanceof Error ? error.message : error]);
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

  /** Rule 11: what belongs to somebody else is not touched; rule 6: written only on change. */
  checkWrites(step: Step, hadFaults: boolean): void {
    const { writes } = this.#simulation.cluster;
    const fresh = writes.slice(this.#writesChecked);
    this.#writesChecked = writes.length;
    for (const { isTakeover } of fresh)
      assert.notEqual(isTakeover, true, 'an output of somebody else was overwritten');
    if (step.error !== undefined || hadFaults) return;
    const isConfirmed = this.#isUnknownToStatus(step);
    for (const { kind, isChange } of fresh) {
      const isFine = isChange || (kind === 'Secret' && isConfirmed);
      assert.ok(isFine, `${kind} was written without a change`);
    }
  }

  /** What the Secret published was not in status: whether it is one of the past, only a write can ask. */
  #isUnknownToStatus({ before, linkBefore }: Step): boolean {
    const { active } = parseStatus(before?.status);
    const fact = linkBefore === undefined ? undefined : this.#simulation.vendor.links.get(linkBefore);
    return active !== undefined && fact !== undefined && fact.jobId !== active.jobId;
  }

  /** Rule 6: nothing is called or written between timers when nothing changed. */
  checkIdle(step: Step): void {
    if (
      step.error !== undefined ||
      !(
        (step.isUnprompted && !this.#wasFaulty) ||
        (this.#wasClean && isIdle(step, this.#simulation.clock.now()))
      )
    )
      return;
    this.idleTurns += 1;
    assert.equal(step.callsMade, 0, 'the API was called before its time');
    assert.equal(step.writesMade, 0, 'something was written before its time');
  }

  /** Rule 3: at most one job nobody follows for each crash or lost answer; none where keys are honoured. */
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
    assert.ok(spare <= this.excused + isUnconfirmed, `${spare} jobs nobody follows, ${this.excused} excused`);
  }

  /** Rules 10, 12: no timer is long, and for a resource that is gone nothing is done. */
  checkGone({ outcome, before, callsMade, writesMade }: Step, hadFaults: boolean): void {
    assert.ok((outcome?.wakeAfterMs ?? 0) <= longestWaitMs, 'a timer longer than the hourly look');
    // Who reads the past may not know that it is gone.
    if (before !== undefined || hadFaults) return;
    assert.equal(callsMade + writesMade, 0, 'something was done for a resource that is gone');
  }

  /** Rules 1, 14: what is there is looked at again, whatever a read said of it. */
  checkAwaited(): void {
    const { wakeAt, clock, cluster } = this.#simulation;
    const isAwaited = wakeAt - clock.monotonic() <= longestWaitMs;
    assert.ok(isAwaited || !cluster.isWatched(resource), 'a resource that is there is never looked at again');
  }

  /** Rule 14: a process that lost its memory wakes no later. */
  async checkRestart({ outcome, error }: Step): Promise<void> {
    const object = this.#simulation.object();
    if (error !== undefined || outcome?.wakeAfterMs === undefined || object === undefined) return;
    const resource = parseStaticExport(object);
    // An archive being read is work that a new process does not have.
    if (resource.spec === undefined || this.#simulation.memory().candidates.size > 0) return;
    const signal = new AbortController().signal;
    const context = this.#simulation.context(this.#forgetful(resource.status, signal), noFaults);
    const { observation } = await gather(object, resource, resource.spec, context, signal);
    const seen = adopt(observation);
    const wakeAt = nextWake(seen, choose(classify(seen), seen));
    const before = this.#simulation.clock.now() + outcome.wakeAfterMs;
    assert.ok(wakeAt <= before + 1000, `a restart would wake ${wakeAt - before} ms later`);
  }

  /**
   * The memory of a new process. A refusal that no status holds is kept: it was told to another resource, or its
   * status write was overtaken, and without it nobody looks for a new key but waits for the operation's own time.
   */
  #forgetful({ refusedKey }: Status, signal: AbortSignal): ProcessMemory {
    const memory = createMemory(signal);
    const { rateLimits: gates, links, refusedReads } = this.#simulation.memory();
    // What could not be read for long a new process believes as well, when its own patience is over.
    for (const place of ['key', 'output', 'confirmation'] as const) {
      for (const [id, read] of refusedReads[place]) memory.refusedReads[place].set(id, read);
    }
    // Nor can it know that the clock was set back before it came.
    for (const [id, link] of links) memory.links.set(id, link);
    for (const [id, { refused }] of gates) {
      if (refused === undefined || refused.secretVersion === refusedKey?.secretVersion) continue;
      memory.rateLimits.set(id, { closedUntil: undefined, closedAt: undefined, refused });
    }
    return memory;
  }

  /** At the end of a story, after calm: everything is as it should be. */
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
    assert.ok(simulation.isLinkLive(), 'no live link after calm');
    const configMap = simulation.cluster.configMaps.get(`${resource.namespace}/${outputName}`);
    assert.equal(configMap?.data['version'], simulation.output()?.['version'], 'ConfigMap and Secret differ');
    assert.equal(
      simulation.status().active?.version,
      simulation.output()?.['version'],
      'status and Secret differ',
    );
    const isInStep = (simulation.status().targets ?? []).every(({ synced }) => synced);
    assert.ok(isInStep, `a target is not in step after calm: ${JSON.stringify(simulation.status().targets)}`);
  }
}

/** What was added to a list since it was read last; a long life empties it now and then. */
class Reader<T> {
  #read = 0;

  rest(all: readonly T[]): readonly T[] {
    const rest = all.length === this.#read ? [] : all.slice(all.length < this.#read ? 0 : this.#read);
    this.#read = all.length;
    return rest;
  }
}

/** Nothing had changed, nothing was running and no time that status names had come: nothing was to be done. */
export function isIdle({ before, wasDirty }: Step, now: number): boolean {
  return !wasDirty && quietTime(before) > now;
}

/** Until when a resource has nothing to do as its status says, epoch ms; 0 when it does not say so. */
export function quietTime(object: StaticExportObject | undefined): number {
  const { active, job, start, nextRefreshTime, nextExportTime, failures, targets, refusedKey, conditions } =
    parseStatus(object?.status);
  // Of what is being read for a pin status names no time, and the reader may say something at any.
  if (conditions?.some(({ type, reason }) => type === 'Reconciling' && reason === 'PinPending')) return 0;
  if (start !== undefined || refusedKey !== undefined || nextRefreshTime === undefined) return 0;
  if (job?.verdict === undefined || job.verdict === 'TimedOut' || job.verdict === 'JobLost') return 0;
  const operations = [failures?.export, failures?.poll, failures?.link];
  if (operations.some((one) => one !== undefined) || targets?.some(({ synced }) => !synced)) return 0;
  const [issuedAt, expiresAt] = [
    readInstant(active?.linkIssueTime) ?? 0,
    readInstant(active?.linkExpirationTime) ?? 0,
  ];
  const refreshAt = readInstant(nextRefreshTime) ?? 0;
  // Put off by what another resource was told: LinkFresh steps when the link is overdue, which status does not name.
  if (refreshAt > issuedAt + dueAgeMs(object, expiresAt - issuedAt)) return 0;
  return Math.min(
    refreshAt,
    nextExportTime === undefined ? Number.POSITIVE_INFINITY : (readInstant(nextExportTime) ?? 0),
  );
}

/** The next instant after `now` at which status says that something is due, epoch ms; `now` when it names none. */
export function namedTime(object: StaticExportObject | undefined, now: number): number {
  const { nextRefreshTime, nextExportTime, failures } = parseStatus(object?.status);
  if (nextRefreshTime === undefined) return now;
  const retries = [failures?.export, failures?.poll, failures?.link].map((one) => one?.retryTime);
  const named = [nextRefreshTime, nextExportTime, ...retries].flatMap((text) => readInstant(text) ?? []);
  return Math.min(...named.filter((at) => at > now), Number.POSITIVE_INFINITY);
}
