import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { cutAfter, cutWhenStalled } from '#platform/runtime/http/stalled-reader.ts';
import { eventually } from '../../../../support/eventually.ts';

const size = 64 * 1024 * 1024;

/** A clock whose waits end when the test says so. */
function clockByHand(): { readonly clock: Clock; readonly waiting: () => number; tick(): Promise<void> } {
  const waiting = new Set<() => void>();
  const after: Clock['after'] = (_ms, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    signal?.addEventListener('abort', () => {
      waiting.delete(resolve);
      reject(signal.reason);
    });
    return promise;
  };
  return {
    clock: { ...systemClock, after },
    waiting: () => waiting.size,
    tick: async () => {
      for (const wake of waiting) {
        waiting.delete(wake);
        wake();
      }
      await systemClock.after(0);
    },
  };
}

async function pair(): Promise<{ readonly sender: Socket; readonly reader: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const reader = connect(address.port, '127.0.0.1').on('error', () => {});
  const [sender]: Socket[] = await once(server, 'connection');
  server.close();
  assert.ok(sender !== undefined);
  sender.on('error', () => {});
  return { sender, reader };
}

async function take(reader: Socket, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) {
    const piece: unknown = reader.read();
    if (Buffer.isBuffer(piece)) left -= piece.length;
    else await once(reader, 'readable');
  }
}

test('who takes a part of one large write between two looks stays; who takes nothing is cut', async () => {
  const { sender, reader } = await pair();
  const { clock, tick } = clockByHand();
  sender.write(Buffer.alloc(size));
  cutWhenStalled(sender, 1, clock);
  // More than the system can have taken ahead, so that it must take more.
  for (const _ of [1, 2]) {
    await take(reader, 20 * 1024 * 1024);
    await tick();
    assert.equal(sender.destroyed, false);
  }
  await eventually('it is cut', () => tick().then(() => (sender.destroyed ? true : undefined)), {
    everyMs: 5,
  });
  reader.destroy();
});

test('who takes all of it is watched no longer, and is again with the next answer', async () => {
  const { sender, reader } = await pair();
  const { clock, tick, waiting } = clockByHand();
  cutWhenStalled(sender, 1, clock);
  assert.equal(waiting(), 0, 'nothing waits to be taken');
  for (const _ of [1, 2]) {
    const taken = new Promise((resolve) => sender.write(Buffer.alloc(size), resolve));
    cutWhenStalled(sender, 1, clock);
    cutWhenStalled(sender, 1, clock);
    assert.equal(waiting(), 1);
    await take(reader, size);
    await taken;
    await tick();
    assert.equal(waiting(), 0);
  }
  assert.equal(sender.destroyed, false);
  sender.destroy();
  reader.destroy();
});

test('nothing waits for a connection that has closed', async () => {
  const { sender, reader } = await pair();
  const { clock, waiting } = clockByHand();
  sender.write(Buffer.alloc(size));
  cutWhenStalled(sender, 1, clock);
  cutAfter(sender, 1, clock);
  assert.equal(waiting(), 2);
  sender.destroy();
  await once(sender, 'close');
  assert.equal(waiting(), 0);
  cutAfter(sender, 1, clock);
  assert.equal(waiting(), 0);
  reader.destroy();
});
