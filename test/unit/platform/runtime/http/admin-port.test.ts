import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import { createLogger } from '#platform/runtime/logger.ts';

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
  const contents = await ask('/');
  assert.equal(contents.status, 200);
  assert.deepEqual(contents.text.match(/^ {2}\/\w+/gm), ['  /livez', '  /readyz', '  /metrics', '  /status']);
  const elsewhere = await ask('/elsewhere');
  assert.equal(elsewhere.status, 404);
  assert.equal(elsewhere.text, `there is nothing here; ${contents.text}`);
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});

test('a page answers HEAD, any query, capitals and a slash at the end, and no other method', async () => {
  const app = adminApp({ readiness: () => undefined, registry: new Registry() });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const statusOf = async (method: string, path: string): Promise<string> => {
    const response = await fetch(`${listener.url}${path}`, { method });
    return `${response.status} ${(await response.text()).slice(0, 5)}`.trimEnd();
  };
  assert.equal(await statusOf('HEAD', '/livez'), '200');
  assert.equal(await statusOf('GET', '/livez?verbose'), '200 ok');
  assert.equal(await statusOf('GET', '/Livez/'), '200 ok');
  assert.equal(await statusOf('GET', '/?all'), '200 this');
  for (const path of ['/livez', '/']) assert.equal(await statusOf('POST', path), '404 there');
  for (const path of ['/livez//', '//livez', '/livezz'])
    assert.equal(await statusOf('GET', path), '404 there');
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});

test('metrics may be asked for by name, and a name that is none is an empty page', async () => {
  const registry = new Registry();
  for (const name of ['a_total', 'b_total', 'c_total']) {
    new Counter({ name, help: name, registers: [registry] }).inc(1);
  }
  const app = adminApp({ readiness: () => undefined, registry });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const linesOf = async (query: string): Promise<readonly string[]> => {
    const text = await (await fetch(`${listener.url}/metrics${query}`)).text();
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  };
  assert.deepEqual(await linesOf(''), ['a_total 1', 'b_total 1', 'c_total 1']);
  assert.deepEqual(await linesOf('?name[]=c_total&name%5B%5D=a_total'), ['a_total 1', 'c_total 1']);
  assert.deepEqual(await linesOf('?name[]=d_total'), []);
  const used: Gauge = new Gauge({ name: 'heap_used', help: 'x', registers: [registry] });
  new Gauge({ name: 'heap_total', help: 'x', registers: [registry], collect: () => used.set(7) });
  registry.removeSingleMetric('heap_used');
  registry.registerMetric(used);
  assert.deepEqual(await linesOf('?name[]=heap_used'), ['heap_used 7'], 'filled while another is collected');
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});

const paces = [
  ['small metrics are one piece of work, however busy the program is', '', 0, (turns: number) => turns === 0],
  ['metrics that take long leave others their turns', '', 1, (turns: number) => turns >= 10],
  ['so do those that are looked through for one', '?name[]=g_99', 1, (turns: number) => turns >= 10],
] as const;

for (const [name, query, msForEachReading, isRight] of paces) {
  test(name, async (t) => {
    let now = 0;
    const clock: Clock = { ...systemClock, monotonic: () => (now += msForEachReading) };
    let turn = 0;
    const turns = new AbortController();
    const takeTurns = (): void => {
      turn += 1;
      if (!turns.signal.aborted) setImmediate(takeTurns);
    };
    const collectedAt: number[] = [];
    const registry = new Registry();
    for (let index = 0; index < 100; index += 1) {
      const collect = (): void => void collectedAt.push(turn);
      new Gauge({ name: `g_${index}`, help: 'x', registers: [registry], collect });
    }
    const app = adminApp({ readiness: () => undefined, registry, clock });
    const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
    t.after(() => listener.close({ lingerMs: 0, graceMs: 1_000 }));
    t.after(() => turns.abort());
    takeTurns();
    const text = await (await fetch(`${listener.url}/metrics${query}`)).text();
    assert.equal(text.match(/^g_\d+ 0$/gm)?.length, query === '' ? 100 : 1);
    const taken = (collectedAt.at(-1) ?? 0) - (collectedAt[0] ?? 0);
    assert.ok(isRight(taken), `${taken} turns between the first metric and the last`);
  });
}

test('who leaves in the middle of many metrics holds nothing up', async () => {
  const registry = new Registry();
  const left = new AbortController();
  for (let index = 0; index < 40; index += 1) {
    new Counter({ name: `c${index}_total`, help: 'x'.repeat(500_000), registers: [registry] }).inc(1);
  }
  const app = adminApp({ readiness: () => undefined, registry });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const response = await fetch(`${listener.url}/metrics`, { signal: left.signal });
  left.abort();
  await assert.rejects(response.text(), { name: 'AbortError' });
  assert.equal((await fetch(`${listener.url}/livez`)).status, 200);
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
});

test('who asks for many metrics and reads none of them is cut', async () => {
  const registry = new Registry();
  for (let index = 0; index < 40; index += 1) {
    new Counter({ name: `c${index}_total`, help: 'x'.repeat(500_000), registers: [registry] }).inc(1);
  }
  const hurried: Clock = { ...systemClock, after: (_ms, signal) => systemClock.after(10, signal) };
  const app = adminApp({ readiness: () => undefined, registry, clock: hurried });
  const arrived = Promise.withResolvers<Socket>();
  const listener = await listenHttp(
    { host: '127.0.0.1', port: 0 },
    (request, response) => {
      arrived.resolve(request.socket);
      app(request, response);
    },
    systemClock,
  );
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
  const served = await arrived.promise;
  await once(served, 'close');
  socket.destroy();
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
