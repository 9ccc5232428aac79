// What the rules say where the operator's own rights are taken away: what may not be read is not guessed at, what may
// not be written is told beside it, the clock goes on, and what is given back heals by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../src/wire/cluster.ts';
import { ClusterError } from '../../src/wire/cluster-error.ts';
import { hourMs, minuteMs, publishedWorld, request } from './published-world.ts';
import { keySecret, outputName, resource, World } from './world.ts';

const refuse = (what: string): Promise<never> =>
  Promise.reject(new ClusterError('Forbidden', `the operator's role does not allow ${what}; add the verb`));

/** Takes rights away, and gives them back. */
function withoutRights(world: World, taken: (cluster: Cluster) => Partial<Cluster>): () => void {
  const { bend } = world;
  world.bend = (context, own) => {
    const bent = bend(context, own);
    return { ...bent, cluster: { ...bent.cluster, ...taken(bent.cluster) } };
  };
  world.prompt();
  return () => {
    world.bend = bend;
  };
}

/** By default with its right taken away. */
const withoutSecret = (world: World, hidden = outputName, answer = refuse): (() => void) =>
  withoutRights(world, (cluster) => ({
    readSecret: (key, signal) =>
      key.name === hidden ? answer(`"get" on secrets "${key.name}"`) : cluster.readSecret(key, signal),
  }));

/** A Secret that the API server cannot decode, for one, while all else can be read. */
const fail = (what: string): Promise<never> =>
  Promise.reject(new ClusterError('Unavailable', `${what} answered 500 Internal Server Error`));

test('rule 11: a Secret that may not be read is left alone, and status says why and when its link dies', async () => {
  const world = await publishedWorld();
  const version = world.status().active?.version;
  const [secret, calls] = [world.output(), world.vendor.calls.length];
  const giveBack = withoutSecret(world);
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  await world.run(hourMs);
  assert.equal(world.condition('LinkFresh'), 'False/Expired');
  assert.equal(world.condition('Stalled'), 'True/OutputUnreadable');
  assert.equal(world.vendor.calls.length, calls, 'something was asked for blindly');
  assert.deepEqual(world.output(), secret);
  assert.equal(world.status().active?.version, version, 'what was known is kept');
  const told = world.events.filter(({ reason }) => reason === 'OutputUnreadable');
  assert.equal(told.length, 1);
  assert.match(told[0]?.message ?? '', /does not allow "get" on secrets "site-bundle"/);
  const writes = world.cluster.writes.length;
  await world.run(6 * hourMs);
  assert.equal(world.cluster.writes.length, writes, 'nothing changes while nothing can be known');
  giveBack();
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  await world.until(() => world.condition('Ready') === 'True/Published', minuteMs);
  await world.until(() => world.status().active?.version !== version, hourMs);
});

test('rule 11: who comes to it anew believes a refusal that status tells already', async () => {
  const world = await publishedWorld();
  withoutSecret(world);
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  world.restart();
  const { error } = await world.turn();
  assert.equal(error, undefined);
});

/** Nothing is due for as long as a moment lasts. */
async function calmWorld(): Promise<World> {
  const world = new World();
  world.vendor.linkLifetimeMs = 24 * hourMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  return world;
}

const moments = [
  { what: 'a refused output', hidden: outputName, answer: refuse, lengthMs: 5000 },
  { what: 'a refused key', hidden: keySecret.name, answer: refuse, lengthMs: 5000 },
  { what: 'an output behind an error', hidden: outputName, answer: fail, lengthMs: 9 * minuteMs },
  { what: 'a key behind an error', hidden: keySecret.name, answer: fail, lengthMs: 9 * minuteMs },
];

for (const { what, hidden, answer, lengthMs } of moments) {
  test(`rule 6: ${what} that is back in a moment is in no status`, async () => {
    const world = await calmWorld();
    const [status, writes] = [world.status(), world.cluster.writes.length];
    const giveBack = withoutSecret(world, hidden, answer);
    await world.run(lengthMs, ({ error }) => assert.ok(error instanceof ClusterError));
    giveBack();
    await world.run(10 * minuteMs);
    assert.deepEqual(world.status(), status);
    assert.equal(world.cluster.writes.length, writes);
  });
}

test('rule 11: an output that no API server can read for long is told with its error, and heals', async () => {
  const world = await publishedWorld();
  const giveBack = withoutSecret(world, outputName, fail);
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', 20 * minuteMs);
  const { message } = world.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
  assert.match(message ?? '', /"get" on secrets "site-bundle" answered 500/);
  await world.run(hourMs);
  assert.equal(world.condition('LinkFresh'), 'False/Expired', 'judged by the clock');
  giveBack();
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  assert.equal(world.condition('Ready'), 'True/Published');
});

for (const { answer, words } of [
  { answer: refuse, words: /does not allow "get" on secrets/ },
  { answer: fail, words: /"get" on secrets "[a-z-]+" answered 500/ },
]) {
  test(`rule 8: a key that cannot be read for long is named (${words.source}), and the link has its end`, async () => {
    const world = await publishedWorld();
    request(world, 'now');
    const giveBack = withoutSecret(world, keySecret.name, answer);
    await world.until(() => world.condition('Exported') === 'False/KeyUnreadable', 20 * minuteMs);
    const told = world.status().conditions?.find(({ type }) => type === 'Exported');
    assert.match(told?.message ?? '', words);
    await world.run(hourMs);
    assert.equal(world.condition('LinkFresh'), 'False/Expired');
    assert.match(world.condition('Ready') ?? '', /^False/);
    giveBack();
    await world.until(() => world.isLinkLive(), 2 * minuteMs);
    await world.until(() => world.condition('Ready') === 'True/Published', hourMs);
  });
}

const pauses: readonly { what: string; pauseMs: number; between: () => Partial<Cluster> }[] = [
  {
    what: 'an hour of outage',
    pauseMs: hourMs,
    between: () => ({ readStaticExport: () => fail('"get" on staticexports') }),
  },
  { what: 'a look at it', pauseMs: 11 * minuteMs, between: () => ({}) },
];

for (const { what, pauseMs, between } of pauses) {
  test(`rule 6: two moments with ${what} between them are not one long refusal`, async () => {
    const world = await calmWorld();
    const [status, writes] = [world.status(), world.cluster.writes.length];
    for (const _ of ['one', 'the other']) {
      const giveBack = withoutSecret(world, outputName, fail);
      assert.ok((await world.turn()).error instanceof ClusterError);
      giveBack();
      const restore = withoutRights(world, between);
      await world.run(pauseMs);
      restore();
    }
    assert.deepEqual(world.status(), status);
    assert.equal(world.cluster.writes.length, writes);
  });
}

for (const suspend of [false, true]) {
  test(`rule 10: a key that cannot be read while nothing is due fails no later look (suspended: ${suspend})`, async () => {
    const world = await calmWorld();
    world.editSpec({ suspend });
    await world.run(minuteMs);
    withoutSecret(world, keySecret.name, fail);
    await world.run(2 * hourMs);
    let looks = 0;
    await world.run(6 * hourMs, ({ error }) => {
      looks += 1;
      assert.equal(error, undefined);
    });
    assert.ok(looks >= 6);
  });
}

const unanswered: readonly {
  what: string;
  taken: (cluster: Cluster) => Partial<Cluster>;
  isKept: boolean;
}[] = [
  {
    what: 'a ConfigMap',
    taken: () => ({ readConfigMap: (key) => fail(`"get" on configmaps "${key.name}"`) }),
    isKept: true,
  },
  {
    what: 'an output',
    taken: ({ readSecret }) => ({
      readSecret: (key, signal) =>
        key.name === outputName ? fail(`"get" on secrets "${key.name}"`) : readSecret(key, signal),
    }),
    isKept: false,
  },
];

for (const { what, taken, isKept } of unanswered) {
  test(`rule 1: ${what} behind an error is waited for no longer than a link of 15 minutes can wait`, async () => {
    const world = await publishedWorld();
    await world.run(Date.parse(world.status().nextRefreshTime ?? '') - world.clock.now() - minuteMs);
    withoutRights(world, taken);
    await world.run(hourMs, () => {
      assert.ok(world.isLinkLive() || !isKept, 'it could be refreshed, and died');
      assert.ok(
        world.isLinkLive() || world.condition('LinkFresh') === 'False/Expired',
        'a dead link is called fresh',
      );
    });
  });
}

test('rule 6: what a process believes by status it believes on when status tells of something else (life 753)', async () => {
  const world = await calmWorld();
  request(world, 'now');
  withoutSecret(world, keySecret.name, fail);
  await world.until(() => world.condition('Exported') === 'False/KeyUnreadable', 20 * minuteMs);
  world.restart();
  await world.run(minuteMs, ({ error }) => assert.equal(error, undefined));
  world.editSpec({ suspend: true });
  world.prompt();
  await world.run(5 * minuteMs, ({ error }) => assert.equal(error, undefined));
  assert.notEqual(world.condition('Exported'), 'False/KeyUnreadable');
});

test('rule 6: a publication that status does not know, and that nobody may confirm, is told when it lasts', async () => {
  const world = await publishedWorld();
  const { active } = world.status();
  const object = world.object();
  assert.ok(object);
  // The status write behind the last publication was lost, and the right to patch Secrets goes.
  const behind = {
    ...world.status(),
    active: { ...active, version: '20250101-000000-aaaaaaaa', jobId: 'se_before' },
  };
  world.cluster.exports.set(`${resource.namespace}/${resource.name}`, { ...object, status: behind });
  const giveBack = withoutRights(world, () => ({
    applySecret: () => refuse('"patch" on secrets "site-bundle"'),
  }));
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  const { message } = world.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
  assert.match(message ?? '', /does not allow "patch" on secrets/);
  await world.run(hourMs);
  assert.equal(world.condition('LinkFresh'), 'False/Expired', 'judged by the clock');
  giveBack();
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.status().active?.version, active?.version, 'the Secret is believed again');
});

test('rule 4: a ConfigMap that may not be read holds promotions, and the link is refreshed', async () => {
  const world = await publishedWorld();
  const version = world.status().active?.version;
  const giveBack = withoutRights(world, () => ({
    readConfigMap: (key) => refuse(`"get" on configmaps "${key.name}"`),
  }));
  await world.until(() => world.condition('Stalled') === 'True/OutputUnreadable', minuteMs);
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
  assert.equal(world.output()?.['version'], version);
  // A Secret that is lost meanwhile comes back: that much is known.
  world.cluster.secrets.delete(`${resource.namespace}/${outputName}`);
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  assert.equal(world.output()?.['version'], version);
  giveBack();
  await world.until(() => world.output()?.['version'] !== version, hourMs);
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('rule 1: where status may not be written the link is kept alive, and an event tells what keeps it', async () => {
  const world = await publishedWorld();
  world.vendor.linkLifetimeMs = hourMs;
  await world.run(hourMs);
  const before = world.status();
  const giveBack = withoutRights(world, () => ({
    writeStatus: () => refuse('"patch" on staticexports/status "site"'),
  }));
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.deepEqual(world.status(), before);
  const told = world.events.filter(({ reason }) => reason === 'StatusWriteFailed');
  assert.ok(told.length > 0);
  assert.equal(new Set(told.map(({ message }) => message)).size, 1, 'repeats are counted into one');
  giveBack();
  await world.until(
    () => world.status().active?.linkExpirationTime !== before.active?.linkExpirationTime,
    hourMs,
  );
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.vendor.jobs.size, 1);
});
