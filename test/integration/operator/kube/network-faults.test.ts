// The reflector and the transport on real TLS connections, with faults of the network and of the server. After each fault
// the cache equals the server, and no key is woken twice for one change.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { sendJson } from '../../../support/scripted-api-server.ts';
import { arrives, type ScriptedCluster, startScriptedCluster, staticExport } from './scripted-cluster.ts';

let world: ScriptedCluster;
const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

const watches = () => world.api.watches;
const synced = () => arrives('a first watch', () => world.reflector.isSynced() && watches().length > 0);
const woken = (...keys: readonly string[]) =>
  arrives(`${keys} woken`, () => keys.every((key) => world.wakes.includes(key)));
const nextWatch = (than: number, stepMs = 1_000) =>
  world.passUntil('another watch', stepMs, () => (watches().length > than ? true : undefined));

beforeEach(async () => {
  world = await startScriptedCluster((api) => {
    for (const name of ['a', 'b']) api.put(staticExport(name));
  });
});
afterEach(async () => {
  await world.close();
  assert.deepEqual(unhandled, []);
});

test('a watch reset in the middle of a line continues from its resourceVersion: no event lost, no key woken twice', async () => {
  await synced();
  world.api.put(staticExport('c'));
  await woken('ns/c');
  watches()[0]?.write('{"type":"ADDED","object":{"metadata":{"na');
  world.path.reset();
  world.api.put(staticExport('d'));
  await nextWatch(1);
  await woken('ns/d');
  assert.deepEqual(world.wakes, ['ns/a', 'ns/b', 'ns/c', 'ns/d']);
  assert.equal(world.api.requests.filter(({ kind }) => kind === 'list').length, 1);
});

for (const [name, harm] of [
  ['a path that goes dark', () => world.path.goDark()],
  ['a connection whose other end is gone without a word', () => world.path.halfOpen()],
] as const) {
  test(`${name} is noticed after 70 s of silence, and the next connection is a new one`, async () => {
    await synced();
    // What comes over the watch has come: its answer is not still on the way when the path goes.
    world.api.put(staticExport('before'));
    await woken('ns/before');
    harm();
    await world.clock.pass(69_000);
    assert.equal(world.api.requests.filter(({ kind }) => kind === 'watch').length, 1);
    assert.deepEqual(world.troubles, []);
    world.path.restore();
    await nextWatch(1);
    world.api.put(staticExport('c'));
    await woken('ns/c');
    assert.ok(world.api.connections() <= 3, `${world.api.connections()} connections`);
    assert.ok(world.reflector.silenceMs() < 20_000);
  });
}

test('a call over a path that drops all packets ends at its deadline, and the next call uses another connection', async () => {
  await synced();
  world.path.goDark();
  const address = { resource: { group: '', version: 'v1', plural: 'x', kind: 'X' }, name: 'x' };
  const ask = () =>
    world.transport.call({ verb: 'get', method: 'GET', address }, new AbortController().signal).then(
      () => 'answered',
      (error: { readonly code: string }) => error.code,
    );
  const first = ask();
  await world.passUntil('its deadline', 5_000, () => (world.clock.waiting() >= 0 ? true : undefined));
  await world.clock.pass(15_000);
  assert.equal(await first, 'Unavailable');
  world.path.restore();
  assert.equal(await ask(), 'NotFound');
});

test('an expired resourceVersion leads to a list, whether an answer or an event reports it', async () => {
  await synced();
  // A watch that ends within its first second is a failure of its own.
  await world.clock.pass(2_000);
  watches()[0]?.end();
  world.api.remove('a');
  world.api.put(staticExport('c'));
  world.api.compact();
  await nextWatch(1);
  await woken('ns/a', 'ns/c');
  assert.deepEqual(world.reflector.cache.keys(), ['ns/b', 'ns/c']);
  await world.clock.pass(40_000);
  const before = watches().length;
  watches().at(-1)?.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
  world.api.put(staticExport('d'));
  await nextWatch(before);
  await woken('ns/d');
  // Ordinary after a long sleep, and not reported.
  assert.deepEqual(world.troubles, []);
});

test('a list that fails with 500 backs off, is reported once, and succeeds in the end', async () => {
  await synced();
  let refused = 0;
  world.api.fault = ({ kind }, response) => {
    if (kind === 'other' || refused >= 4) return false;
    refused += 1;
    sendJson(response, 500, { kind: 'Status', code: 500, message: 'etcdserver: no leader' });
    return true;
  };
  world.api.compact();
  watches()[0]?.end();
  await nextWatch(1, 5_000);
  assert.equal(refused, 4);
  assert.deepEqual([...new Set(world.troubles)], ['Unavailable', undefined]);
});

test('a 429 is retried after its Retry-After, on the same connection', async () => {
  await synced();
  const connections = world.api.connections();
  const asked: number[] = [];
  world.api.fault = ({ kind }, response) => {
    if (kind !== 'watch' || asked.length >= 2) return false;
    asked.push(world.clock.monotonic());
    sendJson(response, 429, { kind: 'Status', code: 429 }, { 'retry-after': '7' });
    return true;
  };
  watches()[0]?.end();
  await nextWatch(1);
  const [first = 0, second = 0] = asked;
  assert.ok(second - first >= 7_000 && second - first < 12_000, `${second - first} ms`);
  assert.ok(world.api.connections() - connections <= 1);
});

test('garbage in the stream ends that watch only', async () => {
  await synced();
  for (const garbage of ['<html>502 Bad Gateway</html>\n', '{"type":"ADDED"}\n', '[]\n', '\u0000\n']) {
    const before = watches().length;
    watches().at(-1)?.write(garbage);
    await nextWatch(before);
  }
  world.api.put(staticExport('c'));
  await woken('ns/c');
  assert.deepEqual(world.wakes, ['ns/a', 'ns/b', 'ns/c']);
});

test('a watch that closes in order is opened again from the last bookmark, without a report', async () => {
  await synced();
  watches()[0]?.bookmark(4711);
  await world.clock.pass(2_000);
  watches()[0]?.end();
  await nextWatch(1);
  assert.equal(watches()[1]?.from, 4711);
  assert.deepEqual(world.troubles, []);
});

test('every watch asks for bookmarks and for an end after 300 to 600 s', async () => {
  await synced();
  const query = watches()[0]?.query;
  assert.equal(query?.get('allowWatchBookmarks'), 'true');
  const seconds = Number(query?.get('timeoutSeconds'));
  assert.ok(seconds >= 300 && seconds <= 600, `${seconds} s`);
});

test('an hour of bookmarks is one watch with a few audits and no outage', async () => {
  await synced();
  for (let minute = 0; minute < 60; minute += 1) {
    await world.clock.pass(60_000);
    const heard = world.reflector.silenceMs();
    watches()[0]?.bookmark(world.api.version());
    if (heard > 0) await arrives('the bookmark', () => world.reflector.silenceMs() < heard);
  }
  assert.equal(watches().length, 1);
  const lists = world.api.requests.filter(({ kind }) => kind === 'list').length;
  assert.ok(lists >= 3 && lists <= 6, `${lists} lists`);
  assert.equal(world.reflector.missedChanges(), 0);
  assert.deepEqual(world.troubles, []);
});

test('an object deleted and created again between two watches counts as another object', async () => {
  await synced();
  world.path.reset();
  world.api.remove('a');
  world.api.put(staticExport('a', 1, 'uid-second'));
  world.api.compact();
  await nextWatch(1);
  await arrives('a woken again', () => world.wakes.filter((key) => key === 'ns/a').length === 2);
  assert.equal(world.reflector.cache.get('ns/a')?.metadata.uid, 'uid-second');
  assert.deepEqual(world.wakes, ['ns/a', 'ns/b', 'ns/a']);
});

test('a reflector stopped during a list opens no watch and holds no connection', async () => {
  await world.close();
  let held = 0;
  world = await startScriptedCluster((api) => {
    api.fault = ({ kind }) => {
      if (kind === 'list') held += 1;
      return true;
    };
  });
  await arrives('a list under way', () => held > 0);
  await world.stop();
  await world.transport.close();
  await world.clock.pass(600_000);
  assert.deepEqual(
    world.api.requests.map(({ kind }) => kind),
    ['list'],
  );
  await arrives('no open connection', () => world.path.open() === 0);
});

test('5,000 objects are listed in pages, on no more connections than a few calls', async () => {
  await world.close();
  world = await startScriptedCluster((api) => {
    for (let index = 0; index < 5_000; index += 1) api.put(staticExport(`x${index}`));
  });
  await synced();
  assert.equal(world.wakes.length, 5_000);
  assert.equal(new Set(world.wakes).size, 5_000);
  assert.equal(world.api.requests.filter(({ kind }) => kind === 'list').length, 10);
  assert.ok(world.api.connections() <= 3);
});

test('after 30,000 events the cache equals the server', async () => {
  await synced();
  for (let round = 1; round <= 10; round += 1) {
    for (let index = 0; index < 3_000; index += 1) world.api.put(staticExport(`s${index}`, round));
  }
  world.api.remove('s7');
  const { cache } = world.reflector;
  const isLast = () => cache.get('ns/s2999')?.metadata.generation === 10 && cache.get('ns/s7') === undefined;
  await arrives('the last change', isLast);
  assert.equal(cache.size, 2 + 2_999);
  assert.equal(watches().length, 1);
});

test('300 sequential calls and a watch use at most four TLS connections; 300 simultaneous calls do not open hundreds', async () => {
  await synced();
  const address = { resource: { group: '', version: 'v1', plural: 'x', kind: 'X' }, name: 'x' };
  const ask = () =>
    world.transport
      .call({ verb: 'get', method: 'GET', address }, new AbortController().signal)
      .catch(() => {});
  for (let call = 0; call < 300; call += 1) await ask();
  assert.ok(world.api.requests.length >= 300);
  assert.ok(world.api.connections() <= 4, `${world.api.connections()} connections`);
  await Promise.all(Array.from({ length: 300 }, ask));
  assert.ok(world.api.requests.length >= 600);
  assert.ok(world.api.connections() <= 17, `${world.api.connections()} connections`);
});
