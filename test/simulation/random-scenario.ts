// A random scenario: hours of a resource with edits, outages, crashes, clock jumps and lost events, generated from one
// seed, checked by the oracles at every step, with a calm time at the end to settle.

import { Dice } from './dice.ts';
import { type FaultLog, randomFaults } from './faults.ts';
import { gitShapeOf, gitTroubles } from './git-troubles.ts';
import { objectShapeOf, objectTroubles } from './object-troubles.ts';
import { Oracles } from './oracles.ts';
import { keySecret, resource, Simulation, type SimulationOptions, type Step } from './simulation.ts';
import { ownDocument } from './target-document.ts';
import { targetKinds } from './target-troubles.ts';

const minuteMs = 60_000;

export interface ScenarioCounts {
  readonly steps: number;
  readonly faults: number;
  readonly crashes: number;
  readonly jobs: number;
  readonly issues: number;
  readonly versions: number;
}

interface Script {
  readonly simulation: Simulation;
  readonly oracles: Oracles;
  /** Of the object that a target writes. */
  endTrouble?: (() => void) | undefined;
}

type Happening = (script: Script) => void;

const edits = [
  'content',
  'content',
  'request',
  'request',
  'domain',
  'suspend',
  'resume',
  'pin',
  'unpin',
  'manual',
  'reject',
  'refresh',
  'hook',
  'hook',
] as const;

const happenings: readonly Happening[] = [
  ({ simulation, oracles }) => {
    simulation.vendor.failing = simulation.dice.pick([
      'ServerError',
      'RateLimited',
      'RequestTimeout',
      'UnexpectedAnswer',
      'NetworkError',
    ] as const);
    simulation.vendor.retryAfterMs = simulation.dice.pick([undefined, 5000, 60_000]);
    oracles.disturb();
  },
  ({ simulation, oracles }) => {
    simulation.vendor.failing = undefined;
    oracles.disturb();
  },
  ({ simulation }) => {
    simulation.vendor.jobMs = simulation.dice.between(1, 900) * 1000;
    simulation.vendor.ending = simulation.dice.pick([
      'completed',
      'completed',
      'completed',
      'failed',
      'never',
    ] as const);
  },
  ({ simulation, oracles }) => {
    simulation.jump(simulation.dice.between(-900, 900) * 1000);
    oracles.disturb();
    // A queue measures its delays on the monotonic clock; the hourly check finds actions that a jump made due.
    simulation.prompt();
  },
  ({ simulation, oracles }) => {
    const [job] = [...simulation.vendor.jobs.keys()].slice(-1);
    if (job !== undefined) simulation.vendor.jobs.delete(job);
    oracles.disturb();
  },
  ({ simulation, oracles }) => {
    simulation.vendor.skewMs = simulation.dice.between(-600, 600) * 1000;
    oracles.disturb();
  },
  ({ simulation }) => {
    simulation.vendor.unreadable = simulation.dice.pick([
      undefined,
      undefined,
      'transient',
      'rejected',
      'expired-link',
    ] as const);
  },
  ({ simulation, oracles }) => {
    simulation.vendor.validKey = `svc_secret-${simulation.dice.between(100, 999)}`;
    simulation.cluster.putSecret(keySecret, {
      apiKey: simulation.dice.isBelow(0.5) ? simulation.vendor.validKey : 'svc_wrong',
    });
    oracles.disturb();
    simulation.prompt();
  },
  ({ simulation, oracles }) => {
    simulation.cluster.secrets.delete(`${resource.namespace}/site-bundle`);
    oracles.disturb();
    simulation.prompt();
  },
  ({ simulation }) => {
    if (simulation.target === undefined) return;
    ownDocument(simulation, simulation.target, undefined, simulation.dice.isBelow(0.7));
    // The next reconcile may find the change without an event.
    if (simulation.dice.isBelow(0.5)) simulation.prompt();
    else simulation.isDirty = true;
  },
  (script) => {
    const { simulation, oracles } = script;
    if (simulation.owned.object === undefined) return;
    script.endTrouble?.();
    script.endTrouble = simulation.dice.pick(Object.values(objectTroubles))(script).end;
    oracles.disturb();
    simulation.prompt();
  },
  (script) => {
    const { simulation, oracles } = script;
    if (simulation.owned.git === undefined) return;
    script.endTrouble?.();
    script.endTrouble = simulation.dice.pick(Object.values(gitTroubles))(script).end;
    oracles.disturb();
    simulation.prompt();
  },
  (script) => edit(script, script.simulation.dice.pick(edits)),
  (script) => edit(script, script.simulation.dice.pick(edits)),
  (script) => edit(script, script.simulation.dice.pick(edits)),
];

function edit({ simulation, oracles }: Script, kind: (typeof edits)[number]): void {
  const isNoticed = simulation.dice.isBelow(0.8);
  const wakeAt = simulation.wakeAt;
  switch (kind) {
    case 'content': {
      const name = `content-${simulation.dice.between(1, 5)}`;
      simulation.vendor.contents.set('docs.example.com', { name, pages: simulation.dice.between(15, 25) });
      return;
    }
    case 'request':
      simulation.annotate({
        'staticexport.dev/requestedAt': `token-${simulation.dice.between(1, 1_000_000)}`,
      });
      break;
    case 'domain':
      simulation.editSpec({ domain: simulation.dice.pick(['docs.example.com', 'www.example.com']) });
      break;
    case 'suspend':
    case 'resume':
      simulation.editSpec({ suspend: kind === 'suspend' });
      break;
    case 'pin': {
      const known = (simulation.status().history ?? []).map(({ version }) => version);
      const version = simulation.dice.pick(known.length === 0 ? ['none'] : known);
      simulation.editSpec({ pin: { version } });
      break;
    }
    case 'unpin':
      simulation.editSpec({ pin: undefined });
      break;
    case 'manual':
      simulation.annotate({ 'staticexport.dev/promote': simulation.status().candidate?.version ?? '' });
      break;
    case 'reject':
      simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
      break;
    case 'refresh':
      simulation.annotate({
        'staticexport.dev/refreshRequestedAt': `token-${simulation.dice.between(1, 1_000_000)}`,
      });
      break;
    case 'hook':
      simulation.hook(
        simulation.dice.between(1, 40),
        simulation.dice.pick([0, 1000, 20_000, 45_000, 59_000, 70_000]),
      );
      break;
    default:
      kind satisfies never;
  }
  oracles.disturb();
  // A watch event may be lost; then only the next reconcile finds the edit.
  if (!isNoticed) simulation.wakeAt = wakeAt;
}

/** Plays the scenario of a seed. Throws the breach, with the seed in its message. */
export async function playScenario(seed: number, bend?: SimulationOptions['bend']): Promise<ScenarioCounts> {
  const log: FaultLog[] = [];
  let rate = 0;
  const simulation = new Simulation({
    seed,
    target: new Dice(seed).pick(targetKinds),
    object: objectShapeOf(seed),
    git: gitShapeOf(seed),
    spec: {
      schedule: '17 * * * *',
      linkRefresh: { minInterval: '30s' },
      jobTimeout: '10m',
      trigger: { quietPeriod: '1m' },
    },
    ...(bend && { bend }),
  });
  const oracles = new Oracles(simulation);
  simulation.faults = randomFaults(simulation.dice, () => rate, log);
  simulation.vendor.linkLifetimeMs = simulation.dice.pick([2, 4, 15, 60, 600]) * minuteMs;
  simulation.vendor.isCachingLinks = simulation.dice.isBelow(0.2);
  // A vendor that states no expiry and issues the same link until it expires gives the operator no way to know.
  const isAssumedRight =
    simulation.vendor.linkLifetimeMs === 15 * minuteMs && !simulation.vendor.isCachingLinks;
  simulation.vendor.hidesExpiry = isAssumedRight && simulation.dice.isBelow(0.3);
  const script: Script = { simulation, oracles };
  let steps = 0;
  const watch = async (step: Step): Promise<void> => {
    steps += 1;
    // With idempotency keys a lost start leaves a spare job only if its record was dropped or overtaken by an edit.
    oracles.excused = log.length + edited;
    const hadFaults = log.length > faultsSeen;
    faultsSeen = log.length;
    await oracles.check(step, hadFaults);
  };
  let edited = 0;
  let faultsSeen = 0;
  try {
    for (let chapter = 0; chapter < 10; chapter += 1) {
      rate = simulation.dice.pick([0, 0, 0.01, 0.05, 0.2]);
      if (rate > 0) oracles.disturb();
      simulation.dice.pick(happenings)(script);
      edited += 1;
      await simulation.run(simulation.dice.between(1, 45) * minuteMs, watch);
      if (rate === 0 && simulation.dice.isBelow(0.5)) await watch(await simulation.step());
    }
    await calmDown(
      script,
      () => {
        rate = 0;
      },
      watch,
    );
    oracles.checkSettled();
  } catch (error) {
    throw new Error(
      `seed ${seed}, step ${steps}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return {
    steps,
    faults: log.length,
    crashes: simulation.crashes,
    jobs: simulation.vendor.jobs.size,
    issues: simulation.callsOf('issue'),
    versions: simulation.status().history?.length ?? 0,
  };
}

async function calmDown(
  script: Script,
  stopFaults: () => void,
  watch: (step: Step) => Promise<void>,
): Promise<void> {
  stopFaults();
  const { simulation, oracles } = script;
  script.endTrouble?.();
  simulation.owned.object?.restore();
  simulation.owned.git?.restore();
  const { vendor } = simulation;
  vendor.failing = undefined;
  vendor.ending = 'completed';
  vendor.jobMs = minuteMs;
  vendor.unreadable = undefined;
  simulation.cluster.putSecret(keySecret, { apiKey: vendor.validKey });
  if (simulation.target !== undefined) ownDocument(simulation, simulation.target);
  simulation.editSpec({ suspend: false, pin: undefined, promotion: { maxShrinkPercent: 100 } });
  oracles.disturb();
  await simulation.run(2 * 60 * minuteMs, watch);
}
