// When an attempt is repeated, how long the client waits, and what it throws in the end. Also what each error of the
// network means.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { systemClock } from '#platform/runtime/clock.ts';
import { createAuthority } from '../../../support/pki.ts';
import {
  closeOpened,
  faultOf,
  hastyClock,
  never,
  openClient,
  refuse,
  startRegistry,
} from './scripted-registry.ts';

afterEach(closeOpened);

const manifest = Buffer.from('{}');
const limit = { timeout: 30_000 };

for (const status of [408, 429, 500, 502, 503, 504]) {
  test(`${status} is followed by another attempt`, async () => {
    const { carrier, pauses } = await startRegistry((_request, response, count) => {
      response.writeHead(count < 3 ? status : 200).end(manifest);
    });
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(pauses, [1000, 2000]);
  });
}

test('words of 500 that are about the moment are followed by another attempt', async () => {
  const { carrier, pauses } = await startRegistry((_request, response, count) => {
    if (count < 3) refuse(response, 500, 'UNKNOWN', 'database is locked');
    else response.end(manifest);
  });
  assert.deepEqual(await carrier.readManifest('v1', never), manifest);
  assert.deepEqual(pauses, [1000, 2000]);
});

for (const status of [400, 401, 403, 405, 418]) {
  test(`${status} is final`, async () => {
    const { carrier, requests } = await startRegistry((_request, response) =>
      response.writeHead(status).end(),
    );
    await assert.rejects(carrier.readManifest('v1', never), { isTemporary: false });
    assert.equal(requests.length, 1);
  });
}

test('after four attempts the failure is temporary', async () => {
  const { carrier, requests, pauses } = await startRegistry((_request, response) =>
    response.writeHead(503).end(),
  );
  const fault = await faultOf(carrier.readManifest('v1', never), 'Unreachable');
  assert.ok(fault.isTemporary);
  assert.equal(fault.retryAfterMs, undefined);
  assert.match(fault.message, /^Registry host 127\.0\.0\.1:\d+ returned 503\./);
  assert.equal(requests.length, 4);
  assert.deepEqual(pauses, [1000, 2000, 4000]);
});

describe('Retry-After', () => {
  const start = Date.UTC(2026, 0, 5, 12);
  for (const [value, pauses] of [
    ['3', [3000, 3000, 4000]],
    ['0', [1000, 2000, 4000]],
    ['soon', [1000, 2000, 4000]],
    [new Date(start + 7000).toUTCString(), [7000, 7000, 7000]],
    [new Date(start - 7000).toUTCString(), [1000, 2000, 4000]],
  ] as const) {
    test(`of ${value} is waited for`, async () => {
      const waited: number[] = [];
      const clock = { ...hastyClock(waited), now: () => start };
      const { carrier } = await startRegistry(
        (_request, response) =>
          response.writeHead(429, { 'retry-after': value, date: new Date(start).toUTCString() }).end(),
        { clock },
      );
      await faultOf(carrier.readManifest('v1', never), 'Unreachable');
      assert.deepEqual(waited, pauses);
    });
  }

  test('of more than a minute is left to the caller', async () => {
    const { carrier, requests, pauses } = await startRegistry((_request, response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end(),
    );
    const fault = await faultOf(carrier.readManifest('v1', never), 'Unreachable');
    assert.equal(fault.retryAfterMs, 3_600_000);
    assert.equal(requests.length, 1);
    assert.deepEqual(pauses, []);
  });
});

test('a signal that aborts in a pause ends the call with its reason', limit, async () => {
  const reason = new Error('the program stops');
  const stop = new AbortController();
  const clock = {
    ...hastyClock(),
    after: (ms: number, signal?: AbortSignal) => {
      if (ms === 1000) stop.abort(reason);
      return systemClock.after(ms, signal);
    },
  };
  const { carrier, requests } = await startRegistry((_request, response) => response.writeHead(503).end(), {
    clock,
  });
  await assert.rejects(carrier.readManifest('v1', stop.signal), reason);
  assert.equal(requests.length, 1);
  await assert.rejects(carrier.listTags(stop.signal), reason);
  assert.equal(requests.length, 1);
});

test(
  'an answer that never comes, and one that never ends, take no longer than their time',
  limit,
  async () => {
    for (const isBegun of [false, true]) {
      let arrived = Promise.withResolvers<void>();
      // The time begins when the server has the request, because a busy machine takes any time to send it.
      const afterArrival = async (ms: number, signal?: AbortSignal): Promise<void> => {
        if (ms !== 201) return;
        await arrived.promise;
        arrived = Promise.withResolvers();
        await systemClock.after(ms, signal);
      };
      const { carrier, requests } = await startRegistry(
        (_request, response) => {
          arrived.resolve();
          if (!isBegun) return;
          const drip = setInterval(() => response.write(' '), 20);
          response.on('close', () => clearInterval(drip));
        },
        { limits: { answerTimeoutMs: 201 }, clock: { ...systemClock, after: afterArrival } },
      );
      const fault = await faultOf(carrier.readManifest('v1', never), 'Unreachable');
      assert.match(fault.message, /TimeoutError/);
      assert.equal(requests.length, 4);
    }
  },
);

test('a host that refuses connections is unreachable for now', async () => {
  const pauses: number[] = [];
  const carrier = openClient('oci://127.0.0.1:1/docs/site', { clock: hastyClock(pauses) });
  const fault = await faultOf(carrier.readManifest('v1', never), 'Unreachable');
  assert.match(fault.message, /ECONNREFUSED/);
  assert.equal(pauses.length, 3);
});

test('a certificate of an unknown CA is no reason for another attempt', limit, async () => {
  const authority = await createAuthority();
  const { certificatePem, keyPem } = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
  const tls = { cert: certificatePem, key: keyPem };
  const distrusted = await startRegistry((_request, response) => response.end(manifest), { tls });
  const fault = await faultOf(distrusted.carrier.readManifest('v1', never), 'CertificateNotTrusted');
  assert.match(fault.message, /--extra-ca-file/);
  assert.deepEqual(distrusted.pauses, []);
  const extraCaPem = authority.certificatePem;
  const trusted = await startRegistry((_request, response) => response.end(manifest), { tls, extraCaPem });
  assert.deepEqual(await trusted.carrier.readManifest('v1', never), manifest);
});
