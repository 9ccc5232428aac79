// The reflector against a server in the test's hand, over virtual time: pages, places, silence, lost places,
// back-off, and the audit that trusts no watch for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReflector } from '../../../src/kube/reflector.ts';
import { staticExports } from '../../../src/kube/resource-path.ts';
import type { Call, Transport } from '../../../src/kube/transport.ts';
import { ClusterError } from '../../../src/wire/cluster-error.ts';
import { settle, steppedClock } from '../../support/stepped-clock.ts';

interface Stream {
  readonly query: Readonly<Record<string, string>>;
  send(type: string, object: object): Promise<void>;
  /** As when the server ends it in order, or `with` an error. */
  end(error?: Error): Promise<void>;
}

const object = (name: string, resourceVersion: number, generation = 1) => ({
  metadata: {
    namespace: 'ns',
    name,
    uid: `uid-${name}`,
    resourceVersion: String(resourceVersion),
    generation,
  },
});

class FakeServer implements Transport {
  objects: object[] = [];
  version = 10;
  pageSize = 500;
  lists = 0;
  failList: ClusterError | undefined;
  failWatch: ClusterError | undefined;
  readonly streams: Stream[] = [];
  readonly watchedAt: number[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async call({ query = {} }: Call): Promise<unknown> {
    if (this.failList !== undefined) throw this.failList;
    if (query['continue'] === undefined) this.lists += 1;
    const from = Number(query['continue'] ?? 0);
    const end = from + this.pageSize;
    const metadata = {
      resourceVersion: String(this.version),
      ...(end < this.objects.length && { continue: String(end) }),
    };
    return { metadata, items: this.objects.slice(from, end) };
  }

  async stream({ query = {} }: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.watchedAt.push(this.#now());
    if (this.failWatch !== undefined) throw this.failWatch;
    const chunks: (Uint8Array | Error | undefined)[] = [];
    let wake = (): void => {};
    const push = async (chunk: Uint8Array | Error | undefined): Promise<void> => {
      chunks.push(chunk);
      wake();
      await settle();
    };
    this.streams.push({
      query,
      send: (type, one) => push(Buffer.from(`${JSON.stringify({ type, object: one })}\n`)),
      end: (error) => push(error),
    });
    signal.addEventListener('abort', () => {
      chunks.push(new ClusterError('Aborted', 'stopped'));
      wake();
    });
    return (async function* () {
      for (;;) {
        while (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const chunk = chunks.shift();
        if (chunk === undefined) return;
        if (chunk instanceof Error) throw chunk;
        yield chunk;
      }
    })();
  }

  async close(): Promise<void> {}
}

function start(prepare: (server: FakeServer) => void = () => {}) {
  const clock = steppedClock();
  const server = new FakeServer(clock.monotonic);
  prepare(server);
  const wakes: string[] = [];
  const troubles: (string | undefined)[] = [];
  const stop = new AbortController();
  const reflector = createReflector({
    transport: server,
    resource: staticExports,
    namespace: 'ns',
    keep: (object) => object,
    clock,
    random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 },
    wake: (key) => wakes.push(key),
    report: (trouble) => troubles.push(trouble?.code),
  });
  const running = reflector.run(stop.signal);
  const last = (): Stream => server.streams.at(-1) ?? assert.fail('no watch is open');
  return { clock, server, reflector, wakes, troubles, stop, running, last };
}

const take = (wakes: string[]): readonly string[] => wakes.splice(0);

test('lists in pages, wakes all, and watches from the place of the list with bookmarks', async () => {
  const { server, reflector, wakes, last } = start((one) => {
    one.objects = [object('a', 1), object('b', 2), object('c', 3)];
    one.pageSize = 2;
  });
  assert.equal(reflector.isSynced(), false);
  await settle();
  assert.deepEqual(take(wakes), ['ns/a', 'ns/b', 'ns/c']);
  assert.equal(reflector.isSynced(), true);
  assert.equal(server.lists, 1);
  assert.deepEqual(last().query, {
    watch: '1',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '450',
    resourceVersion: '10',
  });
});

test('wakes for what comes, changes and goes, not for a status', async () => {
  const { reflector, wakes, last } = start((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(wakes);
  await last().send('ADDED', object('b', 11));
  await last().send('MODIFIED', object('a', 12, 1));
  assert.deepEqual(take(wakes), ['ns/b']);
  await last().send('MODIFIED', object('a', 13, 2));
  await last().send('DELETED', object('b', 14));
  assert.deepEqual(take(wakes), ['ns/a', 'ns/b']);
  assert.equal(reflector.cache.size, 1);
});

test('a watch that ends in order goes on from the last place, without a list', async () => {
  const { clock, server, last } = start();
  await settle();
  await last().send('BOOKMARK', object('', 77));
  await clock.pass(5_000);
  await last().end();
  await clock.pass(100);
  assert.equal(server.streams.length, 2);
  assert.equal(last().query['resourceVersion'], '77');
  assert.equal(server.lists, 1);
});

test('a silent watch is dropped after 70 s, and bookmarks keep one alive', async () => {
  const { clock, server, last } = start();
  await settle();
  for (let minute = 0; minute < 3; minute += 1) {
    await clock.pass(60_000);
    await last().send('BOOKMARK', object('', 20 + minute));
  }
  assert.equal(server.streams.length, 1);
  await clock.pass(69_999);
  assert.equal(server.streams.length, 1);
  await clock.pass(2_000);
  assert.equal(server.streams.length, 2);
  assert.equal(last().query['resourceVersion'], '22');
});

test('a lost place, as an answer or as an event, lists anew and wakes only what changed', async () => {
  for (const lose of ['answer', 'event'] as const) {
    const { clock, server, wakes, last } = start((one) => {
      one.objects = [object('a', 1), object('b', 2)];
    });
    await settle();
    take(wakes);
    server.objects = [object('a', 1), object('c', 30)];
    server.version = 40;
    await clock.pass(5_000);
    if (lose === 'answer') {
      server.failWatch = new ClusterError('Gone', 'too old');
      await last().end();
      await clock.pass(100);
      server.failWatch = undefined;
    } else await last().send('ERROR', { kind: 'Status', code: 410 });
    await clock.pass(60_000);
    assert.deepEqual([...take(wakes)].sort(), ['ns/b', 'ns/c'], lose);
    assert.equal(server.lists, 2, lose);
    assert.equal(last().query['resourceVersion'], '40', lose);
  }
});

test('a broken connection is opened again from the same place, later each time', async () => {
  const { clock, server, troubles, last } = start();
  await settle();
  server.failWatch = new ClusterError('Unavailable', 'down');
  await last().end(new ClusterError('Unavailable', 'reset'));
  server.watchedAt.length = 0;
  await clock.pass(5 * 60_000);
  const gaps = server.watchedAt.slice(1).map((at, index) => at - (server.watchedAt[index] ?? 0));
  assert.deepEqual(gaps.slice(0, 3), [1_200, 2_400, 4_800]);
  assert.ok(Math.max(...gaps) <= 30_000);
  assert.ok(gaps.length < 25);
  server.failWatch = undefined;
  await clock.pass(30_000);
  assert.equal(troubles.at(-1), undefined);
  assert.ok(troubles.includes('Unavailable'));
});

test('a server that closes every watch at once is not hammered', async () => {
  const { clock, server } = start();
  await settle();
  let ended = 0;
  for (let second = 0; second < 60; second += 1) {
    while (ended < server.streams.length) {
      await server.streams[ended]?.end();
      ended += 1;
    }
    await clock.pass(1_000);
  }
  assert.ok(server.streams.length < 10, `${server.streams.length} watches in a minute`);
});

test('it is not synced before a list succeeded, and says once why', async () => {
  const { clock, server, reflector, troubles } = start((one) => {
    one.failList = new ClusterError('Forbidden', 'may not list');
  });
  await clock.pass(10_000);
  assert.equal(reflector.isSynced(), false);
  assert.equal(reflector.silenceMs(), Number.POSITIVE_INFINITY);
  assert.ok(troubles.every((code) => code === 'Forbidden'));
  server.failList = undefined;
  await clock.pass(30_000);
  assert.equal(reflector.isSynced(), true);
});

/** Lets time pass with a bookmark a minute, as a live server sends them. */
async function live({ clock, last }: ReturnType<typeof start>, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await clock.pass(60_000);
    await last().send('BOOKMARK', object('', 50));
  }
}

test('what no watch brought is found by an audit, counted, and woken', async () => {
  const world = start((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  world.server.objects = [object('a', 9, 2)];
  await live(world, 22);
  assert.equal(world.reflector.missedChanges(), 1);
  assert.deepEqual(take(world.wakes), ['ns/a']);
});

test('watches that end in order every few minutes do not put the audit off', async () => {
  const world = start((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  world.server.objects = [object('a', 9, 2)];
  for (let turn = 0; turn < 5; turn += 1) {
    await live(world, 5);
    await world.last().end();
    await world.clock.pass(1_000);
  }
  assert.equal(world.reflector.missedChanges(), 1);
});

test('an audit does not count what the watch was about to bring', async () => {
  const world = start((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  // The audit after 20 minutes sees the change first; its event follows within the grace.
  await live(world, 19);
  world.server.objects = [object('a', 9, 2)];
  await world.clock.pass(60_500);
  await world.last().send('MODIFIED', object('a', 9, 2));
  await live(world, 2);
  assert.equal(world.server.lists, 2);
  assert.equal(world.reflector.missedChanges(), 0);
  assert.equal(world.server.streams.length, 1);
});

test('it ends at once, wherever it is', async () => {
  for (const prepare of [
    () => {},
    (one: FakeServer) => {
      one.failList = new ClusterError('Unavailable', 'down');
    },
  ]) {
    const { clock, stop, running } = start(prepare);
    await clock.pass(3_000);
    stop.abort();
    await running;
    assert.equal(clock.waiting(), 0);
  }
});
