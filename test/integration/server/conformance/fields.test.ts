// Fields of answers: RFC 9110 §8.3 (types), §8.6, §10.2.3 (Retry-After), RFC 9111 §5.2 (Cache-Control), and what an
// air-gapped site says to browsers. Every section's `hold` asks of every answer what must stand in all of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ConformanceSite, exchange, hold, serveConformanceSite } from './conformance-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await serveConformanceSite('--deployment-type', 'AirGapped', '--base-path', '/docs', '--access-log');
});
after(() => site.remove());

const policy =
  "default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' data: blob:; connect-src 'self' data: blob:; form-action 'self'; base-uri 'self'; object-src 'none'";

test('§8.3 types by name, §5.2 caching by what is sent', async () => {
  const revalidated = 'public, max-age=0, must-revalidate';
  const rows = [
    ['/docs/page', 'text/html; charset=utf-8', revalidated],
    ['/docs/latin1', 'text/html', revalidated],
    ['/docs/search-index.json', 'application/json; charset=utf-8', revalidated],
    ['/docs/logo.png', 'image/png', revalidated],
    ['/docs/digits.bin', 'application/octet-stream', revalidated],
    ['/docs/assets/app.BxYz12_Q.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ] as const;
  await hold(
    site,
    rows.map(([target, type, caching]) => ({
      rule: target,
      target,
      status: 200,
      fields: { 'content-type': type, 'cache-control': caching, 'content-security-policy': policy },
    })),
  );
});

test('below a base path: the base leads to its slash, what is outside is absent', async () => {
  const fields = { 'content-security-policy': policy };
  await hold(site, [
    { rule: 'the base', target: '/docs', status: 301, fields: { ...fields, location: './docs/' } },
    { rule: 'the home page', target: '/docs/', status: 200, fields },
    { rule: 'outside', target: '/page', status: 404, fields },
    { rule: 'a sibling of the same prefix', target: '/docs-secret/page', status: 404, fields },
    { rule: 'malformed', target: '/docs/%00', status: 400, fields },
    { rule: 'another method', method: 'POST', target: '/docs/page', status: 405, fields },
  ]);
});

test('the access log has a line for every request, without its query', async () => {
  const marker = `Agent-${site.port}`;
  await exchange(site.port, [
    'GET /docs/page?token=c0ffee HTTP/1.1',
    'Host: a',
    `User-Agent: ${marker}`,
    'Referer: https://search.example.com/find?q=c0ffee',
    'X-Forwarded-For: 203.0.113.7, 10.0.0.1',
    'Connection: close',
  ]);
  await site.served.said(new RegExp(marker));
  const line = site.served
    .output()
    .split('\n')
    .find((one) => one.includes(marker));
  assert.match(line ?? '', /"method":"GET","path":"\/docs\/page","status":200,"isWhole":true,"tookMs":\d/);
  for (const [field, value] of Object.entries({
    host: 'a',
    referer: 'https://search.example.com/find',
    forwardedFor: '203.0.113.7, 10.0.0.1',
    httpVersion: '1.1',
  })) {
    assert.ok(line?.includes(`${JSON.stringify(field)}:${JSON.stringify(value)}`), field);
  }
  assert.ok(!site.served.output().includes('c0ffee'));
});
