// Runs the campaign: one tenant is served, the other writes whatever it may, and its vendor answers anything. The report
// names each rule that was broken, with figures. Invariant: no broken rule ends the run before its report.

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { diceOf } from '../mutation.ts';
import { Tally } from './choice.ts';
import { setUp, type TenantEnvironment } from './environment.ts';
import type { HookFigures } from './hooks.ts';
import { slowArchive } from './hostile-archives.ts';
import { shapeNames } from './hostile-hosts.ts';
import { makeInput } from './inputs.ts';
import { checkChangedKits, type KitFigures } from './kits.ts';
import { findTenantLeaks } from './leaks.ts';
import { gitExportCount, published, publishedCount, type TenantInput } from './objects.ts';
import { type ProbeReport, startProbes } from './probes.ts';
import type { ServedFigures } from './served-tenant.ts';
import { listSlowArchives, listWorstInputs } from './worst-inputs.ts';

export interface CampaignOptions {
  readonly seed: number;
  /** The number of the first input by dice; to meet one again. */
  readonly from?: number;
  /** Inputs by dice; after the known worst ones, unless those are left out. */
  readonly inputs: number;
  readonly withoutWorst?: boolean;
  /** Kinds of input that are left out, to find more than the known results. */
  readonly leaveOut?: RegExp;
  /** So many exports with archives that take a minute each, before all else; new exports of the served tenant are judged. */
  readonly slowArchives?: number;
  /** No further input is begun after this. */
  readonly maxMs: number;
  /** How long it is watched after the last input, at least. */
  readonly settleMs: number;
  /** Refreshes of each served link before it ends. */
  readonly minRefreshes: number;
  /** Kinds of answer that each hostile vendor has given before the run ends; 0 by default. */
  readonly minAnswerKinds?: number;
  /** What its git host was asked for, by kind, before the run ends; 0 by default. */
  readonly minGitKinds?: number;
  /** Changed kits that the command line checks meanwhile; 0 by default. */
  readonly kits?: number;
  /** Path of a built operator; by default the sources. */
  readonly program?: string;
  readonly onProgress?: (line: string) => void;
}

export interface CampaignReport {
  readonly inputs: Tally;
  /** Answers of the API server to the tenant's writes, by HTTP status. */
  readonly writes: Tally;
  readonly answers: readonly Tally[];
  readonly probes: ProbeReport;
  /** Of the operator's main thread, by the clock and as processor time. */
  readonly longestPauseMs: number;
  readonly longestBusyMs: number;
  readonly limitBytes: number;
  readonly served: readonly ServedFigures[];
  /** What the operator says of the hostile tenant's documents at the end, by reason. */
  readonly documents: Tally;
  readonly lastInput: number;
  /** Of the hostile git host and registry. */
  readonly hosts: Tally;
  /** What the operator says of its git targets at the end. */
  readonly gitTasks: Tally;
  readonly hooks: HookFigures;
  readonly kits: KitFigures;
  /** The rules that were broken, as text. */
  readonly broken: readonly string[];
}

/** What the operator's main thread may do in one go. */
const mostBusyMs = 1_000;
/** Probes that fail in a row before a kubelet acts. */
const mostFailedInRow = 3;
/** Until an archive of the hostile tenant waits for a slot, at most. */
const mostFillMs = 15_000;
/** A new export of the served tenant takes some ten seconds when it is alone. */
const mostExportMs = 90_000;
/** Between two orders of new exports by the served tenant. */
const orderEveryMs = 45_000;

const leaseShape = z.object({ spec: z.object({ holderIdentity: z.string(), leaseTransitions: z.number() }) });
const publishedShape = z.object({
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
    targets: z.array(z.object({ reason: z.string(), message: z.string().optional() })).optional(),
  }),
});
const meterShape = z.object({ at: z.number(), pauseMs: z.number(), busyMs: z.number() });

/** @throws Error when the test environment does not start; a broken rule is in the report */
export async function runTenantCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const closers: (() => Promise<void>)[] = [];
  const begun = performance.now();
  try {
    const environment = await setUp(options, closers);
    return await run(environment, options, begun);
  } finally {
    for (const close of closers.reverse()) await close().catch(() => {});
  }
}

async function run(
  environment: TenantEnvironment,
  options: CampaignOptions,
  begun: number,
): Promise<CampaignReport> {
  const { operator, watch, clients, context } = environment;
  const say = options.onProgress ?? (() => {});
  const allPublished = async (): Promise<true | undefined> =>
    watch.isPublished() && (await readPublished(environment)).every(({ isReady }) => isReady)
      ? true
      : undefined;
  await eventually('links of both tenants', allPublished, { timeoutMs: 180_000 });
  say(`both tenants are published after ${seconds(begun)} s`);
  const lease = await readLease(environment);
  const probes = startProbes(operator.port, operator.child.pid);
  const inputs = new Tally();
  const writes = new Tally();
  const start = performance.now();
  const startedAt = Date.now();
  let orderedAt = Number.NEGATIVE_INFINITY;
  const isAlive = (): boolean => !operator.child.hasExited();
  const order = async (): Promise<void> => {
    if (performance.now() - orderedAt < orderEveryMs) return;
    orderedAt = performance.now();
    await watch.order();
  };
  const perform = async (input: TenantInput): Promise<void> => {
    if (options.leaveOut?.test(input.kind)) return;
    inputs.add(input.kind);
    for (const write of input.writes) {
      if (!isAlive()) return;
      writes.add(`${write.verb}: ${await clients.hostile.write(write)}`);
    }
  };
  try {
    if (options.slowArchives !== undefined && options.slowArchives > 0) {
      const kind = environment.archives.indexOf(slowArchive);
      await perform(listSlowArchives(context, options.slowArchives, kind));
      const filledAt = performance.now();
      while (
        isAlive() &&
        !(await hasWaitingArchive(environment)) &&
        performance.now() - filledAt < mostFillMs
      )
        await sleep(200);
      say(`archives wait for slots after ${seconds(start)} s`);
      await order();
    }
    if (options.withoutWorst !== true) {
      for (const input of listWorstInputs(context, environment.archives.length)) await perform(input);
      say(`the known worst inputs are in after ${seconds(start)} s`);
    }
    const from = options.from ?? 0;
    let at = from;
    for (; at < from + options.inputs && performance.now() - start < options.maxMs && isAlive(); at += 1) {
      await order();
      await perform(makeInput(at, diceOf(Math.imul(options.seed, 0x9e3779b1) + at), context));
      if ((at - from) % 100 === 99) say(`${at - from + 1} inputs after ${seconds(start)} s`);
    }
    await order();
    const settledAt = performance.now();
    const { settleMs } = options;
    const mostMs = settleMs + (options.slowArchives === undefined ? mostSettleMs : mostExportMs);
    const isExported = (): boolean =>
      options.slowArchives === undefined || watch.figures().every(({ openMs }) => openMs === undefined);
    const gitKinds = (): number =>
      environment.hosts.answered.list().filter(([kind]) => kind.startsWith('git: ')).length;
    const isDone = (): boolean =>
      performance.now() - settledAt > settleMs &&
      watch.fewestRefreshes() >= options.minRefreshes &&
      environment.hostileVendors.every(
        ({ answered }) => answered.list().length >= (options.minAnswerKinds ?? 0),
      ) &&
      gitKinds() >= (options.minGitKinds ?? 0) &&
      isExported();
    while (isAlive() && !isDone() && performance.now() - settledAt < mostMs) await sleep(200);
    const kits = await checkChangedKits(environment.cluster.folder, options.seed, options.kits ?? 0);
    const hooks = environment.hooks.figures();
    const gitTasks = new Tally();
    const gitNames = Array.from({ length: gitExportCount + shapeNames.length }, (_, at) => `git-${at}`);
    for (const { targets } of isAlive() ? await readPublished(environment, gitNames) : [])
      for (const { reason, message = '' } of targets)
        gitTasks.add(`${reason} ${message.slice(0, 90)}`.trim());
    const leaks = isAlive() ? await findTenantLeaks(environment) : [];
    const measured = {
      probes: await probes.report(),
      ...(await readMeter(environment.meterFile, startedAt)),
    };
    const after = await readLease(environment);
    const documents = new Tally();
    for (const { targets } of isAlive() ? await readPublished(environment) : []) {
      for (const { reason, message } of targets)
        documents.add(`${reason} ${message?.split(':')[0] ?? ''}`.trim());
    }
    const broken = [
      ...(isAlive() ? [] : [`the operator ended: ${operator.child.tail().slice(-600)}`]),
      ...(after === lease ? [] : [`the lease changed hands: ${lease}, then ${after}`]),
      ...judgeServed(watch.figures(), options.minRefreshes),
      ...(options.slowArchives === undefined ? [] : judgeExports(watch.figures())),
      ...judgeMeasured(measured, environment.limitBytes),
      ...leaks,
      ...hooks.broken,
      ...kits.broken,
      ...environment.hostileVendors.flatMap(({ strayKeys }) => [...strayKeys]),
    ];
    return {
      inputs,
      writes,
      answers: environment.hostileVendors.map(({ answered }) => answered),
      ...measured,
      limitBytes: environment.limitBytes,
      served: watch.figures(),
      documents,
      lastInput: at - 1,
      hosts: environment.hosts.answered,
      gitTasks,
      hooks,
      kits,
      broken,
    };
  } finally {
    await probes.stop();
  }
}

/** Beyond the time to settle, for the refreshes and answers that are wanted. */
const mostSettleMs = 60_000;

const seconds = (start: number): number => Math.round((performance.now() - start) / 1000);

/** The hostile tenant's exports with an honest vendor: the documents are their targets. */
async function readPublished(
  { clients, context }: TenantEnvironment,
  all = Array.from({ length: publishedCount }, (_, at) => published(at)),
) {
  return Promise.all(
    all.map(async (name) => {
      const path = `/apis/staticexport.dev/v1alpha1/namespaces/${context.namespace}/staticexports/${name}`;
      const { status } = publishedShape.parse((await clients.hostile.read(path)) ?? { status: {} });
      const isReady =
        status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
      return { isReady, targets: status.targets ?? [] };
    }),
  );
}

/** Whether the queue for inspections is as long as the hostile tenant can make it: full slots, and one that waits. */
async function hasWaitingArchive({ operator }: TenantEnvironment): Promise<boolean> {
  const { text } = await operator.get('/metrics?name[]=staticexport_inspections_waiting');
  return /^staticexport_inspections_waiting [1-9]/m.test(text);
}

/** Who holds it, and how often it went to another. */
async function readLease({ cluster }: TenantEnvironment): Promise<string> {
  const { stdout } = await cluster.kubectl([
    'get',
    'lease',
    cluster.leaseName,
    '-n',
    cluster.operatorNamespace,
    '-o',
    'json',
  ]);
  const { spec } = leaseShape.parse(JSON.parse(stdout));
  return `${spec.holderIdentity}, ${spec.leaseTransitions} changes`;
}

async function readMeter(
  file: string,
  since: number,
): Promise<Pick<CampaignReport, 'longestPauseMs' | 'longestBusyMs'>> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
  const all = lines.map((line) => meterShape.parse(JSON.parse(line))).filter(({ at }) => at > since);
  return {
    longestPauseMs: Math.max(0, ...all.map(({ pauseMs }) => pauseMs)),
    longestBusyMs: Math.max(0, ...all.map(({ busyMs }) => busyMs)),
  };
}

function judgeServed(figures: readonly ServedFigures[], minRefreshes: number): readonly string[] {
  return figures.flatMap(({ name, refreshes, complaints }) => [
    ...complaints,
    ...(refreshes < minRefreshes ? [`${name} had ${refreshes} refreshes, not ${minRefreshes}`] : []),
  ]);
}

function judgeExports(figures: readonly ServedFigures[]): readonly string[] {
  return figures.flatMap(({ name, exportsMs, openMs = 0 }) =>
    Math.max(openMs, ...exportsMs) > mostExportMs
      ? [`a new export of ${name} took more than ${mostExportMs / 1000} s`]
      : [],
  );
}

function judgeMeasured(
  { probes, longestBusyMs }: Pick<CampaignReport, 'probes' | 'longestBusyMs'>,
  limitBytes: number,
): readonly string[] {
  const late = probes.probes.filter((one) => one.mostFailedInRow >= mostFailedInRow);
  return [
    ...late.map(
      ({ path, mostFailedInRow, longestOutageMs }) =>
        `${path} failed ${mostFailedInRow} times in a row (silent for ${Math.round(longestOutageMs)} ms)`,
    ),
    ...(longestBusyMs > mostBusyMs
      ? [`the main thread was busy for ${Math.round(longestBusyMs)} ms of processor time in one go`]
      : []),
    ...(probes.mostResidentBytes > limitBytes
      ? [`resident memory came to ${probes.mostResidentBytes} bytes, above the limit of ${limitBytes}`]
      : []),
  ];
}
