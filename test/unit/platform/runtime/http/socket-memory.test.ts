// Where the bytes in sockets are read, and how the kernel's lists are understood.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { addQueues, readSocketQueues, socketMemoryFiles } from '#platform/runtime/http/socket-memory.ts';
import { eventually } from '../../../../support/eventually.ts';

test('under cgroup v2 the line of sockets in the memory statistics is read, of the own group', () => {
  const [place, ...more] = socketMemoryFiles('0::/kubepods/pod1\n');
  assert.equal(place?.file, '/sys/fs/cgroup/kubepods/pod1/memory.stat');
  assert.equal(place.read('anon 5\nsock 4096\nshmem 0\n'), 4096);
  assert.equal(place.read('anon 5\n'), undefined);
  assert.deepEqual(more, []);
});

test('under cgroup v1 the count beside the limit is read, at the path that is named or at the root', () => {
  const places = socketMemoryFiles('4:cpu,memory:/kubepods/pod1\n0::/\n');
  assert.deepEqual(
    places.map(({ file }) => file),
    ['/kubepods/pod1/', '/'].map((path) => `/sys/fs/cgroup/memory${path}memory.kmem.tcp.usage_in_bytes`),
  );
  assert.equal(places[0]?.read('8192\n'), 8192);
  assert.equal(places[0]?.read(''), undefined);
});

test('what is queued both ways is found by the other side, of one port only', () => {
  const queues = new Map<string, number>();
  const line = (local: string, remote: string, tx: string, rx: string): string =>
    `   1: ${local} ${remote} 01 ${tx}:${rx} 00:00000000 00000000     0        0 1557 1\n`;
  addQueues(
    queues,
    line('0100007F:1F90', '0200007F:9CF8', '00000010', '00000001') +
      line('0100007F:1F90', '0200007F:9CF9', '00000000', '00000000') +
      line('0100007F:1F91', '0200007F:1F90', '00000010', '00000000') +
      line(
        `${'0'.repeat(16)}FFFF00000100007F:1F90`,
        `${'0'.repeat(16)}FFFF00000200007F:0001`,
        '00000002',
        '00000000',
      ),
    8080,
  );
  assert.deepEqual(
    [...queues],
    [
      ['127.0.0.2 40184', 17],
      ['::ffff:127.0.0.2 1', 2],
    ],
  );
});

test('a reader that takes nothing is in the list with what it left, by the address that Node gives', {
  skip: process.platform !== 'linux' && 'reads /proc/net',
}, async () => {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const reader = connect(port, '127.0.0.1').pause();
  const [socket]: Socket[] = await once(server, 'connection');
  assert.ok(socket);
  socket.write(Buffer.alloc(16 * 1024 * 1024));
  const key = `${socket.remoteAddress} ${socket.remotePort}`;
  const bytes = await eventually('it is in the list', async () => (await readSocketQueues(port)).get(key));
  assert.ok(bytes > 0 && bytes < 16 * 1024 * 1024, `${bytes}`);
  reader.destroy();
  socket.destroy();
  server.close();
});
