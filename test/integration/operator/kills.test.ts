// Three replicas on a real API server, and the leader killed with -9 repeatedly while exports are requested and links
// near their expiry: the next leader continues, no job is started twice, no link expires. Two kills by default;
// LEADER_KILLS=50 for the full run.

import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { createCluster } from '#operator/kube/cluster.ts';
import { openConnection } from '#operator/kube/transport/connection.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { startEnvironment } from './operator-environment.ts';
import { leads, type OperatorProcess } from './operator-process.ts';
import { requirePublishedLink } from './resource-reader.ts';

const kills = Number(process.env['LEADER_KILLS'] ?? 2);
const names = ['one', 'two', 'three'];
const domainOf = (name: string): string => `${name}.example.com`;
const never = new AbortController().signal;

const start = () => startOne(['--lease-duration=9s', '--request-timeout=5s']);

const {
  world,
  vendor,
  reader,
  staticExport,
  start: startOne,
} = await startEnvironment({
  namespaces: ['kills'],
  stopSignal: 'SIGKILL',
});
const connection = openConnection({ kubeconfig: world.kubeconfig, context: undefined, isInCluster: false });
const transport = createTransport(connection, { clock: systemClock, timeoutMs: 60_000 });
for (const name of names) vendor.script(domainOf(name), { lifetimeMs: 72_000 });
const linkRefresh = { atPercent: 40, minInterval: '1s' };
await world.apply(...names.map((name) => staticExport(name, { linkRefresh })));
let replicas: OperatorProcess[] = await Promise.all([start(), start(), start()]);
for (const name of names) await reader.awaitCondition(name, 'Ready', 'True', 'Published');

after(() => transport.close());

const isLeader = async (replica: OperatorProcess): Promise<boolean> =>
  !replica.child.hasExited() && leads(replica);

const findLeader = () =>
  eventually(
    'a leader',
    async () => {
      const found = await Promise.all(replicas.map(isLeader));
      assert.ok(found.filter((isOne) => isOne).length <= 1, 'two lead at once');
      const leader = replicas[found.indexOf(true)];
      if (leader !== undefined) return leader;
      throw new Error(
        replicas.map(({ child }) => `exited: ${child.hasExited()}\n${child.tail()}`).join('\n'),
      );
    },
    { timeoutMs: 60_000, everyMs: 50 },
  );

/** Checks every published link continuously; returns those found expired. */
function watchLinks(stop: AbortSignal): Promise<readonly string[]> {
  const cluster = createCluster(transport);
  const dead = new Set<string>();
  const look = async (name: string): Promise<void> => {
    const secret = await cluster.readSecret({ namespace: 'kills', name: `${name}-bundle` }, never);
    const bundle = parsePublishedBundle(Buffer.from(secret?.data['bundle.json'] ?? '').toString());
    if (requirePublishedLink(bundle).expiresAt <= Date.now())
      dead.add(`${name} at ${new Date().toISOString()}`);
  };
  const watching = async (): Promise<readonly string[]> => {
    while (!stop.aborted) {
      await Promise.all(names.map(look));
      await sleep(250);
    }
    return [...dead];
  };
  return watching();
}

/** At one moment of the export after the other: as it is requested, with its start, its first poll, its link. */
async function awaitMoment(kill: number, domain: string): Promise<void> {
  const counts = [vendor.starts(domain).length, vendor.polls(domain), vendor.issues(domain)];
  const index = (kill % (counts.length + 1)) - 1;
  const before = counts[index];
  if (before === undefined) return;
  await eventually(
    `moment ${index} of an export`,
    () => {
      const now = [vendor.starts(domain).length, vendor.polls(domain), vendor.issues(domain)][index];
      return (now !== undefined && now > before) || undefined;
    },
    { everyMs: 2 },
  );
}

test(`${kills} leaders killed: each is replaced, no job is started twice, no link expires`, async (context: TestContext) => {
  const stop = new AbortController();
  const links = watchLinks(stop.signal);
  context.after(async () => {
    stop.abort();
    await links.catch(() => undefined);
  });
  const tokens = new Map<string, string[]>(names.map((name) => [name, []]));
  const takeovers: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const leader = await findLeader();
    const name = names[kill % names.length] ?? '';
    vendor.script(domainOf(name), { content: { 'index.html': `<h1>${kill}</h1>` } });
    tokens.get(name)?.push(`kill-${kill}`);
    const moment = awaitMoment(kill + 1, domainOf(name));
    await reader.request(name, `kill-${kill}`);
    await moment;
    const killedAt = performance.now();
    await leader.child.stop('SIGKILL');
    replicas = replicas.filter((replica) => replica !== leader);
    // It may be the one that takes over.
    const starting = start().then((replica) => replicas.push(replica));
    await findLeader();
    takeovers.push(performance.now() - killedAt);
    await starting;
  }
  for (const name of names) {
    const last = tokens.get(name)?.at(-1);
    const lookAtStatus = async () => {
      const { status } = await reader.read('sx', name);
      const isDone = last === undefined || status.lastHandledRequest === last;
      const isSettled = isDone && status.start === undefined && status.job?.verdict !== undefined;
      assert.ok(isSettled, JSON.stringify(status));
      return true;
    };
    // After a kill between the start record and its request, the start is sent again after the timeout and 30 s.
    await eventually(`the last request of ${name} handled`, lookAtStatus, { timeoutMs: 150_000 });
    await reader.awaitCondition(name, 'Ready', 'True', 'Published');
    const jobs = vendor.jobs(domainOf(name)).length;
    const wanted = 1 + (tokens.get(name)?.length ?? 0);
    assert.ok(jobs <= wanted, `${name}: ${jobs} jobs for ${wanted} reasons`);
    assert.equal(new Set(vendor.starts(domainOf(name))).size, jobs);
  }
  for (const name of names) {
    const isRefreshed = async () => {
      const { active } = (await reader.read('sx', name)).status;
      return active.linkIssueTime > active.publishTime || undefined;
    };
    await eventually(`a refreshed link of ${name}`, isRefreshed, { timeoutMs: 90_000 });
  }
  stop.abort();
  assert.deepEqual(await links, []);
  reader.assertRulesKept();
  const sorted = takeovers.toSorted((a, b) => a - b);
  const seconds = (ms = 0): string => (ms / 1000).toFixed(1);
  context.diagnostic(
    `replaced after ${seconds(sorted[Math.floor(sorted.length / 2)])} s (median), ${seconds(sorted.at(-1))} s (longest), lease 9 s`,
  );
});
