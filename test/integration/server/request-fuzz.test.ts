// Raw requests that servers have read in two ways: a fixed sample of random ones, those of published attacks, half-sent and slow
// ones. A long random run is in test/extended/fuzz.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import {
  type ConformanceSite,
  exchange,
  page,
  serveConformanceSite,
} from './conformance/conformance-site.ts';
import { fuzzRequests, honest } from './fuzzed-requests.ts';
import { sendRaw } from './raw-client.ts';

let site: ConformanceSite;
let pid = 0;
before(async () => {
  site = await serveConformanceSite();
  pid = site.served.child().pid;
});
after(() => site.remove());

test('whatever comes, alone or in a pipeline: answers below 500, whole, and as many as requests at most', () =>
  fuzzRequests(site.port, 400, 20_261_121));

test('smuggled requests are refused with the connection, never answered as the next one', async () => {
  const inner = 'GET /digits.bin HTTP/1.1\r\nHost: a\r\n\r\n';
  const shapes = [
    [
      'CL.TE',
      `POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'TE.CL',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${inner}\r\n0\r\n\r\n`,
    ],
    [
      'TE.TE',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'two lengths',
      `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ],
    ['a length in hexadecimal', `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n${inner}`],
    [
      'space before the colon',
      `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length : ${inner.length}\r\n\r\n${inner}`,
    ],
    ['bare LF', `GET /page HTTP/1.1\nHost: a\nX: y\n\n${inner}`],
    [
      'chunk extension with LF',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${inner}`,
    ],
    ['after a method without rights', `POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n${inner}`],
  ] as const;
  for (const [name, sent] of shapes) {
    const text = await sendRaw(site.port, sent, 'and-leave');
    assert.ok(!text.includes('0123456789'), `${name}: ${text.slice(0, 60)}`);
  }
});

test('half-sent and slow requests delay no other request', async () => {
  const waiting = Array.from({ length: 100 }, (_, at) => {
    const socket = connect(site.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(honest.slice(0, at % honest.length));
    return socket;
  });
  try {
    await Promise.all(waiting.map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)));
    const answer = await exchange(site.port, honest.trimEnd().split('\r\n'));
    assert.equal(answer.status, 200);
    const [slow] = waiting.slice(-1);
    assert.ok(slow !== undefined);
    // A byte at a time, each seen out before the next: late is not wrong.
    const rest = honest.slice(99 % honest.length);
    const parts: string[] = [];
    slow.on('data', (part) => parts.push(part.toString('latin1')));
    for (const byte of rest) await new Promise((resolve) => slow.write(byte, resolve));
    await once(slow, 'close');
    assert.ok(parts.join('').endsWith(page));
  } finally {
    for (const socket of waiting) socket.destroy();
  }
});

test('after all of it: the same process, no open connection left, no fault in its log, the same page', async () => {
  assert.equal(site.served.child().pid, pid);
  assert.equal(site.served.child().hasExited(), false);
  assert.ok((await exchange(site.port, honest.trimEnd().split('\r\n'))).body === page);
  assert.doesNotMatch(site.served.output(), /"level":"(warn|error)"/);
  await eventually('no request is left open', async () => {
    const metrics = await (await fetch(`${site.served.admin}/metrics`)).text();
    const sockets = Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
    return sockets <= 3 ? true : undefined;
  });
});
