// Connections have no time limit of their own, and last as long as their TLS material. The test controls undici's timers,
// because they do not follow the project's clock.

import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { Agent } from 'undici';
import { createPool } from '#operator/kube/transport/connection-pool.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { steppedClock } from '../../../../support/stepped-clock.ts';
import { get, json, never, startLoopbackServer } from '../loopback-server.ts';

const server = await startLoopbackServer();
after(() => server.close());

test('a call that was given five minutes gets an answer that takes four', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const begin = globalThis.setTimeout;
  // Node's mocked timers do nothing when they are refreshed; undici makes new ones where they cannot be.
  mock.method(globalThis, 'setTimeout', (callback: () => void, ms: number) =>
    Object.assign(begin(callback, ms), { refresh: undefined }),
  );
  const clock = steppedClock();
  const asked = Promise.withResolvers<() => void>();
  server.handle = (_request, response) => asked.resolve(() => json(response, 200, { late: true }));
  const transport = createTransport(server.connection(), { clock, timeoutMs: 300_000 });
  const call = transport.call(get, never);
  const answer = await asked.promise;
  for (let second = 0; second < 240; second += 1) mock.timers.tick(1_000);
  answer();
  assert.deepEqual(await call, { late: true });
  await transport.close();
  mock.restoreAll();
  mock.timers.reset();
});

test('connections are kept while what they are made of is the same, and let go when it was rotated', async () => {
  const pool = createPool(server.connection(), null);
  const first = pool.dispatcher({ ca: 'one' });
  assert.equal(pool.dispatcher({ ca: 'one' }), first);
  const second = pool.dispatcher({ ca: 'two' });
  assert.notEqual(second, first);
  const isOver = (one: unknown): boolean => one instanceof Agent && one.closed;
  assert.deepEqual([isOver(first), isOver(second)], [true, false]);
  await pool.close();
});
