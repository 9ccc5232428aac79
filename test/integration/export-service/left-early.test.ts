// Clients that leave in the middle of their own request or of a download. Neither is counted as answered.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { noise } from '../../support/noise.ts';
import { exportPage, key, never, startService } from './running-service.ts';

test('a client that leaves before its answer is not counted as answered', async () => {
  const own = await startService();
  const counted = async (): Promise<string> => (await fetch(`${own.adminUrl}/metrics`)).text();
  // A body that never comes whole holds the answer back for as long as the client likes.
  const send = async (text: string): Promise<Socket> => {
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${text}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`);
    return socket;
  };
  const until = async (line: RegExp): Promise<void> => {
    while (!line.test(await counted()));
  };
  const asking = await send('POST /v1/static-export/jobs HTTP/1.1');
  asking.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
  assert.doesNotMatch(await counted(), /status="499"/);
  asking.resetAndDestroy();
  await until(/endpoint="jobs",status="499"} 1$/m);

  const jobId = await exportPage(own, noise(8 * 1024 ** 2).toString('latin1'));
  const issued = await own.client.issueLink({ jobId, idempotencyKey: 'left' }, never);
  const link = new URL(issued.link.reveal());
  const loading = await send(`GET ${link.pathname}${link.search} HTTP/1.1`);
  loading.write('\r\n');
  await once(loading, 'data');
  loading.destroy();
  await until(/endpoint="archive",status="499"} 1$/m);
  assert.doesNotMatch(await counted(), /endpoint="archive",status="200"/);
  await own.close();
});
