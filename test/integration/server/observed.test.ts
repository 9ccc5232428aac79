// What whoever runs a server sees of it, read from the running program: its metrics, its status, its log. Every metric
// of the README is looked at here after requests, downloads and troubles that are known.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { ask } from './raw-client.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

let links: LinkServer;
let served: ServedSite;

beforeEach(async () => {
  links = await startLinkServer();
  served = await prepareSite();
  for (const version of ['v1', 'v2']) links.put(version, await makeArchive(makeSite(version)));
  links.put('torn', Buffer.from('no archive at all, and long enough to be taken for something'.repeat(20)));
});
afterEach(async () => {
  await served.remove();
  await links.close();
});

const publish = (version: string, name?: string): Promise<void> =>
  served.mount(bundleDocument({ version, link: links.link(version, name) }));
const isServed = (version: string): Promise<unknown> =>
  served.until(
    `${version} is served and nothing is to be done`,
    ({ active, source }) => active?.version === version && source.state === 'in-sync',
  );

/** Samples by name and labels. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const text = await served.page('/metrics');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const logLine = z.looseObject({ level: z.string(), msg: z.string() });
const logged = (): readonly z.infer<typeof logLine>[] =>
  served
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => logLine.parse(JSON.parse(line)));

test('before anything is served: no moment, no bundle, and the state says what is waited for', async () => {
  await served.start();
  await served.until('the look', ({ source }) => source.state === 'waiting-for-bundle-json');
  const metrics = await scrape();
  assert.equal(metrics.get('bundle_server_source_state{state="waiting-for-bundle-json"}'), 1);
  assert.equal(metrics.get('bundle_server_is_current'), 0);
  assert.equal(metrics.get('bundle_server_active_bundle_files'), 0);
  const unknown = [...metrics.keys()].filter((name) =>
    /^bundle_server_.*(_info|timestamp_seconds)/.test(name),
  );
  assert.deepEqual(unknown, []);
});

test('every metric is true of what was asked and fetched', async () => {
  await publish('v1');
  // A peer that is not there: the metrics of peers exist, and count nothing.
  await served.start('--peers', '127.0.0.1:1', '--keep', '2');
  await isServed('v1');
  const before = await scrape();
  const bodies: number[] = [];
  const request = async (path: string, init?: RequestInit): Promise<void> => {
    const answer = await fetch(served.site + path, { headers: { 'accept-encoding': 'identity' }, ...init });
    bodies.push((await answer.arrayBuffer()).byteLength);
  };
  // One of them often enough to be kept in memory.
  const asked = ['/', '/guides/page-1', '/guides/page-2', '/guides/page-2', '/guides/page-2'];
  for (const path of asked) await request(path);
  const tag = (await fetch(`${served.site}/`, { method: 'HEAD' })).headers.get('etag') ?? '';
  await request('/', { headers: { 'if-none-match': tag } });
  await request('/guides/page-1', { headers: { range: 'bytes=0-9' } });
  await request('/nothing');
  await request('/guides/page-1', { method: 'POST' });
  assert.equal((await ask(served.port, '/%2f')).status, 400);

  const metrics = await eventually('the requests are counted', async () => {
    const seen = await scrape();
    return seen.get('bundle_server_requests_total{code="4xx",status="400"}') === 1 ? seen : undefined;
  });
  const counted = [...metrics].filter(
    ([name, value]) => name.startsWith('bundle_server_requests_total') && value > 0,
  );
  assert.deepEqual(Object.fromEntries(counted), {
    'bundle_server_requests_total{code="2xx",status="200"}': 6,
    'bundle_server_requests_total{code="2xx",status="206"}': 1,
    'bundle_server_requests_total{code="3xx",status="304"}': 1,
    'bundle_server_requests_total{code="4xx",status="400"}': 1,
    'bundle_server_requests_total{code="4xx",status="404"}': 1,
    'bundle_server_requests_total{code="4xx",status="405"}': 1,
  });
  assert.equal(metrics.get('bundle_server_request_duration_seconds_count'), 11);
  assert.ok((metrics.get('bundle_server_request_duration_seconds_sum') ?? 0) > 0);
  assert.equal(metrics.get('bundle_server_request_duration_seconds_bucket{le="+Inf"}'), 11);
  const bytes = metrics.get('bundle_server_response_body_bytes_total') ?? 0;
  const sent = bodies.reduce((sum, one) => sum + one, 0);
  // The malformed request's answer has a few bytes of words.
  assert.ok(bytes >= sent && bytes < sent + 200, `${bytes} counted, ${sent} received`);

  const { active } = await served.status();
  assert.equal(metrics.get(`bundle_server_active_bundle_info{version="v1",digest="${active?.digest}"}`), 1);
  assert.equal(metrics.get('bundle_server_active_bundle_files'), 33);
  assert.equal(
    metrics.get('bundle_server_active_bundle_activation_timestamp_seconds'),
    Math.floor(Date.parse(active?.activatedAt ?? '') / 1000),
  );
  assert.ok(
    (metrics.get('bundle_server_cached_body_bytes') ?? 0) >
      (before.get('bundle_server_cached_body_bytes') ?? 0),
  );
  assert.equal(metrics.get('bundle_server_downloads_total{outcome="ok"}'), 1);
  assert.equal(metrics.get('bundle_server_peer_copies_total{outcome="ok"}'), 0);
  assert.equal(metrics.get('bundle_server_swaps_total'), 0);
  assert.equal(metrics.get('bundle_server_is_current'), 1);
  assert.equal(metrics.get('bundle_server_source_state{state="in-sync"}'), 1);
  assert.equal(
    metrics.get('bundle_server_link_issued_timestamp_seconds'),
    Date.parse('2020-01-01T00:00:00Z') / 1000,
  );
  assert.equal(
    metrics.get('bundle_server_link_expiry_timestamp_seconds'),
    Date.parse('2020-01-01T00:15:00Z') / 1000,
  );
});

test('swaps, store, precompressed variants and downloads by outcome', async () => {
  links.put('v3', await makeArchive({ ...makeSite('v3'), 'large.css': 'p { margin: 0 }\n'.repeat(2000) }));
  await publish('v1');
  await served.start();
  await isServed('v1');
  const [small = 0] = [(await scrape()).get('bundle_server_store_bytes')];
  await publish('v3');
  await isServed('v3');
  const variant = await eventually(
    'precompressed variants are made',
    async () => {
      const seen = await scrape();
      return (seen.get('bundle_server_variant_files{encoding="br"}') ?? 0) > 0 ? seen : undefined;
    },
    { timeoutMs: 120_000 },
  );
  assert.ok((variant.get('bundle_server_variant_files{encoding="gzip"}') ?? 0) > 0);
  assert.ok((variant.get('bundle_server_variant_bytes') ?? 0) > 0);
  assert.ok((variant.get('bundle_server_store_bytes') ?? 0) > 32_000 + small, 'both versions, and the forms');
  assert.equal(variant.get('bundle_server_swaps_total'), 1);

  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  await served.mount(bundleDocument({ version: 'bad', link: links.link('torn'), digest: 'f'.repeat(64) }));
  await served.until('the dead link', ({ source }) => source.state === 'waiting-for-link');
  links.misbehave((response) => response.writeHead(503).end());
  await served.mount(bundleDocument({ version: 'bad', link: links.link('torn', 'second') }));
  await served.until('the back-off', ({ source }) => source.state === 'backing-off');
  links.put('climbing', await makeArchive({ 'index.html': 'x', '../../x': 'x' }));
  // The storage fails until the server knows this version: a retry of `bad` would be a second rejected download.
  await publish('climbing');
  await served.until(
    'the back-off of the next version',
    ({ source }) => source.published?.version === 'climbing' && source.state === 'backing-off',
  );
  links.misbehave(undefined);
  await served.until('the refusal', ({ source }) => source.state === 'rejected');
  const metrics = await scrape();
  assert.equal(metrics.get('bundle_server_downloads_total{outcome="ok"}'), 2);
  assert.equal(metrics.get('bundle_server_downloads_total{outcome="rejected"}'), 1);
  for (const outcome of ['expired-link', 'transient']) {
    assert.ok((metrics.get(`bundle_server_downloads_total{outcome="${outcome}"}`) ?? 0) >= 1, outcome);
  }
  assert.equal(metrics.get('bundle_server_source_state{state="rejected"}'), 1);
  assert.equal(metrics.get('bundle_server_is_current'), 0);
});

test('a former publication is no longer shown, and each problem is one warning', async () => {
  await publish('v1');
  await served.start();
  await isServed('v1');
  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  await publish('v2');
  const dead = await served.until('the dead link', ({ source }) => source.state === 'waiting-for-link');
  assert.deepEqual([dead.source.published?.version, dead.source.lastError?.code], ['v2', 'LinkExpired']);
  assert.match(dead.source.reason, /waiting for a new one/);

  await served.mount(undefined);
  const { source, active } = await served.until(
    'bundle.json is gone',
    (status) => status.source.state === 'waiting-for-bundle-json',
  );
  assert.deepEqual([source.published, source.lastError, source.retryAt], [null, null, null]);
  assert.equal(active?.version, 'v1');
  const names = [...(await scrape()).keys()];
  assert.ok(!names.some((name) => name.startsWith('bundle_server_link_')), 'there is no link to tell of');

  await served.mount('{"version":');
  const bad = await served.until(
    'the invalid bundle.json',
    (status) => status.source.state === 'invalid-bundle-json',
  );
  assert.equal(bad.source.lastError?.code, 'InvalidBundleJson');
  links.misbehave(undefined);
  await publish('v2', 'fresh');
  await isServed('v2');
  const healed = await served.until('all is well', (status) => status.source.state === 'in-sync');
  assert.equal(healed.source.lastError, null);

  const warnings = logged().filter(({ level, state }) => level === 'warn' && state !== undefined);
  assert.deepEqual(
    warnings.map(({ state }) => state),
    ['waiting-for-link', 'waiting-for-bundle-json', 'invalid-bundle-json'],
  );
});

test('an expired or rejected --bundle-url says what to do', async () => {
  links.put('climbing', await makeArchive({ 'index.html': 'x', '../../x': 'x' }));
  await served.start('--bundle-url', links.link('climbing'), '--version', 'v7');
  const refused = await served.until('the refusal', ({ source }) => source.state === 'rejected');
  assert.match(refused.source.reason, /restart the server with another link/);
  const ready = await (await fetch(`${served.admin}/readyz`)).text();
  assert.match(ready, /restart the server with another link.*last error: /);
  assert.doesNotMatch(ready, /waiting for/);
  const metrics = [...(await scrape()).keys()];
  assert.ok(
    !metrics.some((name) => name.startsWith('bundle_server_link_')),
    'of a plain link nothing is known',
  );
});

test('a link to a private address names the flag that allows it', async () => {
  await publish('v1');
  await served.start('--allow-private-links=false');
  const { source } = await served.until('the back-off', (status) => status.source.state === 'backing-off');
  assert.match(source.lastError?.message ?? '', /--allow-private-links/);
});

test('requests are logged when asked for, without their query, and not otherwise', async () => {
  await publish('v1');
  await served.start('--access-log', '--listen', `:${served.port}`);
  await isServed('v1');
  await (await fetch(`${served.site}/guides/page-1?token=s3cret`)).text();
  const line = await eventually('the line', () => logged().find(({ msg }) => msg === 'request'));
  assert.deepEqual(
    [line['method'], line['path'], line['status'], line['isWhole'], line['client']],
    ['GET', '/guides/page-1', 200, true, '127.0.0.1'],
  );
  await served.kill();
  await served.start();
  await isServed('v1');
  await (await fetch(`${served.site}/guides/page-1?token=s3cret`)).text();
  await served.child().stop();
  assert.equal(logged().filter(({ msg }) => msg === 'request').length, 1);
  assert.ok(!served.output().includes('s3cret'));
});
