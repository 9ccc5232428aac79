// Servers of one site hand bundles to each other: a new one starts while the vendor is down, all of them together
// cost one download, and a peer that lies, is slow or dead costs a moment and nothing else. Servers of this process, with their threads.

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import { formatIndex, parseIndex } from '#bundle/store/index-document.ts';
import { eventually } from '../../support/eventually.ts';
import { portOf } from '../../support/storage-server.ts';
import { bundleDocument, makeArchive, makeSite, siteDigest } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import type { ServedSite } from './served-site.ts';
import { prepareSiteHere } from './server-here.ts';

let links: LinkServer;
let servers: ServedSite[];
let closing: (() => void)[];

beforeEach(async () => {
  links = await startLinkServer();
  links.put('v1', await makeArchive(makeSite('v1')));
  servers = [];
  closing = [];
});
afterEach(async () => {
  await Promise.all(servers.map((one) => one.remove()));
  for (const close of closing) close();
  await links.close();
});

const addressOf = (server: ServedSite): string => new URL(server.admin).host;

async function prepareServers(count: number): Promise<readonly ServedSite[]> {
  for (let at = 0; at < count; at += 1) servers.push(await prepareSiteHere());
  return servers;
}

const startAll = (all: readonly ServedSite[], others: readonly string[] = []): Promise<unknown> =>
  Promise.all(all.map((one) => one.start('--peers', [...servers.map(addressOf), ...others].join(','))));

const mountAll = (all: readonly ServedSite[], digest: string, name = 'first'): Promise<unknown> =>
  Promise.all(
    all.map((one) => one.mount(bundleDocument({ version: 'v1', link: links.link('v1', name), digest }))),
  );

/** Of the site that `v1` is. Every server refuses it where it computes another one. */
const digest = siteDigest(makeSite('v1'));

const isServed = (server: ServedSite) => server.until('v1 is served', (status) => status.active !== null);

async function fakePeer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${portOf(server)}`;
}

test('a new server with an empty disk and an expired link starts from a peer', async () => {
  const [first, second] = await prepareServers(2);
  assert.ok(first !== undefined && second !== undefined);
  await mountAll(servers, digest);
  await startAll([first]);
  await isServed(first);
  const asked = links.requests();

  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  await startAll([second]);
  const { source, active } = await isServed(second);
  assert.equal(source.kind, 'peer');
  assert.equal(active?.digest, digest);
  assert.equal(links.requests(), asked, 'the link was asked');
  assert.match(await (await fetch(`${second.site}/guides/page-3`)).text(), /version v1/);
  const metrics = await (await fetch(`${second.admin}/metrics`)).text();
  assert.match(metrics, /bundle_server_peer_copies_total\{outcome="ok"\} 1/);

  await second.kill();
  await first.child().stop('SIGKILL');
  await startAll([second]);
  assert.equal((await isServed(second)).source.kind, 'disk', 'the copy did not survive a restart');
});

test('five servers that start together with empty disks are one download', async () => {
  await prepareServers(5);
  const before = links.requests();
  await mountAll(servers, digest);
  await startAll(servers);
  const kinds = (await Promise.all(servers.map(isServed))).map(({ source }) => source.kind);
  assert.deepEqual(kinds.toSorted(), ['link', 'peer', 'peer', 'peer', 'peer']);
  assert.equal(links.requests() - before, 1);
});

test('a server that waits with an expired link copies the bundle as soon as a peer has it', async () => {
  const [waiting, lucky] = await prepareServers(2);
  assert.ok(waiting !== undefined && lucky !== undefined);
  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  await mountAll([waiting], digest);
  await startAll([waiting]);
  await waiting.until('the link is dead', ({ source }) => source.state === 'waiting-for-link');
  links.misbehave(undefined);
  await mountAll([lucky], digest, 'fresh');
  await startAll([lucky]);
  await isServed(lucky);
  assert.equal((await isServed(waiting)).source.kind, 'peer');
});

const liars: Readonly<Record<string, (index: string, pack: Buffer) => RequestListener>> = {
  'a changed byte in the pack': (index, pack) => {
    const wrong = Buffer.from(pack);
    wrong.writeUInt8(wrong.readUInt8(7) ^ 1, 7);
    return answersOf(index, wrong);
  },
  'a pack that is cut': (index, pack) => answersOf(index, pack.subarray(0, -1)),
  'a pack that never ends': (index, pack) => (request, response) => {
    if (!request.url?.endsWith('/pack')) return answersOf(index, pack)(request, response);
    const flood = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      response.once('drain', flood);
    };
    return flood();
  },
  'an index of something else': (index, pack) => answersOf(index.replace('index.html', 'indeX.html'), pack),
  'an index that never ends': (index, pack) => (request, response) => {
    if (!request.url?.endsWith('/index')) return answersOf(index, pack)(request, response);
    const flood = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, 'x')));
      response.once('drain', flood);
    };
    return flood();
  },
  'a pack of gigabytes, a byte at a time': (index, pack) => (request, response) => {
    if (!request.url?.endsWith('/pack')) return answersOf(largerIndex(index), pack)(request, response);
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'), 500);
    response.on('close', () => clearInterval(drip));
  },
  'never a moment for its copy': (index, pack) => (request, response) =>
    /(index|pack)$/.test(request.url ?? '')
      ? response.writeHead(503).end()
      : answersOf(index, pack)(request, response),
  'nothing but an error': (index, pack) => (request, response) =>
    /(index|pack)$/.test(request.url ?? '')
      ? response.writeHead(500).end()
      : answersOf(index, pack)(request, response),
  'a connection that breaks off': (index, pack) => (request, response) => {
    if (!request.url?.endsWith('/pack')) return answersOf(index, pack)(request, response);
    response.writeHead(200, { 'Content-Length': pack.length });
    response.write(pack.subarray(0, 100), () => response.destroy());
  },
};

function answersOf(index: string, pack: Buffer): RequestListener {
  return (request, response) => {
    if (request.url?.endsWith('/index')) response.end(index);
    else if (request.url?.endsWith('/pack')) response.end(pack);
    else response.end(JSON.stringify({ id: 'a liar', state: 'have', receivedBytes: 0 }));
  };
}

/** True of itself and of its digest; only the pack's size is its own word. */
function largerIndex(index: string): string {
  const document = parseIndex(index) ?? assert.fail();
  return formatIndex({ ...document, packBytes: 2 ** 30 });
}

interface HonestCopy {
  readonly index: string;
  readonly pack: Buffer;
}

/** What an honest peer hands over: the liars make theirs of it. */
async function copyOfHonestPeer(): Promise<HonestCopy> {
  const [honest] = await prepareServers(1);
  assert.ok(honest !== undefined);
  await mountAll([honest], digest);
  await startAll([honest]);
  await honest.until('what is served is stored', ({ source }) => source.state === 'in-sync');
  const part = (name: string): Promise<Response> => fetch(`${honest.admin}/peers/${digest}/${name}`);
  const index = await (await part('index')).text();
  const pack = Buffer.from(await (await part('pack')).arrayBuffer());
  await honest.remove();
  servers = [];
  return { index, pack };
}

// All at once, because several of them are waited for.
test('a peer that lies is dropped, and the link is used', async () => {
  const { index, pack } = await copyOfHonestPeer();
  await Promise.all(
    Object.entries(liars).map(async ([what, listener]) => {
      const liar = await fakePeer(listener(index, pack));
      const server = await prepareSiteHere();
      servers.push(server);
      await mountAll([server], digest);
      await server.start('--peers', `${addressOf(server)},${liar}`);
      const { source, active } = await isServed(server);
      assert.equal(source.kind, 'link', what);
      assert.equal(active?.digest, digest, what);
    }),
  );
});

test('stopped, silent or foreign peers delay a start by seconds only', async () => {
  const silent = await fakePeer(() => {});
  const foreign = await fakePeer((_request, response) => response.writeHead(200).end('<html>hello</html>'));
  const [server] = await prepareServers(1);
  assert.ok(server !== undefined);
  await mountAll([server], digest);
  await startAll([server], [silent, foreign, '127.0.0.1:1', 'no-such-name.invalid:9090']);
  assert.equal((await isServed(server)).source.kind, 'link');
});

test('what the admin port says to peers: only digests open anything, and only for GET', async () => {
  const [server] = await prepareServers(1);
  assert.ok(server !== undefined);
  await mountAll([server], digest);
  await startAll([server]);
  await isServed(server);
  const ask = (path: string, method = 'GET') => fetch(`${server.admin}${path}`, { method });
  const word = await eventually('what is served is stored', async () => {
    const answer = await (await ask(`/peers/${digest}`)).text();
    return answer.includes('"fetching"') ? undefined : answer;
  });
  assert.match(word, /^\{"id":"[0-9a-f-]{36}","state":"have","receivedBytes":0\}$/);
  assert.match(await (await ask(`/peers/${'0'.repeat(64)}`)).text(), /"state":"none"/);
  const statuses = {
    [`/peers/${'0'.repeat(64)}/pack`]: 404,
    [`/peers/${digest}/variants`]: 404,
    [`/peers/${digest}/../../current`]: 404,
    '/peers/..%2f..%2fcurrent/pack': 404,
    '/peers': 404,
  };
  for (const [path, status] of Object.entries(statuses)) {
    assert.equal((await ask(path)).status, status, path);
  }
  assert.equal((await ask(`/peers/${digest}/pack`, 'POST')).status, 405);
  const site = await fetch(`${server.site}/peers/${digest}`);
  assert.equal(site.status, 404, 'the site port answers peers');
  await eventually('the index is sent', async () =>
    (await ask(`/peers/${digest}/index`)).ok ? true : undefined,
  );
});
