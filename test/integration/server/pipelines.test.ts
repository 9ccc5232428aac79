// Many requests at once on one connection, at the door and behind it: answered one after another, up to a number, and
// nothing is read or held for those whose turn has not come. What is counted is what was sent.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { mostUnanswered } from '#platform/runtime/http/answer-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { makeArchive } from './archive.ts';
import { ask, readAnswer, sendRaw } from './raw-client.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const large = Buffer.alloc(5 * 1024 * 1024, 'large ');
const medium = 'medium '.repeat(60_000);
let served: ServedSite;

before(async () => {
  served = await prepareSite();
  const archive = join(served.folder, 'export.tar.gz');
  const content = { 'index.html': 'home', 'page.html': 'page', 'medium.bin': medium, 'large.bin': large };
  await writeFile(archive, await makeArchive(content));
  await served.start('--bundle-url', `file://${archive}`, '--version', 'v1');
  await served.until('the site is served', ({ active }) => active !== null);
});
after(() => served.remove());

const request = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

/** As Prometheus would read it. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${served.admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
const answered = (): Promise<number> => metric('bundle_server_requests_total\\{code="2xx",status="200"\\}');
const sentBytes = (): Promise<number> => metric('bundle_server_response_body_bytes_total');

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${served.child().pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Requests that nobody reads the answers of. */
function pile(bytes: string): Socket {
  const socket = connect(served.port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

const shapes: readonly (readonly [string, string])[] = [
  ['in one piece', ''],
  ['behind one that the door let through', request('/', 'Accept: x\r\nTE: x\r\n')],
];

for (const [name, first] of shapes) {
  test(`thousands of requests ${name} for what is large take the memory of one answer`, {
    skip: process.platform !== 'linux' && 'reads /proc',
  }, async () => {
    const [memory, replies, bytes] = [await residentMiB(), await answered(), await sentBytes()];
    const target = { large: request('/large.bin'), medium: request('/medium.bin') };
    const piles = [0, 1, 2, 3].flatMap(() => [
      pile(first + target.large.repeat(2000)),
      pile(first + target.medium.repeat(2000)),
    ]);
    try {
      // Time for whatever would be read ahead.
      for (let other = 0; other < 100; other += 1) {
        assert.equal((await ask(served.port, '/page')).body, 'page');
        const grown = (await residentMiB()) - memory;
        assert.ok(grown < 100, `${Math.round(grown)} MiB more for 8 connections`);
      }
    } finally {
      for (const socket of piles) socket.destroy();
    }
    await eventually('all are gone', async () => {
      assert.equal((await ask(served.port, '/page')).body, 'page');
      const grown = (await answered()) - replies;
      return grown >= 108 ? true : undefined;
    });
    assert.ok(
      (await answered()) - replies < 100 + 8 * 2 * mostUnanswered,
      'what was never sent is not counted',
    );
    assert.ok((await sentBytes()) - bytes < 8 * 16 * 1024 * 1024, 'nor are its bytes');
  });
}

test('a client that keeps sending requests and never reads is no longer read', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async () => {
  const memory = await residentMiB();
  const many = request('/large.bin').repeat(2000);
  const asking = connect(served.port, '127.0.0.1').pause();
  asking.on('error', () => {});
  const ask2000 = (): void => {
    while (asking.write(many));
  };
  asking.on('drain', ask2000);
  ask2000();
  try {
    let taken = 0;
    let still = 0;
    await eventually('nothing more of it is taken', async () => {
      assert.equal((await ask(served.port, '/page')).body, 'page');
      const now = asking.bytesWritten - asking.writableLength;
      still = now === taken ? still + 1 : 0;
      taken = now;
      return still > 10 ? true : undefined;
    });
    const grown = (await residentMiB()) - memory;
    assert.ok(grown < 100, `${Math.round(grown)} MiB more`);
  } finally {
    asking.destroy();
  }
});

test('requests beyond the number are not answered, and the last answer says so', async () => {
  const bodies = new Map([
    ['/medium.bin', medium],
    ['/', 'home'],
    ['/page', 'page'],
  ]);
  const targets = Array.from({ length: 100 }, (_, at) =>
    at % 3 === 0 ? '/medium.bin' : at % 3 === 1 ? '/' : '/page',
  );
  const text = await sendRaw(served.port, targets.map((target) => request(target)).join(''));
  const answers = text.split(/(?=HTTP\/1\.1 )/).map(readAnswer);
  assert.ok(answers.length >= mostUnanswered && answers.length < 100, `${answers.length} answers`);
  for (const [at, { status, body }] of answers.entries()) {
    const wanted = bodies.get(targets[at] ?? '');
    assert.equal(status, 200);
    assert.ok(body === wanted, `answer ${at} is another's`);
  }
  const closing = answers.map(({ head }) => /\r\nConnection: close/.test(head));
  assert.deepEqual(closing, [...answers.slice(1).map(() => false), true]);
});

test('as many requests as wait are answered, and the connection stays', async () => {
  const some = Array.from({ length: mostUnanswered }, () => request('/medium.bin')).join('');
  const socket = connect(served.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.write(some);
  const count = (): number => text.split('HTTP/1.1 200 OK').length - 1;
  await eventually('all are answered', () => (count() === mostUnanswered ? true : undefined));
  assert.doesNotMatch(text, /Connection: close/);
  socket.write(request('/page', 'Connection: close\r\n'));
  await new Promise((resolve) => socket.once('close', resolve));
  assert.ok(text.endsWith('\r\n\r\npage'));
});

test('what was refused before it could be read is counted like every other answer', async () => {
  const statuses = [400, 405, 408, 417, 431];
  const counts = (): Promise<readonly number[]> =>
    Promise.all(
      statuses.map((status) => metric(`bundle_server_requests_total\\{code="4xx",status="${status}"\\}`)),
    );
  const earlier = await counts();
  await sendRaw(served.port, 'NONSENSE\r\n\r\n');
  await sendRaw(served.port, request('/').replace('Host: a', 'Host: a\r\nHost: b'));
  await sendRaw(served.port, 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
  await sendRaw(served.port, request('/', 'Expect: x\r\n'));
  await sendRaw(served.port, request('/', `X: ${'y'.repeat(20_000)}\r\n`));
  const wanted = [2, 1, 0, 1, 1].map((more, at) => (earlier[at] ?? 0) + more);
  await eventually('all are counted', async () =>
    (await counts()).join() === wanted.join() ? true : undefined,
  );
});
