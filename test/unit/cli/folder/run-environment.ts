// The loop of `run` over virtual time: a state folder, and the simulation's export API. Virtual time passes only while no
// file is being written, so that a slow disk changes nothing.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type FolderCluster, noObjects, openFolderCluster } from '#cli/folder/folder-cluster.ts';
import { watchGitTargets } from '#cli/folder/git-destination.ts';
import { createWaker, type RunEnd, runLoop } from '#cli/folder/run-loop.ts';
import { writeWhole } from '#cli/output/destination.ts';
import { createProgress } from '#cli/output/progress.ts';
import type { Publishing } from '#cli/publish/publisher.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { type GitTargets, noGitTargets, noMirrors, noNotices } from '#operator/loop/ports.ts';
import { annotations as names } from '#operator/staticexport/names.ts';
import { planTarget } from '#operator/targets/target-plan.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { Dice } from '../../../simulation/dice.ts';
import { FakeVendor } from '../../../simulation/fake-vendor.ts';
import { keySecret, requestTimeoutMs, resource } from '../../../simulation/simulation.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

export interface RunEnvironmentOptions {
  readonly once?: boolean;
  readonly timeoutMs?: number;
  /** Further fields. */
  readonly spec?: object;
  /** Token of an export that is requested. */
  readonly request?: string;
  /** Of the object: the jitter of schedules follows it. */
  readonly uid?: string;
  /** Real files of this folder hold the state; without it, only memory does. */
  readonly folder?: string;
  readonly publishings?: readonly Publishing[];
  /** Of targets in the spec. @param wake when a repository was read */
  readonly git?: (wake: () => void) => GitTargets;
}

/** A disk that really syncs takes minutes for a month of the loop when others sync too. */
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder that is removed after the test. */
export function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(base, 'run-loop-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RunEnvironment {
  readonly vendor: FakeVendor;
  readonly cluster: FolderCluster;
  /** Standard error without a terminal. */
  readonly shown: () => string;
  /** Lets virtual time pass. */
  readonly pass: (ms: number) => Promise<void>;
  readonly ended: Promise<RunEnd>;
  readonly stop: (reason: unknown) => void;
}

export async function startRun(t: TestContext, options: RunEnvironmentOptions = {}): Promise<RunEnvironment> {
  const { once = false, timeoutMs = 3_600_000, publishings = [], folder } = options;
  const clock = virtualClock();
  const vendor = new FakeVendor(clock);
  const random = new Dice(1).random();
  const { uid = random.uuid() } = options;
  const writes = new Set<Promise<void>>();
  const counted = (work: () => Promise<void>): Promise<void> => {
    const writing = work().finally(() => writes.delete(writing));
    writes.add(writing);
    return writing;
  };
  const cluster = await openFolderCluster(
    join(folder ?? folderFor(t), 'objects'),
    { ...random, uuid: () => uid },
    folder === undefined ? async () => {} : (...file) => counted(() => writeWhole(...file)),
  );
  const spec = {
    domain: 'docs.example.com',
    api: { keySecretRef: { name: keySecret.name } },
    ...options.spec,
  };
  cluster.holdSecret(keySecret, { apiKey: Buffer.from(vendor.validKey) });
  const annotations = options.request === undefined ? {} : { [names.requestedAt]: options.request };
  await cluster.applyManifest({ key: resource, spec, annotations, labels: {} });
  let shown = '';
  const write = (text: string): void => {
    shown += text;
  };
  const stop = new AbortController();
  const signal = once ? clock.deadline(timeoutMs, stop.signal) : stop.signal;
  const waker = createWaker();
  const git = watchGitTargets(options.git?.(() => waker.wake()) ?? noGitTargets);
  const apiBaseUrl = 'https://api.example.com';
  const context = { clock, progress: createProgress({ write }, clock), signal: stop.signal };
  const loop = {
    ...{ key: resource, spec, cluster, waker, once, apiBaseUrl },
    timeout: timeoutMs,
    allowPrivateLinks: true,
    showEvents: () => {},
    resume: () => ['Run the same command again to continue.'],
    git,
    publishings: publishings.map((one) => ({
      ...one,
      publish: (...bundle: Parameters<Publishing['publish']>) => counted(() => one.publish(...bundle)),
    })),
    reconcileContext: {
      ...{ cluster, clock, random, logger: silentLogger },
      exportApi: vendor,
      bundles: vendor.bundles(),
      mirrors: noMirrors,
      planner: {
        plan: async (_namespace: string, task: Parameters<typeof planTarget>[0]) => planTarget(task),
      },
      objects: noObjects,
      git: git.port,
      events: { record: () => {} },
      notices: noNotices,
      wake: () => waker.wake(),
      isKnown: () => true,
      startTimesOf: () => new Map<string, readonly number[]>(),
      settings: {
        operatorLease: 'static-export/run',
        ...{
          apiBaseUrl,
          allowedApiHosts: [],
          requestTimeoutMs,
          inspectTimeoutMs: 10 * 60_000,
          startsPerHour: 10,
        },
      },
      memory: createMemory(signal),
    },
  };
  const ended = runLoop(loop, context, signal);
  ended.catch(() => {});
  const settle = async (): Promise<void> => {
    await setImmediate();
    while (writes.size > 0) {
      await Promise.allSettled(writes);
      await setImmediate();
    }
  };
  const pass = async (ms: number): Promise<void> => {
    const end = clock.monotonic() + ms;
    await settle();
    while (clock.monotonic() + clock.nextInMs() <= end) {
      await clock.pass(clock.nextInMs());
      await settle();
    }
    await clock.pass(end - clock.monotonic());
  };
  return { vendor, cluster, shown: () => shown, pass, ended, stop: (reason) => stop.abort(reason) };
}
