// A crash before and after every single call of a port, an answer lost or refused at each, a read of the past, and a
// second process that passes in between, in the moments that matter: a new version, a refresh, a lost output, a pin.
// Whatever was interrupted is finished.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultAt } from './faults.ts';
import { Oracles } from './oracles.ts';
import { World } from './world.ts';

const minuteMs = 60_000;
const faults = ['crash-before', 'crash-after', 'lost', 'refused', 'stale', 'replayed', 'overtaken'] as const;

interface Moment {
  readonly spec?: Record<string, unknown>;
  readonly arrange: (world: World) => void;
  readonly isOver: (world: World) => boolean;
  /** Jobs that exist afterwards; keys are honoured, so no interruption may add one. */
  readonly jobs: number;
}

const isReady = (world: World): boolean => world.condition('Ready').startsWith('True/');

const aNewVersion: Moment = {
  arrange: (world) => {
    world.vendor.jobMs = 5000;
    world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    world.annotate({ 'staticexport.dev/requestedAt': 'now' });
  },
  isOver: (world) => world.status().history?.length === 2 && isReady(world),
  jobs: 2,
};

const moments: Readonly<Record<string, Moment>> = {
  'a new version': aNewVersion,
  'a refresh': {
    arrange: () => {},
    isOver: (world) => world.clock.monotonic() > 25 * minuteMs && isReady(world),
    jobs: 1,
  },
  'a lost output': {
    arrange: (world) => {
      world.cluster.secrets.delete('docs/site-bundle');
      world.prompt();
    },
    isOver: (world) => world.output() !== undefined && isReady(world),
    jobs: 1,
  },
  'a pinned job from elsewhere': {
    arrange: (world) => {
      world.vendor.jobMs = 5000;
      world.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 20 });
      world.editSpec({ pin: { jobId: world.vendor.startElsewhere('docs.example.com') } });
    },
    isOver: (world) => world.status().history?.length === 2 && isReady(world),
    jobs: 2,
  },
};

async function publishedWorld(spec: Record<string, unknown> = {}): Promise<World> {
  const world = new World({ spec: { linkRefresh: { minInterval: '5s' }, ...spec } });
  world.vendor.jobMs = 5000;
  await world.until(() => isReady(world));
  return world;
}

/** Plays the moment once for each of its calls and each fault. */
async function interrupt(
  { spec, arrange, isOver }: Moment,
  check: (world: World, words: string) => void,
  isIdempotent = true,
): Promise<void> {
  const calls: string[] = [];
  const plain = await publishedWorld(spec);
  plain.faults = faultAt(-1, 'none', calls);
  arrange(plain);
  await plain.until(() => isOver(plain));
  for (const fault of faults) {
    for (let index = 0; index < calls.length; index += 1) {
      const world = await publishedWorld(spec);
      world.vendor.isIdempotent = isIdempotent;
      world.faults = faultAt(index, fault, []);
      arrange(world);
      await world.until(() => isOver(world));
      check(world, `${fault} at ${calls[index]} (${index})`);
    }
  }
}

for (const [name, moment] of Object.entries(moments)) {
  test(`an interruption at any call of ${name} is got over`, async () => {
    await interrupt(moment, (world, words) => {
      const oracles = new Oracles(world);
      oracles.checkSecrets();
      oracles.checkStatus('any');
      assert.equal(world.vendor.jobs.size, moment.jobs, words);
      assert.ok(world.isLinkLive(), words);
      assert.equal(world.status().active?.version, world.output()?.['version']);
    });
  });
}

test('where keys are not honoured, an interruption costs one job at most', async () => {
  let spare = 0;
  const count = (world: World, words: string): void => {
    const jobs = world.vendor.jobs.size - aNewVersion.jobs;
    assert.ok(jobs === 0 || jobs === 1, `${words}: ${jobs} spare jobs`);
    spare += jobs;
  };
  await interrupt(aNewVersion, count, false);
  // A vendor that honours them would have none.
  assert.ok(spare > 0);
});
