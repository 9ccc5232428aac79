// A random story: hours of a resource's life with edits, outages, crashes, clock jumps and lost events, made of one
// seed, checked by the oracles at every turn, and given calm at the end to come to rest.

import { Dice } from './dice.ts';
import { type FaultLog, randomFaults } from './faults.ts';
import { Oracles } from './oracles.ts';
import { ownDocument } from './target-document.ts';
import { targetKinds } from './target-troubles.ts';
import { keySecret, resource, type Turn, World, type WorldOptions } from './world.ts';

const minuteMs = 60_000;

export interface StoryFacts {
  readonly turns: number;
  readonly faults: number;
  readonly crashes: number;
  readonly jobs: number;
  readonly issues: number;
  readonly versions: number;
}

interface Script {
  readonly world: World;
  readonly oracles: Oracles;
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
] as const;

const happenings: readonly Happening[] = [
  ({ world, oracles }) => {
    world.vendor.failing = world.dice.pick([
      'ServerError',
      'RateLimited',
      'RequestTimeout',
      'UnexpectedAnswer',
      'NetworkError',
    ] as const);
    world.vendor.retryAfterMs = world.dice.pick([undefined, 5000, 60_000]);
    oracles.disturb();
  },
  ({ world, oracles }) => {
    world.vendor.failing = undefined;
    oracles.disturb();
  },
  ({ world }) => {
    world.vendor.jobMs = world.dice.between(1, 900) * 1000;
    world.vendor.ending = world.dice.pick([
      'completed',
      'completed',
      'completed',
      'failed',
      'never',
    ] as const);
  },
  ({ world, oracles }) => {
    world.jump(world.dice.between(-900, 900) * 1000);
    oracles.disturb();
    // A queue measures its delays on the monotonic clock; the hourly look finds what a jump made due.
    world.prompt();
  },
  ({ world, oracles }) => {
    const [job] = [...world.vendor.jobs.keys()].slice(-1);
    if (job !== undefined) world.vendor.jobs.delete(job);
    oracles.disturb();
  },
  ({ world, oracles }) => {
    world.vendor.skewMs = world.dice.between(-600, 600) * 1000;
    oracles.disturb();
  },
  ({ world }) => {
    world.vendor.unreadable = world.dice.pick([
      undefined,
      undefined,
      'transient',
      'refused',
      'expired-link',
    ] as const);
  },
  ({ world, oracles }) => {
    world.vendor.validKey = `svc_secret-${world.dice.between(100, 999)}`;
    world.cluster.putSecret(keySecret, {
      apiKey: world.dice.isBelow(0.5) ? world.vendor.validKey : 'svc_wrong',
    });
    oracles.disturb();
    world.prompt();
  },
  ({ world, oracles }) => {
    world.cluster.secrets.delete(`${resource.namespace}/site-bundle`);
    oracles.disturb();
    world.prompt();
  },
  ({ world }) => {
    if (world.target === undefined) return;
    ownDocument(world, world.target, undefined, world.dice.isBelow(0.7));
    // Nobody has to be told of it; the next look may find it.
    if (world.dice.isBelow(0.5)) world.prompt();
    else world.isDirty = true;
  },
  (script) => edit(script, script.world.dice.pick(edits)),
  (script) => edit(script, script.world.dice.pick(edits)),
  (script) => edit(script, script.world.dice.pick(edits)),
];

function edit({ world, oracles }: Script, kind: (typeof edits)[number]): void {
  const isNoticed = world.dice.isBelow(0.8);
  const wakeAt = world.wakeAt;
  switch (kind) {
    case 'content': {
      const name = `content-${world.dice.between(1, 5)}`;
      world.vendor.contents.set('docs.example.com', { name, pages: world.dice.between(15, 25) });
      return;
    }
    case 'request':
      world.annotate({ 'staticexport.dev/requestedAt': `token-${world.dice.between(1, 1_000_000)}` });
      break;
    case 'domain':
      world.editSpec({ domain: world.dice.pick(['docs.example.com', 'www.example.com']) });
      break;
    case 'suspend':
    case 'resume':
      world.editSpec({ suspend: kind === 'suspend' });
      break;
    case 'pin': {
      const known = (world.status().history ?? []).map(({ version }) => version);
      const version = world.dice.pick(known.length === 0 ? ['none'] : known);
      world.editSpec({ pin: { version } });
      break;
    }
    case 'unpin':
      world.editSpec({ pin: undefined });
      break;
    case 'manual':
      world.annotate({ 'staticexport.dev/promote': world.status().candidate?.version ?? '' });
      break;
    default:
      kind satisfies never;
  }
  oracles.disturb();
  // A watch event may get lost; only the next look finds the edit then.
  if (!isNoticed) world.wakeAt = wakeAt;
}

/** Plays the story of a seed. Throws the breach, with the seed in its message. */
export async function playStory(seed: number, bend?: WorldOptions['bend']): Promise<StoryFacts> {
  const log: FaultLog[] = [];
  let rate = 0;
  const world = new World({
    seed,
    target: new Dice(seed).pick(targetKinds),
    spec: { schedule: '17 * * * *', linkRefresh: { minInterval: '30s' }, jobTimeout: '10m' },
    ...(bend && { bend }),
  });
  const oracles = new Oracles(world);
  world.faults = randomFaults(world.dice, () => rate, log);
  world.vendor.linkLifetimeMs = world.dice.pick([2, 4, 15, 60, 600]) * minuteMs;
  world.vendor.isCachingLinks = world.dice.isBelow(0.2);
  // Whose links state no expiry and are the same until they die gives nobody a way to know.
  const isAssumedRight = world.vendor.linkLifetimeMs === 15 * minuteMs && !world.vendor.isCachingLinks;
  world.vendor.hidesExpiry = isAssumedRight && world.dice.isBelow(0.3);
  const script: Script = { world, oracles };
  let turns = 0;
  const watch = async (turn: Turn): Promise<void> => {
    turns += 1;
    // With keys honoured, a lost start leaves a spare job only if its mark was given up or overtaken by an edit.
    oracles.excused = log.length + edited;
    const hadFaults = log.length > faultsSeen;
    faultsSeen = log.length;
    await oracles.check(turn, hadFaults);
  };
  let edited = 0;
  let faultsSeen = 0;
  try {
    for (let chapter = 0; chapter < 10; chapter += 1) {
      rate = world.dice.pick([0, 0, 0.01, 0.05, 0.2]);
      if (rate > 0) oracles.disturb();
      world.dice.pick(happenings)(script);
      edited += 1;
      await world.run(world.dice.between(1, 45) * minuteMs, watch);
      if (rate === 0 && world.dice.isBelow(0.5)) await watch(await world.turn());
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
      `seed ${seed}, turn ${turns}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return {
    turns,
    faults: log.length,
    crashes: world.crashes,
    jobs: world.vendor.jobs.size,
    issues: world.callsOf('issue'),
    versions: world.status().history?.length ?? 0,
  };
}

async function calmDown(
  { world, oracles }: Script,
  stopFaults: () => void,
  watch: (turn: Turn) => Promise<void>,
): Promise<void> {
  stopFaults();
  const { vendor } = world;
  vendor.failing = undefined;
  vendor.ending = 'completed';
  vendor.jobMs = minuteMs;
  vendor.unreadable = undefined;
  world.cluster.putSecret(keySecret, { apiKey: vendor.validKey });
  if (world.target !== undefined) ownDocument(world, world.target);
  world.editSpec({ suspend: false, pin: undefined, promotion: { maxShrinkPercent: 100 } });
  oracles.disturb();
  await world.run(2 * 60 * minuteMs, watch);
}
