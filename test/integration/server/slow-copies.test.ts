// Clients of the admin port that take a copy slowly, many of them, from one address and from several: a new server
// whose link is dead gets its copy meanwhile. Real programs; each slow client asks again as soon as it is cut.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { noise } from '../../support/noise.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { bundleDocument, makeSite } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

// More than the system's buffers take of a connection whose reader does nothing.
const archive = tarOf({ ...makeSite('v1', 3), 'large.bin': noise(32 * 2 ** 20) });
let links: LinkServer;
let servers: ServedSite[];
let attack: AbortController;

// Its connections are closed after 15 s, while the other tests run.
let idle: ServedSite;
/** The one server that has the bundle: the link has expired since. */
let owner: ServedSite;
let digest: string;
let unfinished: Promise<readonly string[]>;

before(async () => {
  links = await startLinkServer();
  links.put('v1', archive);
  owner = await serve();
  digest = await servedDigest(owner);
  links.misbehave((response) => response.writeHead(403).end());
  idle = await prepareSite();
  await idle.start();
  const { hostname, port } = new URL(idle.admin);
  unfinished = Promise.all(
    ['GET /peers/', ''].map((head) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => {}).write(head);
      return text(socket);
    }),
  );
});
after(async () => {
  await Promise.all([owner.remove(), idle.remove()]);
  await links.close();
});

beforeEach(() => {
  servers = [];
  attack = new AbortController();
});
afterEach(async () => {
  attack.abort();
  await Promise.all(servers.map((one) => one.remove()));
});

async function serve(wanted?: string, peers = ''): Promise<ServedSite> {
  const server = await prepareSite();
  await server.mount(bundleDocument({ version: 'v1', link: links.link('v1'), digest: wanted }));
  const own = new URL(server.admin).host;
  await server.start('--peers', peers === '' ? own : `${own},${peers}`);
  return server;
}

async function servedDigest(server: ServedSite): Promise<string> {
  const { active } = await server.until('v1 is served', (status) => status.active !== null);
  return active?.digest ?? assert.fail();
}

interface SlowClient {
  readonly path: string;
  readonly localAddress: string;
  /** Called when its first connection gets an answer or is closed. */
  onAnswer(): void;
}

/** Takes some kilobytes a second of every copy that it gets, and asks again as soon as it is refused or cut. */
async function takeSlowly(admin: string, { path, localAddress, onAnswer }: SlowClient): Promise<void> {
  const { hostname, port } = new URL(admin);
  // That of this test: the next one has another.
  const { signal } = attack;
  let isAnswered = false;
  const noteAnswer = (): void => {
    if (!isAnswered) onAnswer();
    isAnswered = true;
  };
  while (!signal.aborted) {
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    const end = (): Socket => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const drip = setInterval(() => socket.resume(), 500);
    socket.on('data', () => socket.pause()).once('data', noteAnswer);
    await closed;
    noteAnswer();
    clearInterval(drip);
    signal.removeEventListener('abort', end);
    await sleep(20);
  }
}

const addresses = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `127.0.1.${at + 1}`);

for (const [clients, from] of [
  [12, addresses(1)],
  [100, addresses(1)],
  [100, addresses(20)],
  [100, addresses(100)],
] as const) {
  test(`a new server gets its copy while ${clients} clients from ${from.length} addresses take theirs slowly`, async () => {
    const path = `/peers/${digest}/pack`;
    let answered = 0;
    const onAnswer = (): void => {
      answered += 1;
    };
    for (let at = 0; at < clients; at += 1) {
      void takeSlowly(owner.admin, { path, localAddress: from[at % from.length] ?? assert.fail(), onAnswer });
    }
    await eventually('every client takes a copy or was refused', () => answered === clients || undefined);
    const fresh = await serve(digest, new URL(owner.admin).host);
    servers.push(fresh);
    assert.equal(await servedDigest(fresh), digest);
    assert.equal((await fresh.status()).source.kind, 'peer');
  });
}

test('a client that never ends its request to the admin port keeps no connection, and neither does a silent one', async () => {
  for (const answer of await unfinished) assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.ok((await fetch(`${idle.admin}/livez`)).ok);
});
