import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Registry } from 'prom-client';
import { adminApp } from '../../../src/runtime/admin-port.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { listenHttp } from '../../../src/runtime/http-listener.ts';
import { createLogger } from '../../../src/runtime/logger.ts';

test('probes, metrics and documents answer what is true at the moment', async () => {
  let missing: string | undefined = 'waiting for the first bundle';
  const registry = new Registry();
  new Counter({ name: 'swaps_total', help: 'swaps', registers: [registry] }).inc(3);
  const app = adminApp({
    readiness: () => missing,
    registry,
    documents: { '/status': () => ({ active: missing === undefined }) },
  });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const ask = async (path: string) => {
    const response = await fetch(`${listener.url}${path}`);
    return { status: response.status, text: await response.text() };
  };
  assert.deepEqual(await ask('/livez'), { status: 200, text: 'ok\n' });
  assert.deepEqual(await ask('/readyz'), { status: 503, text: 'waiting for the first bundle\n' });
  missing = undefined;
  assert.deepEqual(await ask('/readyz'), { status: 200, text: 'ok\n' });
  assert.match((await ask('/metrics')).text, /^swaps_total 3$/m);
  assert.deepEqual(await ask('/status'), { status: 200, text: '{"active":true}' });
  assert.equal((await ask('/elsewhere')).status, 404);
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});

test('a page that fails answers without words, and the log has its code', async () => {
  const lines: string[] = [];
  const app = adminApp({
    readiness: () => undefined,
    registry: new Registry(),
    logger: createLogger('error', (line) => lines.push(line)),
    documents: {
      '/status': () => {
        throw new TypeError('https://h.example/?sig=s3cret');
      },
    },
  });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const response = await fetch(`${listener.url}/status`);
  assert.equal(response.status, 500);
  assert.equal(await response.text(), 'internal error\n');
  assert.match(lines.join(''), /"code":"TypeError"/);
  assert.doesNotMatch(lines.join(''), /s3cret/);
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});
