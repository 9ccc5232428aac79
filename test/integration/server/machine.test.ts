// What the machine does to a server: it is told to stop, its disk is full, its disk fails.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { type HttpListener, listenHttp } from '#platform/runtime/http/http-listener.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { siteHeaders } from '#server/answer/reply.ts';
import { type SiteServing, siteHandler } from '#server/answer/site-handler.ts';
import { createBodyCache } from '#server/content/body-cache.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite, type LiveSite, type ServedVersion } from '#server/content/live-site.ts';
import { createReadPace } from '#server/content/read-pace.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { storedBundle } from '../../unit/server/fixtures.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { startLinkServer } from './link-server.ts';
import { ask } from './raw-client.ts';
import { prepareSite } from './served-site.ts';

test('SIGTERM: not ready at once, accepting for a while, closing connections, exit code 0', async () => {
  const links = await startLinkServer();
  links.put('v1', await makeArchive(makeSite('v1')));
  const program = await prepareSite();
  try {
    await program.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await program.start('--drain-linger', '6s');
    await program.until('v1 is served', ({ active }) => active?.version === 'v1');
    const idle = connect(program.port, '127.0.0.1');
    await once(idle, 'connect');

    const stopped = program.child().stop('SIGTERM', 30_000);
    await eventually('not ready', async () =>
      (await fetch(`${program.admin}/readyz`)).status === 503 ? true : undefined,
    );
    const late = await ask(program.port, '/guides/page-1');
    assert.equal(late.status, 200);
    assert.match(late.head, /Connection: close/i);
    idle.write('GET /guides/page-2 HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = await once(idle, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 200 OK/);
    await stopped;
    assert.equal(await program.child().exited, 0);
    await assert.rejects(fetch(program.site), 'the door is closed');
  } finally {
    await program.remove();
    await links.close();
  }
});

test('a full disk is reported, the old version stays up, and the new one follows once there is room', {
  skip: noNamespaces,
}, async () => {
  const store = await mkdtemp(join(tmpdir(), 'small-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', store]);
  const links = await startLinkServer();
  const program = await prepareSite(store);
  try {
    links.put('v1', await makeArchive(makeSite('v1')));
    links.put(
      'v2',
      await makeArchive({ ...makeSite('v2'), 'large.bin': Buffer.alloc(4 * 1024 * 1024, 'x') }),
    );
    await program.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await program.start();
    await program.until('v1 is served', ({ active }) => active?.version === 'v1');
    await program.mount(bundleDocument({ version: 'v2', link: links.link('v2') }));
    const { source } = await program.until('the full disk', (status) => status.source.state === 'store-full');
    assert.equal(source.lastError?.code, 'StoreFull');
    assert.match(source.lastError.message, /needs at least [\d.]+ MiB, and \d+ \w+ are free/);
    assert.ok(source.lastError.message.startsWith(`The disk of ${store} has no room`));
    assert.match((await ask(program.port, '/')).body, /version v1/);
    const retryAt = Date.parse(source.retryAt ?? '');
    assert.ok(retryAt - Date.parse(source.lastError.at) > 14 * 60_000, `next try at ${source.retryAt}`);
    execFileSync('mount', ['-o', 'remount,size=64m', store]);
    await program.until('v2 is served', ({ active }) => active?.version === 'v2');
  } finally {
    await program.remove();
    await links.close();
    execFileSync('umount', [store]);
    await rm(store, { recursive: true, force: true });
  }
});

/** The site port alone, in this process, over a bundle in memory. */
async function serveAlone(
  site: LiveSite,
  clock: Clock,
  serving: Partial<SiteServing> = {},
): Promise<HttpListener> {
  const handler = siteHandler({
    site,
    cache: createBodyCache(4 * 1024 * 1024),
    pace: createReadPace(clock),
    always: siteHeaders('Cloud'),
    countReply: () => {},
    clock,
    logger: silentLogger,
    ...serving,
  });
  return listenHttp({ host: '127.0.0.1', port: 0 }, handler, systemClock);
}

const served = (stored: StoredBundle): ServedVersion => ({
  bundle: goLive(stored),
  version: undefined,
  activatedAt: 0,
  provenance: 'disk',
});

test('a disk that fails under a request is a 500 for that request, and the site goes on', async () => {
  const site = createLiveSite(1);
  const stored = storedBundle({ 'index.html': 'home', 'hot.html': 'hot', 'large.bin': 'x'.repeat(5000) });
  site.swap(served(stored));
  const listener = await serveAlone(site, systemClock);
  try {
    // What is asked for once is not kept.
    for (const _ of [1, 2]) assert.equal((await ask(listener.port, '/hot')).status, 200);
    stored.breakDisk();
    assert.equal((await ask(listener.port, '/')).status, 500);
    assert.equal((await ask(listener.port, '/large.bin')).status, 500);
    assert.equal((await ask(listener.port, '/large.bin', ['Range: bytes=1-2'])).status, 500);
    assert.equal((await ask(listener.port, '/hot')).body, 'hot', 'what is in memory needs no disk');
  } finally {
    await listener.close({ lingerMs: 0, graceMs: 1000 });
  }
});

test('a download under way during a swap ends with the bytes it began with', async () => {
  const site = createLiveSite(1);
  const old = Array.from({ length: 1_500_000 }, (_, at) => `${at} of the old `).join('');
  const stored = storedBundle({ 'large.bin': old });
  site.swap(served(stored));
  const listener = await serveAlone(site, systemClock);
  try {
    const slow = await fetch(`${listener.url}/large.bin`);
    site.swap(served(storedBundle({ 'large.bin': 'new' })));
    assert.equal(await (await fetch(`${listener.url}/large.bin`)).text(), 'new');
    assert.equal(stored.isClosed(), false, 'the old version is closed while it is read');
    assert.ok((await slow.text()) === old, 'the download is not what it began with');
    await eventually('the old version is closed', () => (stored.isClosed() ? true : undefined));
  } finally {
    await listener.close({ lingerMs: 0, graceMs: 1000 });
  }
});

test('a reader that stops taking keeps its old version open, but not for ever', async () => {
  const site = createLiveSite(1);
  const stored = storedBundle({ 'large.bin': 'x'.repeat(48 * 1024 * 1024) });
  site.swap(served(stored));
  const sent: (readonly [number, number])[] = [];
  const countReply = (status: number, bytes: number): void => void sent.push([status, bytes]);
  const listener = await serveAlone(site, systemClock, { stalledReaderMs: 1000, countReply });
  const reader = connect(listener.port, '127.0.0.1');
  try {
    reader.on('error', () => {});
    reader.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n');
    let reads = -1;
    await eventually('the reader has stopped taking', () => {
      const isStill = stored.reads() > 0 && stored.reads() === reads;
      reads = stored.reads();
      return isStill ? true : undefined;
    });
    site.swap(served(storedBundle({ 'index.html': 'next' })));
    assert.equal((await ask(listener.port, '/')).body, 'next');
    await eventually('the old version is closed', () => (stored.isClosed() ? true : undefined));
    const [status, bytes] = sent.at(-1) ?? [];
    assert.equal(status, 200);
    assert.ok(bytes !== undefined && bytes > 0 && bytes < 32 * 1024 * 1024, `counted ${bytes}`);
  } finally {
    reader.destroy();
    await listener.close({ lingerMs: 0, graceMs: 1000 });
  }
});

test('a reader that takes nothing is cut, whether its body came from the pack or from memory', async () => {
  const site = createLiveSite(1);
  const cache = createBodyCache(4 * 1024 * 1024);
  const page = 'x'.repeat(cache.maxEntryBytes);
  site.swap(served(storedBundle({ 'page.html': page, 'tiny.html': 'tiny' })));
  const listener = await serveAlone(site, systemClock, { cache, stalledReaderMs: 2_000 });
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  try {
    for (const from of ['the pack', 'memory']) {
      const reader = connect(listener.port, '127.0.0.1').pause();
      reader.on('error', () => {});
      // Answers behind one another: more than the system keeps for a reader.
      reader.write(request('/page').repeat(40));
      await eventually(`the reader of a body from ${from} is let go`, () => {
        reader.write('\r\n');
        return reader.destroyed ? true : undefined;
      });
    }
    assert.equal((await ask(listener.port, '/tiny')).body, 'tiny', 'others are served');
    assert.ok((await ask(listener.port, '/page')).body === page, 'and whole');
  } finally {
    await listener.close({ lingerMs: 0, graceMs: 1000 });
  }
});
