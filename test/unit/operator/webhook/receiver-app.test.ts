// The receiver behind a real port, with a scripted cluster: which requests reach the cluster at all, and that a client
// cannot tell one unauthorized request from another.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createClientRate } from '#operator/webhook/client-rate.ts';
import type { FoundHook } from '#operator/webhook/hook-target.ts';
import { type HookOutcome, type ReceiverAppOptions, receiverApp } from '#operator/webhook/receiver-app.ts';
import { readHookSecret } from '#operator/webhook/verification.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { hmacHex, signStandard } from './signing.ts';

const secret = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0LTAxMjM0NTY3';
const body = '{"ref":"refs/heads/main","private":"body-of-the-push"}';
const good = { 'X-Hub-Signature-256': `sha256=${hmacHex(secret, Buffer.from(body))}` };
const wanted: FoundHook = {
  uid: 'uid-1',
  secret: readHookSecret(Buffer.from(secret)),
  why: undefined,
  isWanted: true,
};
const stopping = new AbortController();
const closing: (() => Promise<void>)[] = [async () => stopping.abort()];
after(() => Promise.all(closing.map((close) => close())));

/** @param clock stands still where it is not the system's */
const ratesOf = (perMinute: number, clock: Pick<Clock, 'monotonic'> = systemClock) => ({
  accepted: createClientRate(clock, perMinute),
  refused: createClientRate(clock, perMinute),
});

async function start(found: FoundHook | Error = wanted, options: Partial<ReceiverAppOptions> = {}) {
  const reads: string[] = [];
  const tokens: string[] = [];
  const outcomes: HookOutcome[] = [];
  const log: string[] = [];
  const app = receiverApp({
    targets: {
      find: async ({ namespace, name }) => {
        reads.push(`${namespace}/${name}`);
        if (found instanceof Error) throw found;
        return found;
      },
      request: async (_key, uid, token) => {
        tokens.push(`${uid} ${token}`);
      },
    },
    clock: systemClock,
    random: systemRandom,
    logger: createLogger('debug', (line) => log.push(line)),
    rates: ratesOf(1000),
    maxBodyBytes: 1024,
    maxConcurrent: 10,
    trustedProxies: [],
    requestTimeoutMs: 5000,
    refusalStepMs: 20,
    shutdown: stopping.signal,
    onAnswered: (outcome) => outcomes.push(outcome),
    ...options,
  });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  closing.push(() => listener.close({ lingerMs: 0, graceMs: 0 }));
  const send = async (
    headers: Record<string, string>,
    content: string | undefined = body,
    path = '/hooks/docs/site',
    method = 'POST',
  ) => {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const answer = await fetch(`${listener.url}${path}`, {
      method,
      headers,
      ...(hasBody && { body: content }),
    });
    const fields = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
    return { status: answer.status, text: await answer.text(), fields };
  };
  return { send, reads, tokens, outcomes, log, url: listener.url };
}

test('each scheme is accepted with 202, and writes one annotation', async () => {
  const { send, tokens, reads } = await start();
  for (const headers of [
    good,
    { 'X-Signature': `sha256=${hmacHex(secret, Buffer.from(body))}` },
    { 'X-Gitlab-Token': secret },
    { ...signStandard(secret, Buffer.from(body), { now: Date.now() }) },
  ]) {
    const { status, text } = await send(headers);
    assert.deepEqual([status, text], [202, '{"status":"accepted"}']);
  }
  assert.deepEqual(
    reads,
    Array.from({ length: 4 }, () => 'docs/site'),
  );
  for (const token of tokens) assert.match(token, /^uid-1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(tokens.length, 4);
});

test('every unauthorized request gets the same bytes, and writes nothing', async () => {
  const absent: FoundHook = {
    uid: undefined,
    secret: undefined,
    why: 'no such StaticExport',
    isWanted: false,
  };
  const cases: readonly (readonly [FoundHook, Record<string, string>, string?])[] = [
    [absent, good],
    [{ ...absent, uid: 'uid-1', why: 'no spec.trigger.webhook' }, good],
    [{ ...absent, uid: 'uid-1', why: 'Secret x has no text in key secret', isWanted: true }, good],
    [wanted, { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` }],
    [wanted, { 'X-Hub-Signature-256': 'nonsense' }],
    [wanted, { 'X-Gitlab-Token': 'wrong' }],
    [wanted, { ...signStandard(secret, Buffer.from(body), { now: Date.now() - 400_000 }) }],
    [wanted, {}],
    [wanted, good, '/hooks/Docs/site'],
    [wanted, good, `/hooks/docs/${'x'.repeat(300)}`],
  ];
  const answers: string[] = [];
  for (const [found, headers, path] of cases) {
    const { send, tokens } = await start(found);
    answers.push(JSON.stringify(await send(headers, body, path)));
    assert.deepEqual(tokens, []);
  }
  assert.equal(new Set(answers).size, 1, [...new Set(answers)].join('\n'));
  assert.match(answers[0] ?? '', /"status":401/);
});

test('a body above the limit is refused before anything is read from the cluster', async () => {
  const { send, reads, outcomes } = await start();
  assert.equal((await send(good, 'x'.repeat(1025))).status, 413);
  assert.equal((await send(good, 'x'.repeat(1024))).status, 401);
  assert.deepEqual([reads.length, outcomes[0]], [1, 'too_large']);
});

const still = { monotonic: () => 0 };

test('a client with too many refused requests is refused before anything is read from the cluster', async () => {
  const { send, reads, outcomes } = await start(wanted, { rates: ratesOf(2, still) });
  await send({ 'X-Gitlab-Token': 'wrong' });
  await send({});
  const { status, fields } = await send({ 'X-Gitlab-Token': 'wrong' });
  assert.deepEqual([status, fields['retry-after'], reads.length], [429, '30', 1]);
  assert.deepEqual(outcomes, ['unauthorized', 'unauthorized', 'limited']);
});

test('refused requests of the same address take nothing from hooks that were accepted before', async () => {
  const { send, reads } = await start(wanted, { rates: ratesOf(10, still) });
  assert.equal((await send(good)).status, 202);
  for (let sent = 0; sent < 30; sent += 1) await send({ 'X-Gitlab-Token': 'wrong' });
  assert.equal(reads.length, 11, 'ten of them were read');
  assert.equal((await send({ 'X-Gitlab-Token': 'wrong' })).status, 429);
  assert.equal((await send(good)).status, 202);
  assert.equal((await send({ 'X-Gitlab-Token': secret })).status, 202);
  assert.equal((await send(good, body, '/hooks/docs/other')).status, 429, 'another hook has proved nothing');
});

test('a secret that is no longer the right one is heard once above the limit', async () => {
  let found = wanted;
  const targets = { find: async () => found, request: async () => {} };
  const { send } = await start(wanted, { rates: ratesOf(1, still), targets });
  assert.equal((await send(good)).status, 202);
  found = { ...wanted, secret: readHookSecret(Buffer.from('a-new-secret')) };
  assert.equal((await send({})).status, 401);
  assert.equal((await send(good)).status, 401);
  assert.equal((await send(good)).status, 429);
});

test('a client with too many accepted hooks has to wait', async () => {
  const { send, tokens } = await start(wanted, { rates: ratesOf(2, still) });
  const statuses = [await send(good), await send(good), await send(good)].map(({ status }) => status);
  assert.deepEqual([statuses, tokens.length], [[202, 202, 429], 2]);
});

test('addresses that are no hooks count for nothing', async () => {
  const { send } = await start(wanted, { rates: ratesOf(1, still) });
  for (let sent = 0; sent < 5; sent += 1) {
    assert.equal((await send({}, body, '/')).status, 404);
    assert.equal((await send({}, undefined, '/hooks/docs/site', 'GET')).status, 405);
  }
  assert.equal((await send(good)).status, 202);
});

test('a refusal leaves at a tick, whatever was done for it', async () => {
  const rings: (() => void)[] = [];
  const clock: Clock = { ...systemClock, after: () => new Promise((resolve) => rings.push(resolve)) };
  const { send } = await start(wanted, { clock });
  for (const path of ['/hooks/docs/site', '/hooks/docs/SITE', '/hooks/docs/none']) {
    let isAnswered = false;
    const answered = send({ 'X-Gitlab-Token': 'wrong' }, body, path).then(({ status }) => {
      isAnswered = true;
      return status;
    });
    const ring = async (): Promise<void> => {
      await eventually('a tick to wait for', async () => (rings.length > 0 || isAnswered ? true : undefined));
      rings.shift()?.();
    };
    await ring();
    assert.equal(isAnswered, false);
    while (!isAnswered) await ring();
    assert.equal(await answered, 401);
  }
});

test('bodies that stay unfinished are cut for a hook that is sent at once', async () => {
  const { send, url } = await start(wanted, { maxConcurrent: 4 });
  const { hostname, port } = new URL(url);
  const held = Array.from({ length: 6 }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    socket.write(
      'POST /hooks/docs/site HTTP/1.1\r\nHost: a\r\nX-Gitlab-Token: t\r\nContent-Length: 9\r\n\r\n',
    );
    return text(socket);
  });
  for (let sent = 0; sent < 5; sent += 1) assert.equal((await send(good)).status, 202);
  for (const answer of await Promise.all(held)) assert.match(answer, /^HTTP\/1\.1 503 .*busy"\}$/s);
});

test('only a trusted proxy names the client, and only by an address', async () => {
  const rates = () => ratesOf(1);
  const direct = await start(wanted, { rates: rates() });
  await direct.send({ ...good, 'X-Forwarded-For': '192.0.2.1' });
  assert.equal((await direct.send({ ...good, 'X-Forwarded-For': '192.0.2.2' })).status, 429);
  const behind = await start(wanted, { rates: rates(), trustedProxies: ['127.0.0.0/8'] });
  assert.equal((await behind.send({ ...good, 'X-Forwarded-For': '192.0.2.1' })).status, 202);
  assert.equal((await behind.send({ ...good, 'X-Forwarded-For': '192.0.2.2' })).status, 202);
  assert.equal((await behind.send({ ...good, 'X-Forwarded-For': '192.0.2.9, 192.0.2.2' })).status, 429);
  assert.equal((await behind.send({ ...good, 'X-Forwarded-For': 'one' })).status, 202);
  assert.equal((await behind.send({ ...good, 'X-Forwarded-For': 'two' })).status, 429);
});

test('another method, another address and an encoded body have answers of their own', async () => {
  const { send, reads } = await start();
  const { status, fields } = await send({}, undefined, '/hooks/docs/site', 'GET');
  assert.deepEqual([status, fields['allow']], [405, 'POST']);
  assert.equal((await send(good, body, '/hooks/docs')).status, 404);
  assert.equal((await send(good, body, '/')).status, 404);
  assert.equal((await send({ ...good, 'Content-Encoding': 'gzip' })).status, 415);
  assert.equal((await send(good, body, '/hooks/%ff/site')).status, 400);
  assert.deepEqual(reads, []);
});

test('a cluster that does not answer is a 503 that asks for a retry', async () => {
  const { send, outcomes } = await start(
    new ClusterError('Unavailable', 'no answer', { retryAfterMs: 7000 }),
  );
  const { status, fields, text } = await send(good);
  assert.deepEqual([status, fields['retry-after'], text], [503, '7', '{"error":"unavailable"}']);
  assert.deepEqual(outcomes, ['unavailable']);
});

test('requests above the limit of concurrent ones get 503 and reach no cluster', async () => {
  const held = Promise.withResolvers<FoundHook>();
  const both = Promise.withResolvers<void>();
  let finds = 0;
  let isHeld = false;
  const find = async (): Promise<FoundHook> => {
    if (!isHeld) return wanted;
    finds += 1;
    if (finds === 2) both.resolve();
    return await held.promise;
  };
  const targets = { find, request: async () => {} };
  const { send } = await start(wanted, { maxConcurrent: 8, targets });
  // Refused ones give back no more than they took.
  for (let at = 0; at < 5; at += 1) assert.equal((await send({ 'X-Gitlab-Token': 'wrong' })).status, 401);
  isHeld = true;
  const first = [send(good), send(good)];
  await both.promise;
  assert.equal((await send(good)).status, 503);
  held.resolve(wanted);
  assert.deepEqual(
    (await Promise.all(first)).map(({ status }) => status),
    [202, 202],
  );
});

test('a wrong configuration is logged once, and neither body, secret nor signature ever', async () => {
  const why = 'Secret docs-hook has no text in key secret';
  const { send, log } = await start({ uid: 'uid-1', secret: undefined, why, isWanted: true });
  for (let sent = 0; sent < 3; sent += 1) await send(good);
  assert.equal(log.filter((line) => line.includes('"level":"warn"')).length, 1, log.join(''));
  const accepted = await start();
  await accepted.send(good);
  await accepted.send({ 'X-Gitlab-Token': secret });
  await accepted.send({ 'X-Gitlab-Token': 'wrong-token' });
  const all = [...log, ...accepted.log].join('');
  for (const needle of [secret, 'body-of-the-push', hmacHex(secret, Buffer.from(body)), 'wrong-token'])
    assert.ok(!all.includes(needle), needle);
});
