// The reflector against a scripted server, over virtual time: pages, resourceVersions, silence, 410, and back-off.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { settle } from '../../../../support/stepped-clock.ts';
import { type FakeServer, object, startReflector, take } from '../fake-server.ts';

const deleting = (one: ReturnType<typeof object>) => ({
  ...one,
  metadata: { ...one.metadata, deletionTimestamp: '2026-11-21T00:00:00Z' },
});

test('lists in pages, wakes every key, and watches from the resourceVersion of the list with bookmarks', async () => {
  const { server, reflector, wakes, last } = startReflector((one) => {
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

test('no key wakes before a list is complete, because edits are seen after it; a list that broke off wakes none', async () => {
  const rest = Promise.withResolvers<void>();
  const { clock, server, reflector, wakes, found } = startReflector((one) => {
    one.objects = [object('a', 1), object('b', 2), object('c', 3)];
    one.pageSize = 2;
    one.nextPages = rest.promise;
  });
  await settle();
  assert.deepEqual(take(wakes), []);
  assert.equal(reflector.isSynced(), false);
  rest.reject(new ClusterError('Unavailable', 'broken off'));
  await settle();
  assert.deepEqual(take(wakes), []);
  server.objects = [object('a', 1), object('c', 3), object('d', 4)];
  server.nextPages = Promise.resolve();
  await clock.pass(1_000);
  assert.deepEqual(take(wakes), ['ns/a', 'ns/c', 'ns/d']);
  assert.deepEqual(take(found), ['listed', 'listed', 'listed']);
  assert.equal(reflector.isSynced(), true);
});

test('a list whose pages are forgotten on the way is read in one piece', async () => {
  const { server, reflector, wakes, troubles, last } = startReflector((one) => {
    one.objects = [object('a', 1), object('b', 2), object('c', 3)];
    one.pageSize = 2;
    one.hasShortMemory = true;
  });
  await settle();
  assert.equal(reflector.isSynced(), true);
  assert.deepEqual(take(wakes), ['ns/a', 'ns/b', 'ns/c']);
  assert.equal(server.lists, 2);
  assert.equal(last().query['resourceVersion'], '10');
  assert.deepEqual(troubles, [undefined]);
});

test('wakes for what comes, changes and goes, not for a status', async () => {
  const { reflector, wakes, last } = startReflector((one) => {
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

test('findings of the first list, later changes, and deletions are told apart', async () => {
  const { clock, server, wakes, found, last } = startReflector((one) => {
    one.objects = ['a', 'b', 'c', 'd'].map((name, index) => object(name, index + 1));
  });
  const told = () => take(wakes).map((key, index) => `${key} ${found.splice(0, 1)[0] ?? index}`);
  await settle();
  assert.deepEqual(told(), ['ns/a listed', 'ns/b listed', 'ns/c listed', 'ns/d listed']);
  await last().send('ADDED', object('e', 11));
  await last().send('MODIFIED', deleting(object('b', 12)));
  await last().send('DELETED', object('c', 13));
  assert.deepEqual(told(), ['ns/e changed', 'ns/b gone', 'ns/c gone']);
  // The same, found by a list after a gap.
  server.objects = [object('a', 30, 2), deleting(object('d', 31)), object('f', 32)];
  await last().send('ERROR', { kind: 'Status', code: 410 });
  await clock.pass(10_000);
  assert.deepEqual(told(), ['ns/a changed', 'ns/d gone', 'ns/f changed', 'ns/b gone', 'ns/e gone']);
});

test('a watch that ends in order continues from its last resourceVersion, without a list', async () => {
  const { clock, server, last } = startReflector();
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
  const { clock, server, last } = startReflector();
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

test('an expired resourceVersion, as an answer or as an event, leads to a list that wakes only changed keys', async () => {
  for (const lose of ['answer', 'event'] as const) {
    const { clock, server, wakes, last } = startReflector((one) => {
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

test('a broken connection is opened again from the same resourceVersion, later each time', async () => {
  const { clock, server, troubles, last } = startReflector();
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
  assert.deepEqual(troubles, [undefined, 'Unavailable', undefined]);
});

for (const [fraction, seconds, gaps] of [
  [0, '300', [800, 1_600, 3_200]],
  [0.999, '600', [1_599, 3_198, 6_396]],
] as const) {
  test(`chance ${fraction} ends a watch after ${seconds} s and waits from ${gaps[0]} ms after a failure`, async () => {
    const { clock, server, last } = startReflector(
      () => {},
      () => fraction,
    );
    await settle();
    assert.equal(last().query['timeoutSeconds'], seconds);
    server.failWatch = new ClusterError('Unavailable', 'down');
    await last().end(new ClusterError('Unavailable', 'reset'));
    server.watchedAt.length = 0;
    await clock.pass(20_000);
    const waits = server.watchedAt.slice(1).map((at, index) => at - (server.watchedAt[index] ?? 0));
    assert.deepEqual(waits.slice(0, 3).map(Math.floor), gaps);
  });
}

test('after five failed watches in a row a list follows', async () => {
  const { clock, server, last } = startReflector();
  await settle();
  server.failWatch = new ClusterError('Unavailable', 'no watch');
  await last().end(new ClusterError('Unavailable', 'broken'));
  const failed = () => server.watchedAt.length;
  for (let waits = 0; failed() < 5; waits += 1) {
    assert.ok(waits < 100, 'it gave up');
    assert.equal(server.lists, 1);
    await clock.pass(1_000);
  }
  // Its wait is 9.6 s.
  await clock.pass(15_000);
  assert.equal(server.lists, 2);
});

test('a server that closes every watch at once is not hammered', async () => {
  const { clock, server } = startReflector();
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
  const { clock, server, reflector, troubles } = startReflector((one) => {
    one.failList = new ClusterError('Forbidden', 'may not list');
  });
  await clock.pass(10_000);
  assert.equal(reflector.isSynced(), false);
  assert.equal(reflector.silenceMs(), Number.POSITIVE_INFINITY);
  assert.deepEqual(troubles, ['Forbidden']);
  assert.equal(reflector.trouble()?.message, 'may not list');
  assert.equal(reflector.isRefused(), true);
  server.failList = undefined;
  await clock.pass(30_000);
  assert.equal(reflector.isSynced(), true);
  assert.equal(reflector.isRefused(), false);
  assert.deepEqual(troubles, ['Forbidden', undefined]);
});

test('a server that says when to come again is not asked before', async () => {
  const { clock, server } = startReflector((one) => {
    one.failWatch = new ClusterError('TooManyRequests', 'fewer', { retryAfterMs: 30_000 });
  });
  const startedAt = clock.monotonic();
  await clock.pass(100_000);
  assert.deepEqual(
    server.watchedAt.map((at) => at - startedAt),
    [0, 33_000, 66_000, 99_000],
  );
});

test('it ends at once, wherever it is', async () => {
  for (const prepare of [
    () => {},
    (one: FakeServer) => {
      one.failList = new ClusterError('Unavailable', 'down');
    },
  ]) {
    const { clock, stop, running } = startReflector(prepare);
    await clock.pass(3_000);
    stop.abort();
    await running;
    assert.equal(clock.waiting(), 0);
  }
});

test('a watch that brings unreadable events is reported once, however often it is opened', async () => {
  const { clock, server, troubles, last } = startReflector();
  await settle();
  for (let turn = 0; turn < 12; turn += 1) {
    await last().send('MODIFIED', { metadata: { name: 'nobody' } });
    await clock.pass(31_000);
  }
  assert.ok(server.streams.length > 12);
  assert.deepEqual(troubles, [undefined, 'Unavailable']);
});

test('a watch request without an answer is reported after 70 s', async () => {
  const { clock, reflector, troubles } = startReflector((one) => {
    one.stream = (_call, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new ClusterError('Aborted', 'stopped')));
      });
  });
  await clock.pass(69_999);
  assert.deepEqual(troubles, []);
  await clock.pass(1);
  assert.deepEqual(troubles, ['Unavailable']);
  assert.match(reflector.trouble()?.message ?? '', /silent/);
});
