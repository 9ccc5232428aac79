// A simulation on virtual time: cluster, vendor, one operator process at a time with the real reconcile, and a driver
// that calls it as the work queue would: at its wake-up, on changes, after errors with a back-off.

import type { OperatorSettings, ReconcileContext, ReconcileOutcome } from '#operator/loop/context.ts';
import { createMemory, type ProcessMemory } from '#operator/loop/memory.ts';
import type { Notice } from '#operator/loop/notices.ts';
import { type GitTargets, noGitTargets, type TargetPlanner } from '#operator/loop/ports.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { defaultStartsPerHour } from '#operator/staticexport/names.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { planTarget } from '#operator/targets/target-plan.ts';
import { nextLookMs } from '#operator/watch/absence.ts';
import { knownOf, startTimesIn } from '#operator/watch/known-resource.ts';
import type { EventNote, ObjectKey, StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts';
import { ClockJumps } from './clock-jumps.ts';
import { Dice } from './dice.ts';
import { decode, FakeCluster } from './fake-cluster.ts';
import { FakeMirror, type MirrorShape, mirrorFields } from './fake-mirror.ts';
import { FakeVendor } from './fake-vendor.ts';
import { Crash, type FaultPlan, noFaults } from './faults.ts';
import { FaultyPorts, loggerInto } from './faulty-ports.ts';
import { type GitShape, GitTarget } from './git-target.ts';
import { type ObjectShape, ObjectTarget } from './object-target.ts';
import { SentHooks } from './sent-hooks.ts';
import { ownDocument, type TargetKind, targetsOf } from './target-document.ts';

export const resource: ObjectKey = { namespace: 'docs', name: 'site' };
export const outputName = 'site-bundle';
export const keySecret: ObjectKey = { namespace: 'docs', name: 'export-api' };
export const mirrorSecret: ObjectKey = { namespace: 'docs', name: 'mirror' };
const resourceId = `${resource.namespace}/${resource.name}`;
const outputId = `${resource.namespace}/${outputName}`;
const keySecretId = `${keySecret.namespace}/${keySecret.name}`;
export const requestTimeoutMs = 30_000;

/** One reconcile of the driver, for the oracles. */
export interface Step {
  readonly outcome: ReconcileOutcome | undefined;
  readonly error: unknown;
  readonly isUnprompted: boolean;
  readonly before: StaticExportObject | undefined;
  /** The link that was published when the step started, and whether it was valid. */
  readonly linkBefore: string | undefined;
  /** Its `bundle.json`. */
  readonly bundleBefore: string | undefined;
  readonly wasLinkValid: boolean;
  /** After a change or at the first reconcile. */
  readonly wasDirty: boolean;
  /** On the monotonic clock. */
  readonly startedAt: number;
  /** When the process of this step was started. */
  readonly processSince: number;
  readonly callsMade: number;
  readonly writesMade: number;
}

export interface SimulationOptions {
  readonly seed?: number;
  readonly spec?: Record<string, unknown>;
  /** A foreign document that the version is written into. */
  readonly target?: TargetKind | undefined;
  /** Another owner's object that the version is written into. */
  readonly object?: ObjectShape | undefined;
  /** A git repository that the version is pushed into. */
  readonly git?: GitShape | undefined;
  /** A mirror that bundles are copied to; every target above also gets the reference of the copy. */
  readonly mirror?: MirrorShape | undefined;
  readonly faults?: FaultPlan;
  /** The clock of other simulations, when several share an object. */
  readonly clock?: VirtualClock;
  /** Replaces parts of the context; for mutations. */
  readonly bend?: (context: ReconcileContext, simulation: Simulation) => ReconcileContext;
}

export class Simulation {
  readonly clock: VirtualClock;
  readonly jumps: ClockJumps;
  readonly hooks = new SentHooks();
  readonly cluster = new FakeCluster();
  readonly vendor: FakeVendor;
  readonly mirror: FakeMirror;
  readonly dice: Dice;
  readonly events: EventNote[] = [];
  readonly notices: Notice[] = [];
  readonly logs: string[] = [];
  faults: FaultPlan;
  readonly target: TargetKind | undefined;
  readonly owned: { readonly object: ObjectTarget | undefined; readonly git: GitTarget | undefined };
  readonly because: string[] = [];
  crashes = 0;
  /** The probability that an event comes twice. */
  echoes = 0;
  /** An object that a reconcile reads was changed since the last one. */
  isDirty = false;
  /** When the next reconcile starts, on the monotonic clock. */
  wakeAt = 0;
  bend: NonNullable<SimulationOptions['bend']>;
  /** Background work other than inspections may wake the resource at any time. */
  hasBackground = false;
  settings: OperatorSettings = {
    operatorLease: 'operators/simulated',
    apiBaseUrl: 'https://api.example.com',
    allowedApiHosts: [],
    requestTimeoutMs,
    inspectTimeoutMs: 10 * 60_000,
    startsPerHour: defaultStartsPerHour,
  };
  readonly #own: Pick<
    ReconcileContext,
    'planner' | 'events' | 'notices' | 'wake' | 'isKnown' | 'startTimesOf' | 'random' | 'logger'
  >;
  readonly #ports: FaultyPorts;
  #git: GitTargets = noGitTargets;
  #process = new AbortController();
  #memory: ProcessMemory = createMemory(this.#process.signal);
  #processSince = 0;
  #errors = 0;
  #isWoken = false;

  constructor(options: SimulationOptions = {}) {
    this.clock = options.clock ?? virtualClock();
    this.jumps = new ClockJumps(this.clock);
    this.vendor = new FakeVendor(this.clock);
    this.mirror = new FakeMirror(this.clock, this.vendor, options.mirror);
    this.dice = new Dice(options.seed ?? 1);
    this.faults = options.faults ?? noFaults;
    this.bend = options.bend ?? ((context) => context);
    this.target = options.target;
    this.#ports = new FaultyPorts(this.cluster, this.vendor, this.mirror, () => this.#beOvertaken());
    const events = { record: (_object: object, note: EventNote) => this.events.push(note) };
    const notices = {
      send: (_object: object, sent: readonly Notice[]) => void this.notices.push(...sent),
    };
    const [random, logger] = [this.dice.random(), loggerInto(this.logs)];
    const isKnown = (key: ObjectKey): boolean => this.cluster.isWatched(key);
    const planner: TargetPlanner = {
      plan: async (_namespace, task) => planTarget(task),
    };
    const startTimesOf = (budget: string) =>
      startTimesIn(
        [...this.cluster.exports].map(([key, object]) => [key, knownOf(object)]),
        budget,
      );
    this.#own = { planner, events, notices, wake: () => this.#wake(), isKnown, startTimesOf, random, logger };
    this.vendor.readStart = () => this.status().start;
    const { object: shape } = options;
    const object = shape && new ObjectTarget(shape, this.writesRef, this.cluster.objects, this.clock);
    const git = options.git && new GitTarget(options.git, this);
    this.owned = { object, git };
    this.hasBackground = git !== undefined;
    this.#git = this.#openGit();
    if (this.target !== undefined) ownDocument(this, this.target);
    this.cluster.putSecret(keySecret, { apiKey: this.vendor.validKey });
    this.cluster.putSecret(mirrorSecret, { username: 'u', password: 'p' });
    const targets = [
      ...(this.target ? targetsOf(this.target, options.mirror) : []),
      ...(object ? [object.specTarget()] : []),
      ...(git ? [git.specTarget()] : []),
    ];
    this.cluster.create(resource, {
      ...(targets.length > 0 && { targets }),
      ...(options.mirror && mirrorFields(options.mirror)),
      domain: 'docs.example.com',
      api: { keySecretRef: { name: 'export-api' } },
      ...options.spec,
    });
  }

  context(memory = this.#memory, plan = this.faults): ReconcileContext {
    const { clock, settings } = this;
    const git = this.#git;
    return this.bend({ ...this.#ports.under(plan), ...this.#own, git, clock, settings, memory }, this);
  }

  /** Targets get the reference of the copy. */
  get writesRef(): boolean {
    return this.mirror.shape !== undefined;
  }

  memory(): ProcessMemory {
    return this.#memory;
  }

  /** A process that believes it leads, with an empty memory, does one reconcile. */
  async #beOvertaken(): Promise<void> {
    const stop = new AbortController();
    try {
      await reconcile(resource, this.context(createMemory(stop.signal), noFaults), stop.signal);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
    } finally {
      stop.abort();
    }
  }

  /** The process ends and another starts with an empty memory. */
  restart(): void {
    this.#process.abort();
    this.#process = new AbortController();
    this.#memory = createMemory(this.#process.signal);
    this.#git = this.#openGit();
    this.#errors = 0;
    this.#processSince = this.clock.monotonic();
    this.wakeAt = this.#processSince;
  }

  /** An operator with other revisions of the rules takes the place of this one. */
  update(revisions: Readonly<Record<string, number>>): void {
    const stepRevisions = { ...this.mirror.stepRevisions, ...revisions };
    this.mirror.stepRevisions = stepRevisions;
    this.settings = { ...this.settings, stepRevisions };
    this.restart();
  }

  /** A changed repository is like a changed object, so that the reconcile that follows is not idle. */
  #openGit(): GitTargets {
    const { git } = this.owned;
    const wake = (): void => {
      this.isDirty = true;
      this.#wake();
    };
    return git === undefined ? noGitTargets : git.open(wake, this.#process.signal);
  }

  /** A background task has ended: the next step is now, or right after the running one. */
  #wake(): void {
    this.#isWoken = true;
    this.wakeAt = Math.min(this.wakeAt, this.clock.monotonic());
  }

  /** Sleeps until the next reconcile, at most until `end`; the end of background work may start it earlier. */
  async #sleep(end = Number.POSITIVE_INFINITY): Promise<void> {
    this.#receiveHooks();
    for (let leftMs = this.#leftMs(end); leftMs > 0; leftMs = this.#leftMs(end)) {
      const napMs = this.#isReading() ? 1000 : this.hasBackground ? this.clock.nextInMs() : leftMs;
      const hookInMs = this.hooks.nextTime() - this.clock.monotonic();
      await this.clock.pass(Math.min(leftMs, hookInMs, napMs));
      this.#receiveHooks();
    }
  }

  #receiveHooks(): void {
    for (const token of this.hooks.take(this.clock.monotonic()))
      this.annotate({ 'staticexport.dev/hookRequestedAt': token });
  }

  /** Sends `count` hooks, the first one at once, then one every `gapMs`. */
  hook(count = 1, gapMs = 0): void {
    this.hooks.plan(this.clock.monotonic(), count, gapMs);
    this.#receiveHooks();
  }

  #leftMs(end: number): number {
    return Math.min(this.wakeAt, end) - this.clock.monotonic();
  }

  #isReading(): boolean {
    const { candidates, mirrorWorks } = this.#memory;
    const isInspecting = [...candidates.values()].some(({ inspection, done }) => inspection && !done);
    return isInspecting || [...mirrorWorks.values()].some(({ isRunning }) => isRunning);
  }

  /** Sets this machine's clock. */
  jump(ms: number): void {
    this.jumps.jump(ms);
  }

  /** Drops old entries that a long scenario run does not need; the counts stay. */
  forget(): void {
    if (this.because.length > 1000) this.because.length = 0;
    if (this.logs.length > 1000) this.logs.length = 0;
    if (this.events.length > 1000) this.events.length = 0;
    if (this.notices.length > 1000) this.notices.length = 0;
  }

  /** Notifies the driver of a change, as a watch would. */
  prompt(): void {
    this.isDirty = true;
    this.wakeAt = this.clock.monotonic();
  }

  /** One reconcile now. */
  async step(): Promise<Step> {
    if (this.owned.object?.play()) this.isDirty = true;
    const isUnprompted = this.clock.monotonic() < this.wakeAt && !this.isDirty;
    const wasDirty = this.isDirty;
    this.isDirty = false;
    this.#isWoken = false;
    const before = await this.cluster.readStaticExport(resource);
    const { bundleUrl: linkBefore, 'bundle.json': bundleBefore } = this.output() ?? {};
    const wasLinkValid = this.isLinkValid();
    const startedAt = this.clock.monotonic();
    const calls = this.vendor.calls.length;
    const countWrites = (): number => this.cluster.writes.length + this.cluster.objects.writes.length;
    const writes = countWrites();
    const processSince = this.#processSince;
    const counts = () => ({
      isUnprompted,
      before,
      linkBefore,
      bundleBefore,
      wasLinkValid,
      wasDirty,
      startedAt,
      processSince,
      callsMade: this.vendor.calls.length - calls,
      writesMade: countWrites() - writes,
    });
    try {
      const outcome = await this.clock.finish(reconcile(resource, this.context(), this.#process.signal));
      this.#errors = 0;
      this.because.push(outcome.because);
      const isKnown = this.cluster.isWatched(resource);
      const lookMs = nextLookMs(outcome.wakeAfterMs, isKnown) ?? Number.POSITIVE_INFINITY;
      this.wakeAt = this.clock.monotonic() + (this.#isWoken ? 0 : lookMs);
      return { outcome, error: undefined, ...counts() };
    } catch (error) {
      this.#recover(error);
      return { outcome: undefined, error, ...counts() };
    }
  }

  #recover(error: unknown): void {
    if (error instanceof Crash) {
      this.crashes += 1;
      this.restart();
      this.wakeAt = this.clock.monotonic() + this.dice.between(1, 20) * 1000;
      return;
    }
    if (!(error instanceof ClusterError)) throw error;
    this.#errors += 1;
    this.wakeAt =
      this.clock.monotonic() + (error.code === 'Conflict' ? 100 : Math.min(300_000, 500 * 2 ** this.#errors));
  }

  /**
   * Runs due reconciles until `ms` from now; `watch` receives each step, and may delay the next one (`wakeAt`) to any
   * time before `end`.
   */
  async run(ms: number, watch: (step: Step, end: number) => void | Promise<void> = () => {}): Promise<void> {
    const end = this.clock.monotonic() + ms;
    // A refused key is checked every minute, possibly for days.
    for (let steps = 0; ; steps += 1) {
      if (steps > 4000 + ms / 20_000) throw new Error('the driver steps without end');
      await this.#sleep(end);
      if (this.wakeAt > end) return;
      const step = await this.step();
      await watch(step, end);
      if (this.echoes > 0 && step.outcome !== undefined) await this.#echo(watch, end);
    }
  }

  /** A received event comes again, at once or before the next wake-up. */
  async #echo(watch: (step: Step, end: number) => void | Promise<void>, end: number): Promise<void> {
    const spareMs = Math.min(this.wakeAt, end) - this.clock.monotonic();
    if (this.isDirty || spareMs <= 0 || !this.dice.isBelow(this.echoes)) return;
    await this.clock.pass(this.dice.pick([0, this.dice.between(0, spareMs - 1)]));
    await watch(await this.step(), end);
  }

  /** Reconciles until the condition holds; fails after `ms` of virtual time. */
  async until(condition: () => boolean, ms = 3_600_000): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (!condition()) {
      if (this.wakeAt > end) throw new Error(`not within ${ms} ms: ${JSON.stringify(this.status())}`);
      await this.#sleep();
      await this.step();
    }
  }

  annotate(annotations: Record<string, string>): void {
    this.cluster.edit(resource, () => ({ annotations }));
    this.prompt();
  }

  editSpec(change: Record<string, unknown>): void {
    this.cluster.edit(resource, ({ spec }) => ({
      spec: { ...(typeof spec === 'object' ? spec : {}), ...change },
    }));
    this.prompt();
  }

  object(): StaticExportObject | undefined {
    return this.cluster.exports.get(resourceId);
  }

  status(): Status {
    return parseStatus(this.object()?.status);
  }

  /** `True/Published`, or `-` when the condition is absent. */
  condition(type: string): string {
    const found = this.status().conditions?.find((one) => one.type === type);
    return found === undefined ? '-' : `${found.status}/${found.reason}`;
  }

  output(): Readonly<Record<string, string>> | undefined {
    const secret = this.cluster.secrets.get(outputId);
    return secret && decode(secret.data);
  }

  keyInUse(): string | undefined {
    const secret = this.cluster.secrets.get(keySecretId);
    return secret && decode(secret.data)['apiKey'];
  }

  isLinkValid(): boolean {
    return this.vendor.isValid(this.output()?.['bundleUrl'] ?? '');
  }

  callsOf(kind: 'start' | 'poll' | 'issue'): number {
    return this.vendor.calls.filter((call) => call.kind === kind).length;
  }
}
